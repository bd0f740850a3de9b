"""Filter of couplings: which ones a walk follows.

A coupling means that a field *can* fill an input. It is followed only if both are of one thing: by an id, or by a name under which the
thing is looked for. What only narrows a search, like the year that two things share, is not followed.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from domain.tool import Parameter, ToolDoc, ToolId
from graph.coupling import VAGUE, subject
from graph.entities import Service, Slot, service_of
from graph.fuzzy import identifies
from graph.identifiers import singular, text_words, words
from graph.links import Feed
from graph.looks import holder_of
from graph.response_fields import OutputField
from graph.vocabulary import FORMS, IDENTITY, thing

_LEAST = 0.85
"""Minimum score of a feed by words: the same words on both sides, or supplied by what holds the field."""

_PLAIN = frozenset(
    {
        "year", "date", "day", "month", "week", "time", "datetime", "timestamp", "hour", "minute", "count", "price", "amount", "age", "rating",
        "score", "rank", "status", "type", "size", "quantity", "total", "duration", "gender", "value", "percent", "percentage", "weekday",
        "language", "description", "message", "version", "format", "limit", "color", "source", "text", "content", "param", "parameter",
    }
)  # fmt: skip
"""Words of what many unlike things have: that two share a year says nothing of them."""

_PLACE = frozenset({"latitude", "longitude"})
_BY = frozenset(
    {"by", "of", "for", "in", "from", "with", "near", "at", "on", "per", "via", "and", "to", "within", "using", "id"}
)
"""Words in a tool's name after which follows by what it finds things."""

_ACTS = frozenset(
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
"""Words of what a tool does, if they come last in its name."""

_ALIKE = 0.5
"""Minimum share of fields that two objects of one kind have in common."""

_NAMING = frozenset({"name", "title"})

_COLLECTIVE = frozenset(
    {
        "data", "result", "item", "list", "response", "record", "hit", "entry", "row", "content", "body", "payload", "value", "object",
        "element", "node", "edge", "doc", "document", "info", "detail", "attribute", "match", "output", "collection", "embedded", "main", "all",
    }
)  # fmt: skip
"""Words for lists and objects that do not say what is in them."""


_ABOUT_CALLS = frozenset(
    {"query", "request", "parameter", "param", "input", "meta", "pagination", "paging", "debug", "error"}
)
"""Words for objects about the call: its parameters, where it was cut off."""

_PAGING = frozenset({"continuation", "cursor", "next", "previous", "page", "offset", "after", "before", "scroll"})
"""Words for values that lead to more of the same."""

_ASKED_WITH = frozenset({"requested", "searched", "queried", "input", "given", "search", "query"})
"""Words that mark a field as a repetition of the request."""


@dataclass(frozen=True, slots=True)
class _Coupled:
    """A coupling with both of its ends."""

    source: ToolDoc
    given: OutputField
    target: ToolDoc
    parameter: Parameter
    score: float


class Followed:
    """The couplings among a set of tools that are followed."""

    def __init__(
        self,
        tools: Mapping[ToolId, ToolDoc],
        fields: Mapping[ToolId, tuple[OutputField, ...]],
        services: Mapping[tuple[str, str], Service],
    ) -> None:
        self._tools, self._fields, self._services = tools, fields, services

    def has(self, feed: Feed) -> bool:
        """Return whether a feed is followed. An administrator's mark that it fills the parameter decides.

        Only a source that is safe to call is ever followed.
        """
        source, target = self._tools[feed.source], self._tools[feed.target]
        parameter = next((one for one in target.parameters if one.name == feed.parameter), None)
        given = next((one for one in self._fields[feed.source] if one.path == feed.field), None)
        if parameter is None or given is None or not source.safe:
            return False
        if any(mark.fills and mark.source == source.id and mark.field == feed.field for mark in target.feed_marks):
            return True
        coupled = _Coupled(source, given, target, parameter, feed.score)
        return not self._is_no_news(coupled) and self._joins(coupled)

    def _service(self, tool: ToolDoc) -> Service:
        return self._services[service_of(tool)]

    def _is_no_news(self, one: _Coupled) -> bool:
        """Return whether a value was known before the call, or only leads to more of the same."""
        return (
            self._echoes(one.source, one.given)
            or _is_about_call(one.given)
            or bool(set(words(one.parameter.name)) & _PAGING)
        )

    def _echoes(self, source: ToolDoc, given: OutputField) -> bool:
        """Return whether a field repeats a required input of its tool: whoever has it there had it before."""
        service = self._service(source)
        if service.given(source, given) is not None:
            return service.echoes(source, given)
        named = tuple(word for word in words(given.name) if word not in _ASKED_WITH) or words(given.name)
        return any(words(one.name) == named for one in source.required)

    def _joins(self, one: _Coupled) -> bool:
        """Return whether both ends are of one thing."""
        if identifies(one.parameter, one.target, self._service(one.target)):
            return self._by_id(one)
        if is_plain(one.parameter):
            return one.parameter.required
        naming = words(one.parameter.name)[-1] in _NAMING or self._is_beside_name(one)
        if not one.target.safe or (not naming and self._lists_the_same(one)):
            return False
        if one.score < _LEAST or self._is_of_another(one):
            return False
        if set(words(one.parameter.name)) <= VAGUE or not one.parameter.required:
            return self._is_looked_for(one)
        return True

    def _by_id(self, one: _Coupled) -> bool:
        """Return whether a field fits an input that identifies something."""
        if words(one.parameter.name)[-1] in _PLACE:
            return one.score >= _LEAST
        taken = self._service(one.target).taken(one.target, one.parameter)
        slot = self._service(one.source).given(one.source, one.given)
        bare = len(words(one.given.name)) == 1
        if taken is None or (bare and slot is None and len(words(one.parameter.name)) == 1):
            return self._is_spoken_of(one)
        if bare and slot is not None and slot.form == "url" and self._is_of_another(one):
            return False
        if not bare or slot is None or service_of(one.source) != service_of(one.target):
            return True
        return not self._goes_by_another_name(one, slot)

    def _is_spoken_of(self, one: _Coupled) -> bool:
        """Return whether an input without a known entity mentions the kind of thing that a field is of.

        Equal names of two or more words count as well.
        """
        named = words(one.given.name)
        if named == words(one.parameter.name) and len(named) > 1:
            return True
        about = subject(one.target.api) | text_words(one.parameter.description) | set(words(one.parameter.name))
        return bool((self._kind(one.source, one.given) - IDENTITY) & about)

    def _goes_by_another_name(self, one: _Coupled, slot: Slot) -> bool:
        """Return whether the holder of a bare ``id`` is named differently from what the input asks for."""
        entity = {word for known in slot.entities for word in known.split()}
        own = _name_of_holder(one.given.path)
        if own and own[-1] not in _COLLECTIVE:
            return not slot.told and not (own[-1] in entity or own[-1] in subject(one.source.api))
        listed = _listed(one.source.api)
        if _only_qualifies(entity, words(listed)):
            return True
        called = self._service(one.source).noun(words(listed))
        if called is not None and called not in slot.entities:
            return True
        last = listed.split()[-1].lower() if listed else ""
        return not slot.told and singular(last) != last and singular(last) not in entity

    def _is_of_another(self, one: _Coupled) -> bool:
        """Return whether an input's name asks for a thing that the field does not belong to.

        Example: an ``isoCode`` of ``states[]`` for a country.
        """
        lacking = set(thing(words(one.parameter.name))) - set(words(one.given.name)) - FORMS
        held = frozenset(_name_of_holder(one.given.path)) - _COLLECTIVE
        said = held or {word for kind in self._kind(one.source, one.given) for word in kind.split()}
        return bool(lacking and said and not lacking & said)

    def _lists_the_same(self, one: _Coupled) -> bool:
        """Return whether both tools list the same kind of thing, each by something else.

        Example: stations by country and by genre.
        """
        own = {words(field.name) for field in self._fields[one.source.id] if _alike_held(field, one.given)}
        held: dict[str, set[tuple[str, ...]]] = {}
        for field in self._fields[one.target.id]:
            held.setdefault(holder_of(field.path), set()).add(words(field.name))
        return any(len(own & other) >= _ALIKE * len(own | other) for other in held.values() if len(own) > 1)

    def _is_looked_for(self, one: _Coupled) -> bool:
        """Return whether the target finds things of the field's kind by this input: what it lists has the same field."""
        wanted = words(one.parameter.name)
        if not (one.parameter.required or wanted[-1] in _NAMING or self._is_beside_name(one)):
            return False
        alike = [field for field in self._fields[one.target.id] if words(field.name) == wanted]
        own = self._kind(one.source, one.given)
        return any(own & self._kind(one.target, field) for field in alike)

    def _is_beside_name(self, one: _Coupled) -> bool:
        """Return whether the object also has a name by which the target finds it.

        Its other fields then tell it from its namesakes.
        """
        inputs = {words(parameter.name) for parameter in one.target.parameters}
        beside = (words(field.name) for field in self._fields[one.source.id] if _alike_held(field, one.given))
        return any(named in inputs and named[-1] in _NAMING for named in beside if named)

    def _kind(self, tool: ToolDoc, field: OutputField) -> frozenset[str]:
        """Return the kind of an object: the entities of its id, else the last word of its own or its tool's name."""
        service = self._service(tool)
        slots = (service.given(tool, one) for one in self._fields[tool.id] if _alike_held(one, field))
        found = frozenset[str]().union(*(slot.entities for slot in slots if slot is not None and slot.form in IDENTITY))
        named = [word for word in _name_of_holder(field.path) if word not in _COLLECTIVE]
        return found or (frozenset(named[-1:]) if named else subject(tool.api))


def _alike_held(one: OutputField, other: OutputField) -> bool:
    """Return whether two fields are of the same object."""
    return holder_of(one.path) == holder_of(other.path)


def _name_of_holder(path: str) -> tuple[str, ...]:
    """Return the words of the name of the object or list that holds a field."""
    return words(holder_of(path).replace("[]", "").rpartition(".")[2])


def _listed(api: str) -> str:
    """Return what a tool's name says that it returns, without by what: ``List movies by genre`` → List movies."""
    pieces = re.findall(r"[A-Z]?[a-z]+|[A-Z]+", api)
    until = next((at for at, piece in enumerate(pieces) if at and piece.lower() in _BY), len(pieces))
    return " ".join(pieces[:until])


def _only_qualifies(entity: set[str], listed: tuple[str, ...]) -> bool:
    """Return whether an entity only precedes the noun that a tool lists: ``List Video Comments`` lists no videos."""
    return len(listed) > 1 and bool(entity & set(listed[:-1])) and listed[-1] not in entity | _COLLECTIVE | _ACTS


def _is_about_call(field: OutputField) -> bool:
    """Return whether the object that holds a field is about the call."""
    steps = (step for step in holder_of(field.path).split(".") if step and "[]" not in step)
    return any(set(words(step)) & _ABOUT_CALLS for step in steps)


def is_plain(parameter: Parameter) -> bool:
    """Return whether an input takes a value that identifies nothing: a year, an amount."""
    last = words(parameter.name)[-1]
    if last in IDENTITY or last in _PLACE:
        return False
    return parameter.type in ("integer", "number") or last in _PLAIN
