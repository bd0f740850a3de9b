"""Index of feeds: the tools whose responses can fill a tool's parameters.

It finds them among tens of thousands without trying every pair. Within a service it leaves nothing out: what identifies something is
found by its entity, the rest by words. From other services it leaves out what ``graph.coupling.match`` could not give the score that
is asked for (its rules, read backwards), values that mean nothing outside their service, and all but the best of many similar fields.
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
"""Maximum number of producers for each parameter of a tool."""

FIELDS = 3
"""Maximum number of identifying fields of each producer: ``cast[].id`` and ``crew[].id`` are both a person's."""

_CLOSE = 0.05
"""Maximum difference in score between such a field and its producer's best one."""

NEAR = COUPLED
"""Minimum score of a feed within a service, whose tools use the same words for the same things."""

FAR = 0.85
"""Minimum score of a feed from another service: the same words on both sides, or supplied by the holder."""

_Place = tuple[float, bool, bool, int, int, ToolId]


class _Home:
    """The fields of one service: those that identify something by entity and form, the others by word."""

    def __init__(self) -> None:
        self._members: list[tuple[ToolDoc, tuple[OutputField, ...]]] = []
        self._service: Service | None = None
        self._typed: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
        self._by_word: defaultdict[str, list[Entry]] = defaultdict(list)

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        """Add a tool with the fields of its response; entities are computed again when next needed."""
        self._members.append((producer, fields))
        self._service = None

    @property
    def service(self) -> Service:
        """Entities of the service's tools."""
        if self._service is None:
            self._service = Service(self._members)
            self._fill(self._service)
        return self._service

    def _fill(self, service: Service) -> None:
        """Index the fields of all tools."""
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
        """Return the fields that may fill a parameter of one of the service's tools."""
        slot = self.service.taken(consumer, parameter)
        found = {id(entry): entry for word in plain(words(parameter.name)) for entry in self._by_word.get(word, ())}
        if slot is not None:
            for entity in slot.entities:
                found |= {id(entry): entry for entry in self._typed.get((entity, slot.form), ())}
        return found.values()


class FeedIndex:
    """The documented fields of tools, looked up by parameter. Documents are kept without their examples and schemas."""

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
        """Return the feeds into a tool: of each parameter the best producers, of each its best fields.

        At most :data:`KEPT` producers. Administrators' marks are applied: feeds that were added are among them, forbidden ones are not.
        """
        found = [feed for parameter in consumer.parameters for feed in self._into(parameter, consumer)]
        return with_marks(consumer, found, self._producers)

    def _into(self, parameter: Parameter, consumer: ToolDoc) -> list[Feed]:
        """Return the feeds into one parameter, the best producers first."""
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
        ):  # best first: none after enough perfect ones would be kept
            perfect += fits(entry, FAR, None) >= 1.0
            if perfect >= KEPT:
                break
        best = nsmallest(KEPT, (sorted(feeds, key=_first) for feeds in found.values()), key=lambda feeds: feeds[0][0])
        most = FIELDS if home.service.taken(consumer, parameter) is not None else 1
        return [feed for feeds in best for _, feed in feeds[:most] if feed.score >= feeds[0][1].score - _CLOSE]


def with_marks(consumer: ToolDoc, feeds: Iterable[Feed], producers: Container[ToolId]) -> list[Feed]:
    """Return feeds as an administrator corrected them: with added ones if their producers exist, without forbidden."""
    marks = {(mark.source, mark.field, mark.parameter): mark.fills for mark in consumer.feed_marks}
    added = [
        Feed(source, consumer.id, field, parameter, 1.0)
        for (source, field, parameter), fills in marks.items()
        if fills and source in producers and any(one.name == parameter for one in consumer.parameters)
    ]
    return added + [feed for feed in feeds if (feed.source, feed.field, feed.parameter) not in marks]


def _place(score: float, entry: Entry, consumer: ToolDoc) -> _Place:
    """Return the rank of a feed; lower is better.

    Ties go to the same tool set, then the same category, then the shallower, then the earlier field.
    """
    producer, field = entry.producer, entry.field
    strange = producer.toolset != consumer.toolset
    return -score, strange, producer.category != consumer.category, field.path.count("."), field.position, producer.id


def _first(found: tuple[_Place, Feed]) -> _Place:
    return found[0]


def slim(doc: ToolDoc) -> tuple[ToolDoc, tuple[OutputField, ...]]:
    """Return a document without the texts that describe its response, and the fields that they describe."""
    bare = doc.model_copy(update={"example_response": None, "response_schema": None, "toolset_description": ""})
    return bare, output_fields(doc)
