"""An index of feeds by words: which tools' responses can fill a tool's parameters, among tens of thousands, instead of every pair.

Within a tool set it leaves nothing out. From other sets it leaves out what ``graph.coupling.match`` could not give the score that
is asked for (its rules, read backwards), and values that mean nothing outside their service.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest

from domain.tool import Parameter, ToolDoc, ToolId
from graph.coupling import COUPLED, VAGUE, field_words, match, subject, thing
from graph.identifiers import text_words, words
from graph.links import Feed
from graph.response_fields import OutputField, output_fields

KEPT = 20
"""Feeds kept for each parameter of a tool."""

NEAR = COUPLED
"""The least score of a feed within a tool set, whose tools speak of the same things."""

FAR = 0.85
"""The least score of a feed from another tool set: the same words must stand on both sides, or be said by what holds the field."""

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
class _Entry:
    """A field of a producer: ``has`` its own words, ``support`` those of what holds it and of its tool's name."""

    producer: ToolDoc
    field: OutputField
    has: frozenset[str]
    support: frozenset[str]


class _Wanted:
    """The fields of other tool sets that may fill a parameter of certain words, by the words that the consumer must say for it."""

    def __init__(self, wants: frozenset[str], entries: Iterable[_Entry]) -> None:
        self.plain: list[_Entry] = []
        self.by_surplus: defaultdict[frozenset[str], list[_Entry]] = defaultdict(list)
        for entry in entries:
            surplus = entry.has - wants
            if surplus:
                self.by_surplus[surplus].append(entry)
            else:
                self.plain.append(entry)

    def said(self, known: frozenset[str]) -> Iterable[_Entry]:
        """Those for which ``known``, the consumer's words, suffice."""
        yield from self.plain
        for surplus, entries in self.by_surplus.items():
            if surplus <= known:
                yield from entries


class FeedIndex:
    """The documented fields of tools, to be asked for by parameter. Documents are kept without their examples and schemas."""

    def __init__(self) -> None:
        self._by_toolset: defaultdict[tuple[str, str], defaultdict[str, list[_Entry]]] = defaultdict(
            lambda: defaultdict(list)
        )
        self._by_word: defaultdict[str, list[_Entry]] = defaultdict(list)
        self._wanted: dict[frozenset[str], _Wanted] = {}

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        """Add a tool with the fields of its response."""
        about = subject(producer.api)
        near = self._by_toolset[producer.category, producer.toolset]
        for field in fields:
            has = frozenset(field_words(field))
            entry = _Entry(producer, field, has, frozenset(field.holder) | about)
            for word in has:
                near[word].append(entry)
                self._by_word[word].append(entry)
        self._wanted.clear()

    def feeds(self, consumer: ToolDoc) -> list[Feed]:
        """The feeds into a tool: of each parameter the :data:`KEPT` best, one field of a producer."""
        return [feed for parameter in consumer.parameters for feed in self._into(parameter, consumer)]

    def _into(self, parameter: Parameter, consumer: ToolDoc) -> list[Feed]:
        wants = frozenset(thing(words(parameter.name)))
        if not wants or parameter.type == "object":
            return []
        best: dict[ToolId, tuple[tuple[float, bool, bool, int, int, ToolId], Feed]] = {}
        for least, entries in ((NEAR, self._near(wants, consumer)), (FAR, self._far(wants, parameter, consumer))):
            for entry in entries:
                producer, field = entry.producer, entry.field
                if producer.id == consumer.id:
                    continue
                score = match(field, producer, parameter, consumer)
                if score < least:
                    continue
                strange = producer.toolset != consumer.toolset
                place = (
                    -score,
                    strange,
                    producer.category != consumer.category,
                    field.path.count("."),
                    field.position,
                    producer.id,
                )
                if producer.id not in best or place < best[producer.id][0]:
                    best[producer.id] = (place, Feed(producer.id, consumer.id, field.path, parameter.name, score))
        return [feed for _, feed in nsmallest(KEPT, best.values(), key=lambda found: found[0])]

    def _near(self, wants: frozenset[str], consumer: ToolDoc) -> Iterable[_Entry]:
        near = self._by_toolset.get((consumer.category, consumer.toolset))
        if near is None:
            return ()
        found = {id(entry): entry for word in wants for entry in near.get(word, ())}
        return found.values()

    def _far(self, wants: frozenset[str], parameter: Parameter, consumer: ToolDoc) -> Iterable[_Entry]:
        if wants <= VAGUE or (wants & _OWN and not wants & _COMMON):
            return ()
        if wants not in self._wanted:
            entries = {id(e): e for word in wants for e in self._by_word.get(word, ()) if wants <= e.has | e.support}
            self._wanted[wants] = _Wanted(wants, entries.values())
        known = text_words(parameter.description) | subject(consumer.api) | text_words(consumer.description)
        home = (consumer.category, consumer.toolset)
        return (e for e in self._wanted[wants].said(known) if (e.producer.category, e.producer.toolset) != home)


def slim(doc: ToolDoc) -> tuple[ToolDoc, tuple[OutputField, ...]]:
    """A document without the texts that describe its response, and the fields that they describe."""
    bare = doc.model_copy(update={"example_response": None, "response_schema": None, "toolset_description": ""})
    return bare, output_fields(doc)
