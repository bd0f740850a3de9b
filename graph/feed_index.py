"""An index of feeds: which tools' responses can fill a tool's parameters, among tens of thousands, instead of every pair.

Within a service it leaves nothing out: what identifies something is found by its entity, the rest by words. From other services it leaves
out what ``graph.coupling.match`` could not give the score that is asked for (its rules, read backwards), values that mean nothing
outside their service, and all but the best of what many give alike.
"""

from collections import defaultdict
from collections.abc import Container, Iterable
from heapq import nsmallest

from domain.tool import Parameter, ToolDoc, ToolId
from graph.common_fields import CommonFields, Entry
from graph.coupling import COUPLED, field_words, match, plain
from graph.entities import Service, service_of
from graph.identifiers import words
from graph.links import Feed
from graph.response_fields import OutputField, output_fields
from graph.vocabulary import IDENTITY

KEPT = 20
"""Producers kept for each parameter of a tool."""

FIELDS = 3
"""Fields kept of each of them where they identify something: ``cast[].id`` and ``crew[].id`` are both a person's."""

_CLOSE = 0.05
"""How much worse than its best one such a field may be."""

NEAR = COUPLED
"""The least score of a feed within a service, whose tools speak of the same things."""

FAR = 0.85
"""The least score of a feed from another service: the same words must stand on both sides, or be said by what holds the field."""

_Place = tuple[float, bool, bool, int, int, ToolId]


class _Home:
    """The fields of one service: those that identify something by entity and form, the others by word."""

    def __init__(self) -> None:
        self._members: list[tuple[ToolDoc, tuple[OutputField, ...]]] = []
        self._service: Service | None = None
        self._typed: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
        self._by_word: defaultdict[str, list[Entry]] = defaultdict(list)

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
                entry = Entry(producer, field)
                slot = service.given(producer, field)
                if slot is not None and slot.form in IDENTITY:
                    for entity in slot.entities:
                        self._typed[entity, slot.form].append(entry)
                else:
                    for word in set(field_words(field)):
                        self._by_word[word].append(entry)

    def near(self, parameter: Parameter, consumer: ToolDoc) -> Iterable[Entry]:
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
        self._common = CommonFields()
        self._producers: set[ToolId] = set()

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        """Add a tool with the fields of its response."""
        self._homes[service_of(producer)].add(producer, fields)
        self._common.add(producer, fields)
        self._producers.add(producer.id)

    def feeds(self, consumer: ToolDoc) -> list[Feed]:
        """The feeds into a tool: of each parameter those from the :data:`KEPT` best producers, of each its best fields.

        And whatever an administrator said that there is.
        """
        found = [feed for parameter in consumer.parameters for feed in self._into(parameter, consumer)]
        return with_marks(consumer, found, self._producers)

    def _into(self, parameter: Parameter, consumer: ToolDoc) -> list[Feed]:
        if parameter.type == "object" or not words(parameter.name):
            return []
        home = self._homes[service_of(consumer)]
        found: defaultdict[ToolId, list[tuple[_Place, Feed]]] = defaultdict(list)

        def fits(entry: Entry, least: float, service: Service | None) -> float:
            if entry.producer.id == consumer.id:
                return 0.0
            score = match(entry.field, entry.producer, parameter, consumer, service, echoes=False)
            if score >= least:
                feed = Feed(entry.producer.id, consumer.id, entry.field.path, parameter.name, score)
                found[entry.producer.id].append((_place(score, entry, consumer), feed))
            return score

        for entry in home.near(parameter, consumer):
            fits(entry, NEAR, home.service)
        perfect = 0
        for entry in self._common.fitting(
            parameter, consumer
        ):  # the best first: behind enough perfect ones none is kept
            perfect += fits(entry, FAR, None) >= 1.0
            if perfect >= KEPT:
                break
        best = nsmallest(KEPT, (sorted(feeds, key=_first) for feeds in found.values()), key=lambda feeds: feeds[0][0])
        most = FIELDS if home.service.taken(consumer, parameter) is not None else 1
        return [feed for feeds in best for _, feed in feeds[:most] if feed.score >= feeds[0][1].score - _CLOSE]


def with_marks(consumer: ToolDoc, feeds: Iterable[Feed], producers: Container[ToolId]) -> list[Feed]:
    """Feeds as an administrator corrected them: with those that were added, as far as their producers are there, without the forbidden."""
    marks = {(mark.source, mark.field, mark.parameter): mark.fills for mark in consumer.feed_marks}
    added = [
        Feed(source, consumer.id, field, parameter, 1.0)
        for (source, field, parameter), fills in marks.items()
        if fills and source in producers and any(one.name == parameter for one in consumer.parameters)
    ]
    return added + [feed for feed in feeds if (feed.source, feed.field, feed.parameter) not in marks]


def _place(score: float, entry: Entry, consumer: ToolDoc) -> _Place:
    producer, field = entry.producer, entry.field
    strange = producer.toolset != consumer.toolset
    return -score, strange, producer.category != consumer.category, field.path.count("."), field.position, producer.id


def _first(found: tuple[_Place, Feed]) -> _Place:
    return found[0]


def slim(doc: ToolDoc) -> tuple[ToolDoc, tuple[OutputField, ...]]:
    """A document without the texts that describe its response, and the fields that they describe."""
    bare = doc.model_copy(update={"example_response": None, "response_schema": None, "toolset_description": ""})
    return bare, output_fields(doc)
