"""Graph of the tools that feed one another, reduced to the feeds that make sense in a request.

A coupling score says that a value fits an input. :class:`FeedFilter` also drops feeds of values that were known before
the call, and of values that fit by name or type but belong to another thing.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.tool import Parameter, ToolDoc, ToolId
from graph.coupling import VAGUE_WORDS, get_subject_words
from graph.entities import EntitySlot, ServiceEntities, get_service_key
from graph.entity_vocabulary import IDENTIFYING_WORDS, IDENTITY, get_parent_path, strip_role_words
from graph.feed_index import FeedIndex, strip_document
from graph.fuzzy import is_fuzzy, is_identifier
from graph.identifiers import extract_words, singularize, split_words
from graph.links import FeedLink
from graph.response_fields import OutputField, output_fields

_MIN_SCORE = 0.85
"""Minimum score of a feed by names: the same words on both sides, or supplied by the object that holds the field."""

_PLAIN_WORDS = frozenset(
    {
        "year", "date", "day", "month", "week", "time", "datetime", "timestamp", "hour", "minute", "count", "price", "amount", "age", "rating",
        "score", "rank", "status", "type", "size", "quantity", "total", "duration", "gender", "value", "percent", "percentage", "weekday",
        "language", "description", "message", "version", "format", "limit", "color", "source", "text", "content", "param", "parameter",
    }
)  # fmt: skip
"""Last words of names for properties that unlike things share: two things of one year need not be related."""

_COORDINATES = frozenset({"latitude", "longitude"})
_PREPOSITIONS = frozenset(
    {"by", "of", "for", "in", "from", "with", "near", "at", "on", "per", "via", "and", "to", "within", "using", "id"}
)
"""Words in a tool's name before its criterion, as in ``List movies by genre``."""

_ACTION_WORDS = frozenset(
    {
        "search",
        "lookup",
        "find",
        "query",
        "autocomplete",
        "complete",
        "suggestion",
        "finder",
        "get",
        "list",
        "show",
        "catalogue",
        "id",
    }
)
"""Words at the end of a tool's name that say what it does, not what it returns."""

_MIN_COMMON_SHARE = 0.5
"""Minimum share of common field names at which two objects count as of one kind."""

_NAME_WORDS = frozenset({"name", "title"})

_CONTAINER_WORDS = frozenset(
    {
        "data", "result", "item", "list", "response", "record", "hit", "entry", "row", "content", "body", "payload", "value", "object",
        "element", "node", "edge", "doc", "document", "info", "detail", "attribute", "match", "output", "collection", "embedded", "main", "all",
    }
)  # fmt: skip
"""Words for lists and objects that do not say what they contain."""


_CALL_WORDS = frozenset(
    {"query", "request", "parameter", "param", "input", "meta", "pagination", "paging", "debug", "error"}
)
"""Words for objects about the call itself: its parameters, paging, errors."""

_PAGING_WORDS = frozenset({"continuation", "cursor", "next", "previous", "page", "offset", "after", "before", "scroll"})
"""Words for values that lead to the next page of the same list."""

_QUERY_WORDS = frozenset({"requested", "searched", "queried", "input", "given", "search", "query"})
"""Words that mark a field as a repetition of the request."""


@dataclass(frozen=True, slots=True)
class _FeedEnds:
    """A feed with the documents of both tools."""

    source: ToolDoc
    field: OutputField
    target: ToolDoc
    parameter: Parameter
    score: float


class FeedFilter:
    """Decides which feeds among a set of tools are followed."""

    def __init__(
        self,
        tools: Mapping[ToolId, ToolDoc],
        fields: Mapping[ToolId, tuple[OutputField, ...]],
        services: Mapping[tuple[str, str], ServiceEntities],
    ) -> None:
        self._tools, self._fields, self._services = tools, fields, services

    def is_followed(self, feed: FeedLink) -> bool:
        """Return whether a feed is followed.

        A feed from a tool with side effects never is; one that an administrator confirmed by a mark always is.
        """
        source, target = self._tools[feed.source], self._tools[feed.target]
        parameter = next((one for one in target.parameters if one.name == feed.parameter), None)
        field = next((one for one in self._fields[feed.source] if one.path == feed.field), None)
        if parameter is None or field is None or not source.safe:
            return False
        if any(mark.fills and mark.source == source.id and mark.field == feed.field for mark in target.feed_marks):
            return True
        ends = _FeedEnds(source, field, target, parameter, feed.score)
        return not self._is_already_known(ends) and self._connects_one_thing(ends)

    def _get_service(self, tool: ToolDoc) -> ServiceEntities:
        return self._services[get_service_key(tool)]

    def _is_already_known(self, ends: _FeedEnds) -> bool:
        """Return whether a value was known before the call, or only leads to another page of the same list."""
        return (
            self._is_echo(ends.source, ends.field)
            or _is_about_call(ends.field)
            or bool(set(split_words(ends.parameter.name)) & _PAGING_WORDS)
        )

    def _is_echo(self, source: ToolDoc, field: OutputField) -> bool:
        """Return whether a field repeats a required input of its tool, so that the caller knows it already."""
        service = self._get_service(source)
        if service.resolve_field(source, field) is not None:
            return service.is_echo(source, field)
        name_words = tuple(word for word in split_words(field.name) if word not in _QUERY_WORDS) or split_words(
            field.name
        )
        return any(split_words(one.name) == name_words for one in source.required)

    def _connects_one_thing(self, ends: _FeedEnds) -> bool:
        """Return whether field and input concern the same thing, by entity for ids, else by names."""
        if is_identifier(ends.parameter, ends.target, self._get_service(ends.target)):
            return self._fits_by_id(ends)
        if is_plain_value(ends.parameter):
            return ends.parameter.required
        is_naming = split_words(ends.parameter.name)[-1] in _NAME_WORDS or self._has_searched_name(ends)
        if not ends.target.safe or (not is_naming and self._lists_same_kind(ends)):
            return False
        if ends.score < _MIN_SCORE or self._belongs_to_other(ends):
            return False
        if set(split_words(ends.parameter.name)) <= VAGUE_WORDS or not ends.parameter.required:
            return self._is_search_input(ends)
        return True

    def _fits_by_id(self, ends: _FeedEnds) -> bool:
        """Return whether a field may fill an input that identifies something."""
        if split_words(ends.parameter.name)[-1] in _COORDINATES:
            return ends.score >= _MIN_SCORE
        input_slot = self._get_service(ends.target).resolve_input(ends.target, ends.parameter)
        field_slot = self._get_service(ends.source).resolve_field(ends.source, ends.field)
        is_bare = len(split_words(ends.field.name)) == 1
        if input_slot is None or (is_bare and field_slot is None and len(split_words(ends.parameter.name)) == 1):
            return self._is_mentioned(ends)
        if is_bare and field_slot is not None and field_slot.form == "url" and self._belongs_to_other(ends):
            return False
        if not is_bare or field_slot is None or get_service_key(ends.source) != get_service_key(ends.target):
            return True
        return not self._has_other_name(ends, field_slot)

    def _is_mentioned(self, ends: _FeedEnds) -> bool:
        """Return whether an input without a known entity, or its tool, mentions the kind of thing that the field is of.

        Equal names of two or more words suffice.
        """
        name_words = split_words(ends.field.name)
        if name_words == split_words(ends.parameter.name) and len(name_words) > 1:
            return True
        about = (
            get_subject_words(ends.target.api)
            | extract_words(ends.parameter.description)
            | set(split_words(ends.parameter.name))
        )
        return bool((self._find_kind(ends.source, ends.field) - IDENTITY) & about)

    def _has_other_name(self, ends: _FeedEnds, slot: EntitySlot) -> bool:
        """Return whether the object of a bare ``id``, or its tool, is named after another thing than the entity."""
        entity = {word for known in slot.entities for word in known.split()}
        holder_words = _get_holder_words(ends.field.path)
        if holder_words and holder_words[-1] not in _CONTAINER_WORDS:
            return not slot.explicit and not (
                holder_words[-1] in entity or holder_words[-1] in get_subject_words(ends.source.api)
            )
        listed_name = _get_listed_name(ends.source.api)
        if _is_only_qualifier(entity, split_words(listed_name)):
            return True
        listed_entity = self._get_service(ends.source).find_entity(split_words(listed_name))
        if listed_entity is not None and listed_entity not in slot.entities:
            return True
        last = listed_name.split()[-1].lower() if listed_name else ""
        return not slot.explicit and singularize(last) != last and singularize(last) not in entity

    def _belongs_to_other(self, ends: _FeedEnds) -> bool:
        """Return whether an input's name asks for a thing that the field does not belong to.

        Example: an ``isoCode`` of ``states[]`` for a country.
        """
        lacking = (
            set(strip_role_words(split_words(ends.parameter.name)))
            - set(split_words(ends.field.name))
            - IDENTIFYING_WORDS
        )
        holder_words = frozenset(_get_holder_words(ends.field.path)) - _CONTAINER_WORDS
        kind_words = holder_words or {
            word for kind in self._find_kind(ends.source, ends.field) for word in kind.split()
        }
        return bool(lacking and kind_words and not lacking & kind_words)

    def _lists_same_kind(self, ends: _FeedEnds) -> bool:
        """Return whether the target lists the same kind of thing as the source, only by another criterion.

        Example: radio stations by country, and by genre. The genre of one station is no reason to list others.
        """
        own_names = {
            split_words(field.name) for field in self._fields[ends.source.id] if _share_holder(field, ends.field)
        }
        names_by_holder: dict[str, set[tuple[str, ...]]] = {}
        for field in self._fields[ends.target.id]:
            names_by_holder.setdefault(get_parent_path(field.path), set()).add(split_words(field.name))
        return any(
            len(own_names & other) >= _MIN_COMMON_SHARE * len(own_names | other)
            for other in names_by_holder.values()
            if len(own_names) > 1
        )

    def _is_search_input(self, ends: _FeedEnds) -> bool:
        """Return whether the input searches for things of the field's kind: the target's response has such a field."""
        name_words = split_words(ends.parameter.name)
        if not (ends.parameter.required or name_words[-1] in _NAME_WORDS or self._has_searched_name(ends)):
            return False
        alike = [field for field in self._fields[ends.target.id] if split_words(field.name) == name_words]
        own = self._find_kind(ends.source, ends.field)
        return any(own & self._find_kind(ends.target, field) for field in alike)

    def _has_searched_name(self, ends: _FeedEnds) -> bool:
        """Return whether the field's object also has a name that the target takes as an input.

        The field then serves to tell things of the same name apart: a film by title and year.
        """
        inputs = {split_words(parameter.name) for parameter in ends.target.parameters}
        holder_names = (
            split_words(field.name) for field in self._fields[ends.source.id] if _share_holder(field, ends.field)
        )
        return any(name_words in inputs and name_words[-1] in _NAME_WORDS for name_words in holder_names if name_words)

    def _find_kind(self, tool: ToolDoc, field: OutputField) -> frozenset[str]:
        """Return the kind of thing that a field's object is, as nouns.

        These are the entities of the object's id, or else the last word of its name, or else the subject of its tool's
        name.
        """
        service = self._get_service(tool)
        slots = (service.resolve_field(tool, one) for one in self._fields[tool.id] if _share_holder(one, field))
        entities = frozenset[str]().union(
            *(slot.entities for slot in slots if slot is not None and slot.form in IDENTITY)
        )
        holder_words = [word for word in _get_holder_words(field.path) if word not in _CONTAINER_WORDS]
        return entities or (frozenset(holder_words[-1:]) if holder_words else get_subject_words(tool.api))


def _share_holder(first: OutputField, second: OutputField) -> bool:
    """Return whether two fields are of the same object."""
    return get_parent_path(first.path) == get_parent_path(second.path)


def _get_holder_words(path: str) -> tuple[str, ...]:
    """Return the words of the name of the object or list that holds a field."""
    return split_words(get_parent_path(path).replace("[]", "").rpartition(".")[2])


def _get_listed_name(api: str) -> str:
    """Return a tool's name up to the first preposition: ``List movies by genre`` → List movies."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", api)
    end = next((at for at, piece in enumerate(pieces) if at and piece.lower() in _PREPOSITIONS), len(pieces))
    return " ".join(pieces[:end])


def _is_only_qualifier(entity: set[str], listed_words: tuple[str, ...]) -> bool:
    """Return whether an entity only qualifies what a tool lists: ``List Video Comments`` lists no videos."""
    return (
        len(listed_words) > 1
        and bool(entity & set(listed_words[:-1]))
        and listed_words[-1] not in entity | _CONTAINER_WORDS | _ACTION_WORDS
    )


def _is_about_call(field: OutputField) -> bool:
    """Return whether an object around the field is about the call, as ``meta`` and ``pagination`` are."""
    steps = (step for step in get_parent_path(field.path).split(".") if step and "[]" not in step)
    return any(set(split_words(step)) & _CALL_WORDS for step in steps)


def is_plain_value(parameter: Parameter) -> bool:
    """Return whether an input takes a value that identifies nothing, like a year or an amount."""
    last = split_words(parameter.name)[-1]
    if last in IDENTITY or last in _COORDINATES:
        return False
    return parameter.type in ("integer", "number") or last in _PLAIN_WORDS


_DATA = re.compile(r"\d+|.*\d{4}.*|.*[@^*,|].*")
"""Matches a step of a path that is a value, not a name: an example has an object keyed by ids or dates."""


class FeedGraph:
    """Tools by id, the fields of their responses, and the feeds between them."""

    def __init__(self, tools: Iterable[ToolDoc]) -> None:
        self.tools = {doc.id: doc for doc in sorted(tools, key=lambda doc: doc.id)}
        self.fields = {tool: tuple(filter(_has_stable_path, output_fields(doc))) for tool, doc in self.tools.items()}
        members: defaultdict[tuple[str, str], list[tuple[ToolDoc, tuple[OutputField, ...]]]] = defaultdict(list)
        for tool, doc in self.tools.items():
            members[get_service_key(doc)].append((doc, self.fields[tool]))
        self._services = {home: ServiceEntities(service_members) for home, service_members in members.items()}
        self._feeds: dict[tuple[ToolId, ToolId], list[FeedLink]] = {}
        self._successors: defaultdict[ToolId, list[ToolId]] = defaultdict(list)
        self._build_feeds()

    def _build_feeds(self) -> None:
        """Collect the feeds that are followed, from the stored links and from the index."""
        index, feed_filter = FeedIndex(), FeedFilter(self.tools, self.fields, self._services)
        for doc in self.tools.values():
            index.add(*strip_document(doc))
        for tool, doc in self.tools.items():
            stored_feeds = (
                FeedLink(one.source, tool, one.field, parameter.name, one.score)
                for parameter in doc.parameters
                for one in parameter.filled
                if one.source in self.tools
            )
            for feed in {(f.source, f.field, f.parameter): f for f in (*stored_feeds, *index.find_feeds(doc))}.values():
                if feed_filter.is_followed(feed):
                    self._feeds.setdefault((feed.source, tool), []).append(feed)
        for source, target in sorted(self._feeds):
            self._successors[source].append(target)

    # -- access

    def get_service(self, tool: ToolDoc) -> ServiceEntities:
        """Return the entities of the tool's service."""
        return self._services[get_service_key(tool)]

    def find_fuzzy_tools(self) -> list[ToolDoc]:
        """Return the tools that take only what users state, in the order of their ids."""
        return [doc for doc in self.tools.values() if is_fuzzy(doc, self.get_service(doc))]

    def get_successors(self, source: ToolId) -> Sequence[ToolId]:
        """Return the tools that a tool feeds."""
        return self._successors.get(source, ())

    def get_feeds(self, source: ToolId, target: ToolId) -> Sequence[FeedLink]:
        """Return the feeds from one tool into another."""
        return self._feeds.get((source, target), ())

    def find_field(self, feed: FeedLink) -> OutputField | None:
        """Return the field that a feed starts from; None if the source's response is not known to have it."""
        return next((one for one in self.fields[feed.source] if one.path == feed.field), None)

    def list_holder_fields(self, feed: FeedLink) -> Iterable[OutputField]:
        """Return all fields of the object that a feed starts from."""
        return (one for one in self.fields[feed.source] if get_parent_path(one.path) == get_parent_path(feed.field))

    def collect_names_known_by_id(self, feeds: Sequence[FeedLink]) -> set[tuple[str, ...]]:
        """Return the field names that other tools return for the id of the thing that these feeds look up by name.

        Empty if one of the feeds is an id itself, or if no tool takes an id from the same object.
        """
        if not feeds or any(is_identity_feed(feed) for feed in feeds):
            return set()
        source, target, holder = feeds[0].source, feeds[0].target, get_parent_path(feeds[0].field)
        by_id = [
            other
            for other in self.get_successors(source)
            if other != target
            and any(
                is_identity_feed(one) and get_parent_path(one.field) == holder for one in self.get_feeds(source, other)
            )
        ]
        return {split_words(one.name) for other in by_id for one in self.fields[other] if "[]" not in one.path}


def _has_stable_path(field: OutputField) -> bool:
    """Return whether the field has the same name in the next answer, that is, no step of its path is data."""
    return not any(_DATA.fullmatch(step) for step in field.path.replace("[]", "").split("."))


def is_identity_feed(feed: FeedLink) -> bool:
    """Return whether a feed carries an id."""
    return split_words(feed.parameter)[-1] in IDENTITY
