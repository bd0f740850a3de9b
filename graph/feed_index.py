"""Index of response fields that finds the feeds into a tool's parameters without scoring every pair of tools.

Within a service the index misses nothing: ids are found by their entity, other fields by their words. Of other services
it returns only fields that can reach :data:`MIN_FOREIGN_SCORE` by the rules of :func:`graph.coupling.score_coupling`,
no values that mean nothing outside their service, and only the best of many similar fields.
"""

from collections import defaultdict
from collections.abc import Container, Iterable
from dataclasses import dataclass
from heapq import nsmallest

from domain.tool import Parameter, ToolDoc, ToolId
from graph.coupling import (
    MIN_COUPLING_SCORE,
    VAGUE_WORDS,
    find_head_word,
    get_field_words,
    get_subject_words,
    score_coupling,
    strip_role,
)
from graph.entities import ServiceEntities, get_service_key
from graph.entity_vocabulary import IDENTITY
from graph.identifiers import extract_words, split_words
from graph.links import FeedLink
from graph.response_fields import OutputField, output_fields

MAX_ALIKE_PRODUCERS = 24
"""Maximum number of producers scored among similar fields: so many of the consumer's category, and so many of all."""

_SERVICE_WORDS = frozenset(
    {
        "id", "key", "token", "secret", "password", "authorization", "auth", "session", "signature", "slug", "hash", "page", "limit",
        "offset", "cursor", "size", "sort", "order", "format", "callback", "version", "skip", "take", "per", "row", "index", "field",
    }
)  # fmt: skip
"""Words of values that mean nothing to another service: its own ids and keys, and its paging."""

_SHARED_IDS = frozenset(
    {"imdb", "tmdb", "tvdb", "isbn", "issn", "doi", "asin", "ean", "upc", "gtin", "iata", "icao", "orcid", "arxiv", "pubmed",
     "wikidata", "cik", "cusip", "isin", "youtube", "spotify", "steam"}
)  # fmt: skip
"""Words of ids that are public standards, or of platforms that other services refer to."""


@dataclass(frozen=True, slots=True)
class FieldEntry:
    """A response field with its tool."""

    producer: ToolDoc
    field: OutputField


@dataclass(frozen=True, slots=True)
class _CommonField(FieldEntry):
    """A field with the words by which it is found."""

    own_words: frozenset[str]
    """Words of the field's own name."""
    support_words: frozenset[str]
    """Words of what holds the field and of its tool's name."""
    service_key: tuple[str, str]
    """Key of the field's service."""


class _AlikeFields:
    """Fields that fit the same parameters equally well, ranked within each category and among all."""

    def __init__(self) -> None:
        self._all: list[_CommonField] = []
        self._best: dict[str, list[_CommonField]] = {}

    def add(self, entry: _CommonField) -> None:
        self._all.append(entry)

    def select_best(self, category: str, wanted_words: frozenset[str]) -> list[_CommonField]:
        """Return the best fields of a category, or of all categories if it is empty; one for each producer.

        Fields that have all the parameter's words come first, then shallower ones, then earlier ones.
        """
        if category not in self._best:
            entries = [entry for entry in self._all if not category or entry.producer.category == category]
            entries.sort(
                key=lambda e: (
                    not wanted_words <= e.own_words,
                    e.field.path.count("."),
                    e.field.position,
                    e.producer.id,
                )
            )
            first = {entry.producer.id: entry for entry in reversed(entries)}
            self._best[category] = [entry for entry in entries if first[entry.producer.id] is entry][
                :MAX_ALIKE_PRODUCERS
            ]
        return self._best[category]


class _WantedFields:
    """Fields that may fill parameters of certain words, grouped by their surplus words.

    A surplus word is one that a field has and the parameter's name lacks. The parameter's description must contain it.
    """

    def __init__(self, wants: frozenset[str], entries: Iterable[_CommonField]) -> None:
        self._wants = wants
        self._by_surplus: defaultdict[frozenset[str], _AlikeFields] = defaultdict(
            _AlikeFields, {frozenset(): _AlikeFields()}
        )
        for entry in entries:
            self._by_surplus[entry.own_words - wants].add(entry)

    def find_supported(self, description_words: frozenset[str], category: str) -> Iterable[_CommonField]:
        """Yield the fields whose surplus words all occur in ``description_words``, the words of a description.

        Fields without surplus words come first; within each group the best come first.
        """
        for surplus, alike in self._by_surplus.items():
            if surplus <= description_words:
                best_entries = {id(entry): entry for entry in alike.select_best(category, self._wants)}
                yield from (best_entries | {id(entry): entry for entry in alike.select_best("", self._wants)}).values()


class CommonFields:
    """Index of fields that may feed tools of other services, by head word and then by any other word."""

    def __init__(self) -> None:
        self._by_head: defaultdict[str, list[_CommonField]] = defaultdict(list)
        self._by_word: dict[str, dict[str, list[_CommonField]]] = {}
        self._wanted: dict[frozenset[str], _WantedFields] = {}

    def add(self, producer: ToolDoc, fields: Iterable[OutputField]) -> None:
        """Add the fields of a response, except those that repeat inputs or mean nothing to another service."""
        support_words, service_key = get_subject_words(producer.api), get_service_key(producer)
        input_names = {split_words(parameter.name) for parameter in producer.parameters}
        for field in fields:
            name_words = get_field_words(field)
            own_words = frozenset(name_words)
            if (
                not name_words
                or split_words(field.name) in input_names
                or (own_words & _SERVICE_WORDS and not own_words & _SHARED_IDS)
            ):
                continue
            self._by_head[find_head_word(name_words)].append(
                _CommonField(producer, field, own_words, support_words.union(field.holder), service_key)
            )
        self._by_word.clear()
        self._wanted.clear()

    def find_fitting(self, parameter: Parameter, consumer: ToolDoc) -> Iterable[FieldEntry]:
        """Return the fields of other services that may fill a parameter, the best of each group of similar ones."""
        name_words = strip_role(split_words(parameter.name))
        wanted_words = frozenset(name_words)
        if wanted_words <= VAGUE_WORDS or (wanted_words & _SERVICE_WORDS and not wanted_words & _SHARED_IDS):
            return ()
        if wanted_words not in self._wanted:
            self._wanted[wanted_words] = _WantedFields(
                wanted_words, self._find_by_words(find_head_word(name_words), wanted_words)
            )
        service_key = get_service_key(consumer)
        entries = self._wanted[wanted_words].find_supported(extract_words(parameter.description), consumer.category)
        return (entry for entry in entries if entry.service_key != service_key)

    def _find_by_words(self, head_word: str, wanted_words: frozenset[str]) -> Iterable[_CommonField]:
        """Return the fields with this head word that have all of the wanted words, in their name or around it."""
        others = [self._index_by_word(head_word).get(word, []) for word in wanted_words if word != head_word]
        entries = min(others, key=len) if others else self._by_head.get(head_word, [])
        return (
            entry
            for entry in entries
            if all(word in entry.own_words or word in entry.support_words for word in wanted_words)
        )

    def _index_by_word(self, head_word: str) -> dict[str, list[_CommonField]]:
        """Return the fields with this head word, by each word of their name, holder and tool; computed once."""
        if head_word not in self._by_word:
            by_word: defaultdict[str, list[_CommonField]] = defaultdict(list)
            for entry in self._by_head.get(head_word, ()):
                for word in entry.own_words | entry.support_words:
                    by_word[word].append(entry)
            self._by_word[head_word] = by_word
        return self._by_word[head_word]


MAX_PRODUCERS = 20
"""Maximum number of producers for each parameter of a tool."""

MAX_FIELDS_PER_PRODUCER = 3
"""Maximum number of a producer's fields that feed one identifying parameter: ``cast[].id`` and ``crew[].id``."""

_MAX_SCORE_GAP = 0.05
"""Maximum difference in score between such a field and its producer's best field."""

MIN_SERVICE_SCORE = MIN_COUPLING_SCORE
"""Minimum score of a feed within a service, whose tools use the same words for the same things."""

MIN_FOREIGN_SCORE = 0.85
"""Minimum score of a feed from another service: the same words on both sides, or supplied by the holder."""

_FeedRank = tuple[float, bool, bool, int, int, ToolId]
"""Sort key of a feed, lower is better; see :func:`_rank_feed`."""


class _ServiceFields:
    """Index of one service's fields: ids by entity and form, other fields by word."""

    def __init__(self) -> None:
        self._members: list[tuple[ToolDoc, tuple[OutputField, ...]]] = []
        self._service: ServiceEntities | None = None
        self._by_entity: defaultdict[tuple[str, str], list[FieldEntry]] = defaultdict(list)
        self._by_word: defaultdict[str, list[FieldEntry]] = defaultdict(list)

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        """Add a tool with the fields of its response; entities are computed again when next needed."""
        self._members.append((producer, fields))
        self._service = None

    @property
    def service(self) -> ServiceEntities:
        """Entities of the service's tools."""
        if self._service is None:
            self._service = ServiceEntities(self._members)
            self._fill(self._service)
        return self._service

    def _fill(self, service: ServiceEntities) -> None:
        """Index the fields of all tools."""
        self._by_entity.clear()
        self._by_word.clear()
        for producer, fields in self._members:
            for field in fields:
                entry = FieldEntry(producer, field)
                slot = service.resolve_field(producer, field)
                if slot is not None and slot.form in IDENTITY:
                    for entity in slot.entities:
                        self._by_entity[entity, slot.form].append(entry)
                else:
                    for word in set(get_field_words(field)):
                        self._by_word[word].append(entry)

    def find_candidates(self, parameter: Parameter, consumer: ToolDoc) -> Iterable[FieldEntry]:
        """Return the fields that may fill a parameter of one of the service's tools."""
        slot = self.service.resolve_input(consumer, parameter)
        entries = {
            id(entry): entry
            for word in strip_role(split_words(parameter.name))
            for entry in self._by_word.get(word, ())
        }
        if slot is not None:
            for entity in slot.entities:
                entries |= {id(entry): entry for entry in self._by_entity.get((entity, slot.form), ())}
        return entries.values()


class FeedIndex:
    """The documented fields of tools, looked up by parameter. Documents are kept without their examples and schemas."""

    def __init__(self) -> None:
        self._services: defaultdict[tuple[str, str], _ServiceFields] = defaultdict(_ServiceFields)
        self._common = CommonFields()
        self._producers: set[ToolId] = set()

    def add(self, producer: ToolDoc, fields: tuple[OutputField, ...]) -> None:
        """Add a tool with the fields of its response."""
        self._services[get_service_key(producer)].add(producer, fields)
        self._common.add(producer, fields)
        self._producers.add(producer.id)

    def find_feeds(self, consumer: ToolDoc) -> list[FeedLink]:
        """Return the feeds into a tool: for each parameter the best fields of at most :data:`MAX_PRODUCERS` producers.

        Administrators' marks are applied: added feeds are included, forbidden ones are left out.
        """
        feeds = [feed for parameter in consumer.parameters for feed in self._find_parameter_feeds(parameter, consumer)]
        return apply_feed_marks(consumer, feeds, self._producers)

    def _find_parameter_feeds(self, parameter: Parameter, consumer: ToolDoc) -> list[FeedLink]:
        """Return the feeds into one parameter, the best producers first."""
        if parameter.type == "object" or not split_words(parameter.name):
            return []
        service_fields = self._services[get_service_key(consumer)]
        feeds_by_producer: defaultdict[ToolId, list[tuple[_FeedRank, FeedLink]]] = defaultdict(list)

        def fits(entry: FieldEntry, least: float, service: ServiceEntities | None) -> float:
            if entry.producer.id == consumer.id:
                return 0.0
            score = score_coupling(entry.field, entry.producer, parameter, consumer, service, echoes=False)
            if score >= least:
                feed = FeedLink(entry.producer.id, consumer.id, entry.field.path, parameter.name, score)
                feeds_by_producer[entry.producer.id].append((_rank_feed(score, entry, consumer), feed))
            return score

        for entry in service_fields.find_candidates(parameter, consumer):
            fits(entry, MIN_SERVICE_SCORE, service_fields.service)
        perfect = 0
        for entry in self._common.find_fitting(
            parameter, consumer
        ):  # best first: none after enough perfect ones would be kept
            perfect += fits(entry, MIN_FOREIGN_SCORE, None) >= 1.0
            if perfect >= MAX_PRODUCERS:
                break
        best = nsmallest(
            MAX_PRODUCERS,
            (sorted(feeds, key=_get_rank) for feeds in feeds_by_producer.values()),
            key=lambda feeds: feeds[0][0],
        )
        max_fields = (
            MAX_FIELDS_PER_PRODUCER if service_fields.service.resolve_input(consumer, parameter) is not None else 1
        )
        return [
            feed for feeds in best for _, feed in feeds[:max_fields] if feed.score >= feeds[0][1].score - _MAX_SCORE_GAP
        ]


def apply_feed_marks(consumer: ToolDoc, feeds: Iterable[FeedLink], producers: Container[ToolId]) -> list[FeedLink]:
    """Apply an administrator's marks: add the confirmed feeds whose producers exist, and drop the forbidden ones."""
    marks = {(mark.source, mark.field, mark.parameter): mark.fills for mark in consumer.feed_marks}
    added = [
        FeedLink(source, consumer.id, field, parameter, 1.0)
        for (source, field, parameter), fills in marks.items()
        if fills and source in producers and any(one.name == parameter for one in consumer.parameters)
    ]
    return added + [feed for feed in feeds if (feed.source, feed.field, feed.parameter) not in marks]


def _rank_feed(score: float, entry: FieldEntry, consumer: ToolDoc) -> _FeedRank:
    """Return the rank of a feed; lower is better.

    Ties go to the same tool set, then the same category, then the shallower, then the earlier field.
    """
    producer, field = entry.producer, entry.field
    foreign_toolset = producer.toolset != consumer.toolset
    return (
        -score,
        foreign_toolset,
        producer.category != consumer.category,
        field.path.count("."),
        field.position,
        producer.id,
    )


def _get_rank(ranked: tuple[_FeedRank, FeedLink]) -> _FeedRank:
    return ranked[0]


def strip_document(doc: ToolDoc) -> tuple[ToolDoc, tuple[OutputField, ...]]:
    """Return a document without the texts that describe its response, and the fields that they describe."""
    bare = doc.model_copy(update={"example_response": None, "response_schema": None, "toolset_description": ""})
    return bare, output_fields(doc)
