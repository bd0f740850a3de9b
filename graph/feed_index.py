"""An index of feeds by words: which tools' responses can fill a tool's parameters, among tens of thousands, instead of every pair.

Within a tool set it leaves nothing out. From other sets it leaves out what ``graph.coupling.match`` could not give the score that
is asked for (its rules, read backwards), and values that mean nothing outside their service.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from heapq import nsmallest

from domain.tool import Parameter, ToolDoc, ToolId
from graph.coupling import COUPLED, VAGUE, field_words, match, plain, subject
from graph.entities import IDENTITY, Service, service_of
from graph.identifiers import text_words, words
from graph.links import Feed
from graph.response_fields import OutputField, output_fields

KEPT = 20
"""Producers kept for each parameter of a tool."""

FIELDS = 3
"""Fields kept of each of them: ``cast[].id`` and ``crew[].id`` are both a person's."""

_CLOSE = 0.05
"""How much worse than its best one such a field may be."""

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


_Place = tuple[float, bool, bool, int, int, ToolId]


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


class _Home:
    """The fields of one service: those that identify something by entity and form, and all by word."""

    def __init__(self) -> None:
        self._members: list[tuple[ToolDoc, tuple[OutputField, ...]]] = []
        self._service: Service | None = None
        self._typed: defaultdict[tuple[str, str], list[_Entry]] = defaultdict(list)
        self._by_word: defaultdict[str, list[_Entry]] = defaultdict(list)

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        self._members.append((producer, fields))
        self._service = None

    @property
    def service(self) -> Service:
        """What is known of its tools."""
        if self._service is None:
            self._service = Service(self._members)
            self._fill(self._service)
        return self._service

    def _fill(self, service: Service) -> None:
        self._typed.clear()
        self._by_word.clear()
        for producer, fields in self._members:
            for field in fields:
                entry = _Entry(producer, field, frozenset(), frozenset())
                slot = service.given(producer, field)
                if slot is not None and slot.form in IDENTITY:
                    for entity in slot.entities:
                        self._typed[entity, slot.form].append(entry)
                else:
                    for word in field_words(field):
                        self._by_word[word].append(entry)

    def near(self, parameter: Parameter, consumer: ToolDoc) -> Iterable[_Entry]:
        """The fields that may fill a parameter of one of its tools."""
        slot = self.service.taken(consumer, parameter)
        found = {id(entry): entry for word in plain(words(parameter.name)) for entry in self._by_word.get(word, ())}
        if slot is not None:
            for entity in slot.entities:
                found |= {id(entry): entry for entry in self._typed.get((entity, slot.form), ())}
        return found.values()


class FeedIndex:
    """The documented fields of tools, to be asked for by parameter. Documents are kept without their examples and schemas."""

    def __init__(self) -> None:
        self._homes: defaultdict[tuple[str, str], _Home] = defaultdict(_Home)
        self._by_word: defaultdict[str, list[_Entry]] = defaultdict(list)
        self._wanted: dict[frozenset[str], _Wanted] = {}

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        """Add a tool with the fields of its response."""
        about = subject(producer.api)
        self._homes[service_of(producer)].add(producer, fields)
        for field in fields:
            has = frozenset(field_words(field))
            entry = _Entry(producer, field, has, frozenset(field.holder) | about)
            for word in has:
                self._by_word[word].append(entry)
        self._wanted.clear()

    def feeds(self, consumer: ToolDoc) -> list[Feed]:
        """The feeds into a tool: of each parameter those from the :data:`KEPT` best producers, of each its best fields."""
        return [feed for parameter in consumer.parameters for feed in self._into(parameter, consumer)]

    def _into(self, parameter: Parameter, consumer: ToolDoc) -> list[Feed]:
        wants = frozenset(plain(words(parameter.name)))
        if not wants or parameter.type == "object":
            return []
        home = self._homes[service_of(consumer)]
        found: defaultdict[ToolId, list[tuple[_Place, Feed]]] = defaultdict(list)
        for least, entries, service in (
            (NEAR, home.near(parameter, consumer), home.service),
            (FAR, self._far(wants, parameter, consumer), None),
        ):
            for entry in entries:
                if entry.producer.id == consumer.id:
                    continue
                score = match(entry.field, entry.producer, parameter, consumer, service)
                if score >= least:
                    feed = Feed(entry.producer.id, consumer.id, entry.field.path, parameter.name, score)
                    found[entry.producer.id].append((_place(score, entry, consumer), feed))
        best = nsmallest(KEPT, (sorted(feeds, key=_first) for feeds in found.values()), key=lambda feeds: feeds[0][0])
        return [feed for feeds in best for _, feed in feeds[:FIELDS] if feed.score >= feeds[0][1].score - _CLOSE]

    def _far(self, wants: frozenset[str], parameter: Parameter, consumer: ToolDoc) -> Iterable[_Entry]:
        if wants <= VAGUE or (wants & _OWN and not wants & _COMMON):
            return ()
        if wants not in self._wanted:
            entries = {id(e): e for word in wants for e in self._by_word.get(word, ()) if wants <= e.has | e.support}
            self._wanted[wants] = _Wanted(wants, entries.values())
        known = text_words(parameter.description) | subject(consumer.api) | text_words(consumer.description)
        home = service_of(consumer)
        return (e for e in self._wanted[wants].said(known) if service_of(e.producer) != home)


def _place(score: float, entry: _Entry, consumer: ToolDoc) -> _Place:
    producer, field = entry.producer, entry.field
    strange = producer.toolset != consumer.toolset
    return -score, strange, producer.category != consumer.category, field.path.count("."), field.position, producer.id


def _first(found: tuple[_Place, Feed]) -> _Place:
    return found[0]


def slim(doc: ToolDoc) -> tuple[ToolDoc, tuple[OutputField, ...]]:
    """A document without the texts that describe its response, and the fields that they describe."""
    bare = doc.model_copy(update={"example_response": None, "response_schema": None, "toolset_description": ""})
    return bare, output_fields(doc)
