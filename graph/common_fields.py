"""Values that mean the same to every service, like a ``city`` or an ``email``: which fields of other services may fill a parameter."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from domain.tool import Parameter, ToolDoc
from graph.coupling import VAGUE, field_words, head, plain, subject
from graph.entities import service_of
from graph.identifiers import text_words, words
from graph.response_fields import OutputField

MOST = 24
"""Of fields that are alike, so many producers of the consumer's category are looked at, and so many of all."""

_OWN = frozenset(
    {
        "id", "key", "token", "secret", "password", "authorization", "auth", "session", "signature", "slug", "hash", "page", "limit",
        "offset", "cursor", "size", "sort", "order", "format", "callback", "version", "skip", "take", "per", "row", "index", "field",
    }
)  # fmt: skip
"""Words of values that mean nothing to another service: its own ids and keys, and how it hands out pages."""

_COMMON = frozenset(
    {"imdb", "tmdb", "tvdb", "isbn", "issn", "doi", "asin", "ean", "upc", "gtin", "iata", "icao", "orcid", "arxiv", "pubmed",
     "wikidata", "cik", "cusip", "isin", "youtube", "spotify", "steam"}
)  # fmt: skip
"""Ids that services share."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A field of a producer."""

    producer: ToolDoc
    field: OutputField


@dataclass(frozen=True, slots=True)
class _Common(Entry):
    """``has``: its own words; ``support``: those of what holds it and of its tool's name; ``home``: its service."""

    has: frozenset[str]
    support: frozenset[str]
    home: tuple[str, str]


class _Alike:
    """Fields that fit the same parameters alike: the best of each category, and of all."""

    def __init__(self) -> None:
        self._all: list[_Common] = []
        self._best: dict[str, list[_Common]] = {}

    def add(self, entry: _Common) -> None:
        self._all.append(entry)

    def best(self, category: str, wants: frozenset[str]) -> list[_Common]:
        """The best of a category; of all where that is empty."""
        if category not in self._best:
            some = [entry for entry in self._all if not category or entry.producer.category == category]
            some.sort(key=lambda e: (not wants <= e.has, e.field.path.count("."), e.field.position, e.producer.id))
            first = {entry.producer.id: entry for entry in reversed(some)}
            self._best[category] = [entry for entry in some if first[entry.producer.id] is entry][:MOST]
        return self._best[category]


class _Wanted:
    """The fields that may fill a parameter of certain words, by the words that its description must say for it."""

    def __init__(self, wants: frozenset[str], entries: Iterable[_Common]) -> None:
        self._wants = wants
        self._by_surplus: defaultdict[frozenset[str], _Alike] = defaultdict(_Alike, {frozenset(): _Alike()})
        for entry in entries:
            self._by_surplus[entry.has - wants].add(entry)

    def said(self, known: frozenset[str], category: str) -> Iterable[_Common]:
        """Those for which ``known``, the words of a description, suffice; those first that need none, the best first."""
        for surplus, alike in self._by_surplus.items():
            if surplus <= known:
                found = {id(entry): entry for entry in alike.best(category, self._wants)}
                yield from (found | {id(entry): entry for entry in alike.best("", self._wants)}).values()


class CommonFields:
    """The fields of all tools, by the word that says what they are and another one said of them."""

    def __init__(self) -> None:
        self._by_head: defaultdict[str, list[_Common]] = defaultdict(list)
        self._by_word: dict[str, dict[str, list[_Common]]] = {}
        self._wanted: dict[frozenset[str], _Wanted] = {}

    def add(self, producer: ToolDoc, fields: Iterable[OutputField]) -> None:
        """Add the fields of a tool's response, but for those that only repeat its inputs."""
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
        """The fields of other services that may fill a parameter, the best of those that are alike."""
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
        """The fields that are of what a parameter asks for, and of which all its words are said."""
        others = [self._of(first).get(word, []) for word in wants if word != first]
        some = min(others, key=len) if others else self._by_head.get(first, [])
        return (entry for entry in some if all(word in entry.has or word in entry.support for word in wants))

    def _of(self, first: str) -> dict[str, list[_Common]]:
        """The fields of which a word says what they are, by every other word said of them."""
        if first not in self._by_word:
            by_word: defaultdict[str, list[_Common]] = defaultdict(list)
            for entry in self._by_head.get(first, ()):
                for word in entry.has | entry.support:
                    by_word[word].append(entry)
            self._by_word[first] = by_word
        return self._by_word[first]
