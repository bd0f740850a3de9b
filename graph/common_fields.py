"""Fields whose values mean the same to every service, like a ``city`` or an ``email``.

They may fill parameters of other services.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from domain.tool import Parameter, ToolDoc
from graph.coupling import VAGUE, field_words, head, plain, subject
from graph.entities import service_of
from graph.identifiers import text_words, words
from graph.response_fields import OutputField

MOST = 24
"""Maximum number of producers examined among similar fields: of the consumer's category, and of all."""

_OWN = frozenset(
    {
        "id", "key", "token", "secret", "password", "authorization", "auth", "session", "signature", "slug", "hash", "page", "limit",
        "offset", "cursor", "size", "sort", "order", "format", "callback", "version", "skip", "take", "per", "row", "index", "field",
    }
)  # fmt: skip
"""Words of values that mean nothing to another service: its own ids and keys, and its paging."""

_COMMON = frozenset(
    {"imdb", "tmdb", "tvdb", "isbn", "issn", "doi", "asin", "ean", "upc", "gtin", "iata", "icao", "orcid", "arxiv", "pubmed",
     "wikidata", "cik", "cusip", "isin", "youtube", "spotify", "steam"}
)  # fmt: skip
"""Words of ids that services share."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A field of a producer."""

    producer: ToolDoc
    field: OutputField


@dataclass(frozen=True, slots=True)
class _Common(Entry):
    """A field with the words by which it is found."""

    has: frozenset[str]
    """Words of the field's own name."""
    support: frozenset[str]
    """Words of what holds the field and of its tool's name."""
    home: tuple[str, str]
    """Key of the field's service."""


class _Alike:
    """Fields that fit the same parameters equally well, ranked within each category and among all."""

    def __init__(self) -> None:
        self._all: list[_Common] = []
        self._best: dict[str, list[_Common]] = {}

    def add(self, entry: _Common) -> None:
        self._all.append(entry)

    def best(self, category: str, wants: frozenset[str]) -> list[_Common]:
        """Return the best fields of a category, or of all categories if it is empty; one for each producer.

        Fields that have all the parameter's words come first, then shallower ones, then earlier ones.
        """
        if category not in self._best:
            some = [entry for entry in self._all if not category or entry.producer.category == category]
            some.sort(key=lambda e: (not wants <= e.has, e.field.path.count("."), e.field.position, e.producer.id))
            first = {entry.producer.id: entry for entry in reversed(some)}
            self._best[category] = [entry for entry in some if first[entry.producer.id] is entry][:MOST]
        return self._best[category]


class _Wanted:
    """Fields that may fill a parameter of certain words, grouped by the words that its description must supply."""

    def __init__(self, wants: frozenset[str], entries: Iterable[_Common]) -> None:
        self._wants = wants
        self._by_surplus: defaultdict[frozenset[str], _Alike] = defaultdict(_Alike, {frozenset(): _Alike()})
        for entry in entries:
            self._by_surplus[entry.has - wants].add(entry)

    def said(self, known: frozenset[str], category: str) -> Iterable[_Common]:
        """Yield the fields whose surplus words all occur in ``known``, the words of a description.

        Fields without surplus words come first; within each group the best come first.
        """
        for surplus, alike in self._by_surplus.items():
            if surplus <= known:
                found = {id(entry): entry for entry in alike.best(category, self._wants)}
                yield from (found | {id(entry): entry for entry in alike.best("", self._wants)}).values()


class CommonFields:
    """Index of the fields of all tools, by head word and by any other word said of them."""

    def __init__(self) -> None:
        self._by_head: defaultdict[str, list[_Common]] = defaultdict(list)
        self._by_word: dict[str, dict[str, list[_Common]]] = {}
        self._wanted: dict[frozenset[str], _Wanted] = {}

    def add(self, producer: ToolDoc, fields: Iterable[OutputField]) -> None:
        """Add the fields of a tool's response, except those that repeat its inputs or mean nothing to another service."""
        about, home = subject(producer.api), service_of(producer)
        asked = {words(parameter.name) for parameter in producer.parameters}
        for field in fields:
            named = field_words(field)
            has = frozenset(named)
            if not named or words(field.name) in asked or (has & _OWN and not has & _COMMON):
                continue
            self._by_head[head(named)].append(_Common(producer, field, has, about.union(field.holder), home))
        self._by_word.clear()
        self._wanted.clear()

    def fitting(self, parameter: Parameter, consumer: ToolDoc) -> Iterable[Entry]:
        """Return the fields of other services that may fill a parameter, the best of each group of similar ones."""
        named = plain(words(parameter.name))
        wants = frozenset(named)
        if wants <= VAGUE or (wants & _OWN and not wants & _COMMON):
            return ()
        if wants not in self._wanted:
            self._wanted[wants] = _Wanted(wants, self._saying(head(named), wants))
        home = service_of(consumer)
        found = self._wanted[wants].said(text_words(parameter.description), consumer.category)
        return (entry for entry in found if entry.home != home)

    def _saying(self, first: str, wants: frozenset[str]) -> Iterable[_Common]:
        """Return the fields with the parameter's head word of which all its words are said."""
        others = [self._of(first).get(word, []) for word in wants if word != first]
        some = min(others, key=len) if others else self._by_head.get(first, [])
        return (entry for entry in some if all(word in entry.has or word in entry.support for word in wants))

    def _of(self, first: str) -> dict[str, list[_Common]]:
        """Return the fields with this head word, by every other word said of them; computed once."""
        if first not in self._by_word:
            by_word: defaultdict[str, list[_Common]] = defaultdict(list)
            for entry in self._by_head.get(first, ()):
                for word in entry.has | entry.support:
                    by_word[word].append(entry)
            self._by_word[first] = by_word
        return self._by_word[first]
