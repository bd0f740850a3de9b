"""Origins of the values in a run's calls, found by searching for the values rather than by trusting a policy.

A value is the user's if it occurs in the user's own messages. A value from an earlier response keeps that origin even
if a question was rewritten on the way to the call. If several origins fit, the one furthest from the user's word
counts.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pydantic.types import JsonValue

from agent.execution.call_wording import build_tool_title, quote_text
from agent.execution.coercion import coerce_value
from agent.execution.value_search import (
    WORD_PATTERN,
    ToolResponse,
    UserMessages,
    normalize_text,
    normalize_value,
    occurs_in,
)
from agent.files.file_origins import FileOrigins
from agent.request_reader import PlainReader, RequestReader
from agent.text import clean_text
from domain.given_file import GivenFile
from domain.model import JsonObject
from domain.plan import StepResult
from domain.provenance import HostCrossing, Slice, ValueKind, ValueOrigin
from domain.tool import Parameter, ToolDoc, ToolId

FixedArgument = tuple[ToolId, str, JsonValue]
"""Tool, parameter and the value that somebody fixed for the parameter."""
ORIGIN_ORDER: tuple[ValueKind, ...] = ("said", "document", "file", "field", "written", "computed", "prose", "others")
"""Kinds of origins, in order of increasing distance from the user's word."""
_MIN_CROSSING_LENGTH = 2
"""Least number of characters of a value that counts as carried from one host to another."""
_MAX_NAMED_THINGS = 3
"""Most things of one argument that are named."""
_MAX_LEAVES = 100
"""Most leaves of one argument that are searched for."""
_ORIGIN_DESCRIPTIONS: dict[ValueKind, str] = {
    "said": "you said it",
    "document": "the tool's own document gives it",
    "written": "nobody said it, and no answer holds it: it was written on the way",
    "computed": "nobody said it: the program worked it out",
    "others": "fixed by the author of the template, who is not you",
}


@dataclass(frozen=True, slots=True)
class RunStatements:
    """Messages and fixed values from before a run, by its user and by a template's author."""

    user_messages: Sequence[str] = ()
    """The user's own messages, the oldest first."""
    user_values: Sequence[FixedArgument] = ()
    """Values that the user fixed in a plan."""
    author_messages: Sequence[str] = ()
    """Messages of a template's author who is not the user."""
    author_values: Sequence[FixedArgument] = ()
    """Values that this author fixed."""


@dataclass(frozen=True, slots=True)
class CallProvenance:
    """Origins of a call's arguments."""

    origins: tuple[ValueOrigin, ...] = ()
    crossings: tuple[HostCrossing, ...] = ()
    """Values of other hosts' responses that would go to the tool's host without anything that allows it."""


class ProvenanceTracker:
    """Tracks the messages, files and responses of one run and traces the values of calls to them."""

    def __init__(self, statements: RunStatements, reader: RequestReader | None = None) -> None:
        self._user_messages = UserMessages(statements.user_messages, reader or PlainReader())
        self._user_values = _index_fixed_values(statements.user_values)
        self._author_messages = [normalize_text(text) for text in statements.author_messages]
        self._author_values = _index_fixed_values(statements.author_values)
        self._responses: list[ToolResponse] = []
        self._called_tools: dict[ToolId, ToolDoc] = {}
        self._files = FileOrigins()

    def add_files(self, files: Sequence[GivenFile]) -> None:
        """Set the files that the user gave with the request; their content may be by others."""
        self._files = FileOrigins(files)

    def record_response(self, tool: ToolDoc, result: StepResult, reference: str = "") -> None:
        """Record a tool's response.

        The call counts even if its response is empty or an error, since that too can reveal something to another host.
        """
        self._called_tools[tool.id] = tool
        if result.response.strip():
            self._responses.append(ToolResponse(tool, result, reference))

    def record_user_answer(self, text: str) -> None:
        """Record the user's answer to a question as one of the user's messages."""
        self._user_messages = self._user_messages.with_answer(text)

    def record_correction(self, tool: ToolDoc, arguments: JsonObject, corrected: JsonObject) -> None:
        """Record the values that the user put into a call as the user's own; values left unchanged do not count."""
        for name, value in corrected.items():
            added = {_to_text(leaf) for leaf in find_added_values(value, arguments.get(name))}
            if added:
                self._user_values.setdefault((tool.id, name), set()).update(added)

    def trace_arguments(
        self, tool: ToolDoc, arguments: JsonObject, slices: Sequence[Slice] = (), control: Slice | None = None
    ) -> CallProvenance:
        """Return the origins of a call's arguments, and the values that would cross from one host to another.

        A safe call is traced only if tools of other hosts were called before; otherwise nothing can cross.

        ``slices`` says what a program computed the arguments from: a value that is found nowhere counts as computed
        and carries its slice. ``control`` is the slice that decides whether and how often a program makes the call,
        given if that may reveal something to another host.
        """
        if tool.safe and not any(_are_separate_hosts(called_tool, tool) for called_tool in self._called_tools.values()):
            return CallProvenance()
        parameters = {parameter.name: parameter for parameter in tool.parameters}
        slices_by_parameter = {argument_slice.parameter: argument_slice for argument_slice in slices}
        origins: list[ValueOrigin] = []
        crossings: dict[HostCrossing, None] = {}
        for name, value in arguments.items():
            leaves, value_slice = _collect_leaves(value), slices_by_parameter.get(name)
            origin = _add_slice(self._find_worst_origin(tool, name, parameters.get(name), leaves), value_slice)
            origins.append(origin if tool.safe else self._add_thing_names(tool, origin, value))
            for leaf in leaves[:_MAX_LEAVES]:
                crossings |= dict.fromkeys(self._find_crossings(tool, name, parameters.get(name), leaf, value_slice))
            if len(leaves) > _MAX_LEAVES and not self._are_all_fixed(tool, name, leaves):
                crossings |= dict.fromkeys(
                    _build_crossing(response, tool, name)
                    for response in self._responses
                    if _are_separate_hosts(response.tool, tool)
                )
        if control is not None:
            crossed_hosts = {(crossing.source, crossing.target) for crossing in crossings}
            control_crossings = dict.fromkeys(self._find_control_crossings(tool, control))
            crossings |= {
                crossing: None
                for crossing in control_crossings
                if (crossing.source, crossing.target) not in crossed_hosts
            }
        return CallProvenance(tuple(origins), tuple(crossings))

    def find_reference(self, tool: ToolDoc, name: str, value: JsonValue) -> tuple[ValueKind, str]:
        """Return the kind of a value's origin, and a reference to it in a response of an earlier run.

        The reference has the form used in events; it is empty if the value does not come from an earlier run.
        """
        parameter = next((parameter for parameter in tool.parameters if parameter.name == name), None)
        worst = self._find_worst_origin(tool, name, parameter, _collect_leaves(value))
        response = next(
            (
                recorded
                for recorded in self._responses
                if recorded.reference and _locate_origin(recorded, worst) is not None
            ),
            None,
        )
        return worst.kind, f"{response.reference}.{worst.place}".rstrip(".") if response else ""

    def _add_thing_names(self, tool: ToolDoc, origin: ValueOrigin, value: JsonValue) -> ValueOrigin:
        """Return the origin with the names that responses give to the things that these values identify.

        Only responses of the tool's own service count, since names by others may mislead: first those that the value
        was computed from, then the latest ones. A value that comes from no response, or is a field of an object,
        matches only fields that the parameter is named after: a stay of 1 night is not the berth with number 1.
        """
        value_slice = origin.slice
        own_responses = [response for response in self._responses[::-1] if not _are_separate_hosts(response.tool, tool)]
        own_responses.sort(key=lambda one: value_slice is None or one.tool.id not in value_slice.tools)
        from_response = value_slice.is_foreign if value_slice is not None else origin.kind in ("field", "prose")
        named_leaves = _collect_named_leaves(value)
        leaves = [leaf for _, leaf in named_leaves]
        matches = [
            next(
                _iter_thing_names(
                    own_responses, leaf, name or origin.parameter, named_after_only=bool(name) or not from_response
                ),
                None,
            )
            for name, leaf in named_leaves[:_MAX_NAMED_THINGS]
        ]
        found_names = [thing_match for thing_match in matches if thing_match is not None]
        if not found_names:
            return origin
        names = ", ".join(
            thing_match[0] if thing_match else normalize_value(leaf)
            for thing_match, leaf in zip(matches, leaves, strict=False)
        )
        thing_text = names + (f" and {len(leaves) - _MAX_NAMED_THINGS} more" if len(leaves) > _MAX_NAMED_THINGS else "")
        same = origin.kind == "field" and found_names[0][1].tool.id == origin.tool
        namer = "which" if same else quote_text(build_tool_title(found_names[0][1].tool))
        return origin.model_copy(
            update={
                "thing": thing_text,
                "words": f"{origin.words}{',' if same else ';'} {namer} calls it {quote_text(thing_text)}",
            }
        )

    def _find_worst_origin(
        self, tool: ToolDoc, name: str, parameter: Parameter | None, leaves: Sequence[JsonValue]
    ) -> ValueOrigin:
        """Return the origin furthest from the user's word among the leaves of an argument.

        If there are more than ``_MAX_LEAVES``, only fixed values are compared and nothing is searched for.
        """
        if len(leaves) > _MAX_LEAVES:
            fixed_by_author = any(_to_text(leaf) in self._author_values.get((tool.id, name), ()) for leaf in leaves)
            return _build_origin(
                name, "others" if fixed_by_author else "said" if self._are_all_fixed(tool, name, leaves) else "written"
            )
        leaf_origins = [self._find_origin(tool, name, parameter, leaf) for leaf in leaves]
        return max(leaf_origins, key=lambda one: ORIGIN_ORDER.index(one.kind))

    def _are_all_fixed(self, tool: ToolDoc, name: str, leaves: Sequence[JsonValue]) -> bool:
        fixed = self._user_values.get((tool.id, name), ())
        return all(_to_text(leaf) in fixed for leaf in leaves)

    def _find_origin(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> ValueOrigin:
        """Return the origin of a single value."""
        if _to_text(value) in self._author_values.get((tool.id, name), ()):
            return _build_origin(name, "others")
        if self._is_said(tool, name, parameter, value) or value in (None, ""):
            return _build_origin(name, "said")
        if parameter is not None and _is_fixed_by_document(parameter, value):
            return _build_origin(name, "document")
        text = normalize_value(value)
        if text and any(occurs_in(text, message) for message in self._author_messages):
            return _build_origin(name, "others")
        foreign_origin = self._find_foreign_origin(name, value) if text else None
        if foreign_origin is not None:
            return foreign_origin
        in_document = parameter is not None and (value in parameter.enum or value == parameter.example)
        return _build_origin(name, "document" if in_document else "written")

    def _find_foreign_origin(self, name: str, value: JsonValue) -> ValueOrigin | None:
        """Return the origin of a value in responses and files; None if none of them holds it.

        Words inside texts are searched before whole fields, since they are the worse origin. If the value is found
        nowhere, those of its words that the user did not say are searched for.
        """
        for response in reversed(self._responses):
            if (place := response.find_in_text(value)) is not None:
                return _build_response_origin(name, "prose", response, place)
        for response in reversed(self._responses):
            if (place := response.find_field(value)) is not None:
                return _build_response_origin(name, "field", response, place)
        if (place := self._files.find_place(value)) is not None:
            return _build_file_origin(name, place)
        words = self._extract_unsaid_words(value)
        for response in reversed(self._responses):
            if self._shares_unsaid_words(response, value, words):
                return _build_response_origin(name, "prose", response, "")
        file_place = self._files.find_file_with_word(words)
        return None if file_place is None else _build_file_origin(name, f"words of {file_place}")

    def _extract_unsaid_words(self, value: JsonValue) -> list[str]:
        """Return the words of a text that the user did not say."""
        words = WORD_PATTERN.findall(normalize_value(value)) if isinstance(value, str) else []
        return [word for word in dict.fromkeys(words) if not self._user_messages.mentions(word, None)]

    def _shares_unsaid_words(self, response: ToolResponse, value: JsonValue, words: Sequence[str]) -> bool:
        """Return whether the response holds one of the words, or the value an unsaid field of the response."""
        if any(response.has_word(piece) for piece in words):
            return True
        return isinstance(value, str) and any(
            not self._user_messages.mentions(field, None) for field in response.find_fields_in(normalize_value(value))
        )

    def _is_said(self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue) -> bool:
        return _to_text(value) in self._user_values.get((tool.id, name), ()) or self._user_messages.mentions(
            value, parameter
        )

    def _find_crossings(
        self, tool: ToolDoc, name: str, parameter: Parameter | None, value: JsonValue, value_slice: Slice | None = None
    ) -> Iterator[HostCrossing]:
        """Yield the crossings of one value from other hosts to the tool's host.

        A value does not cross if it is the user's, the document's or very short, if the tool's own host or source
        gave it too, or if recorded calls passed values of the same source tool to this parameter.

        ``value_slice`` says what a program computed the value from, which may be more than can be found in it.
        """
        if (
            not tool.host
            or len(normalize_value(value)) < _MIN_CROSSING_LENGTH
            or self._is_said(tool, name, parameter, value)
        ):
            return
        if parameter is not None and (
            _is_fixed_by_document(parameter, value) or value in (*parameter.enum, parameter.example)
        ):
            return
        own_responses = [response for response in self._responses if not _are_separate_hosts(response.tool, tool)]
        other_responses = [response for response in self._responses if _are_separate_hosts(response.tool, tool)]
        source_responses = [response for response in other_responses if _holds_value(response, value)]
        if not source_responses:
            words = [
                word
                for word in self._extract_unsaid_words(value)
                if not any(own_response.has_word(word) for own_response in own_responses)
            ]
            source_responses = [
                response for response in other_responses if self._shares_unsaid_words(response, value, words)
            ]
        if any(_holds_value(response, value) for response in own_responses):
            return
        recorded_sources = {flow.source for flow in parameter.flows} if parameter is not None else set[ToolId]()
        if any(response.tool.id in recorded_sources for response in source_responses):
            return
        source_responses += [
            response
            for response in other_responses
            if response not in source_responses
            and _may_contribute(response, value_slice)
            and response.tool.id not in recorded_sources
        ]
        yield from (_build_crossing(response, tool, name) for response in source_responses)

    def _find_control_crossings(self, tool: ToolDoc, control: Slice) -> Iterator[HostCrossing]:
        """Yield crossings from other hosts whose answers decide whether the call is made.

        Tools whose values recorded calls passed to this one are allowed to decide.
        """
        if not tool.host:
            return
        recorded_sources = {flow.source for parameter in tool.parameters for flow in parameter.flows}
        for called_tool in self._called_tools.values():
            decides = called_tool.id in control.tools or not control.is_traced
            if decides and _are_separate_hosts(called_tool, tool) and called_tool.id not in recorded_sources:
                yield HostCrossing(source=called_tool.host, target=tool.host)


def _may_contribute(response: ToolResponse, value_slice: Slice | None) -> bool:
    """Return whether a value that a program computed may contain something of the response."""
    return value_slice is not None and (response.tool.id in value_slice.tools or not value_slice.is_traced)


def _add_slice(origin: ValueOrigin, value_slice: Slice | None) -> ValueOrigin:
    """Return the origin with the value's slice.

    A value that was found nowhere counts as computed unless it is a constant of the program.
    """
    if value_slice is None:
        return origin
    if origin.kind != "written":
        return origin.model_copy(update={"slice": value_slice})
    kind: ValueKind = "written" if value_slice.is_literal else "computed"
    words = (
        f"{_ORIGIN_DESCRIPTIONS[kind]} {value_slice.words}"
        if kind == "computed"
        else "nobody said it: whoever wrote the call did"
    )
    return ValueOrigin(parameter=origin.parameter, kind=kind, words=words, slice=value_slice)


def _iter_thing_names(
    responses: Sequence[ToolResponse], value: JsonValue, parameter: str, *, named_after_only: bool
) -> Iterator[tuple[str, ToolResponse]]:
    """Yield the names that responses give to the thing that a value identifies, each with its response.

    With ``named_after_only``, only fields that the parameter is named after count.
    """
    return (
        (thing_name, response)
        for response in responses
        if (thing_name := response.find_thing_name(value, parameter, named_after_only=named_after_only))
    )


def _build_crossing(response: ToolResponse, tool: ToolDoc, name: str) -> HostCrossing:
    return HostCrossing(source=response.tool.host, target=tool.host, parameter=name)


def _holds_value(response: ToolResponse, value: JsonValue) -> bool:
    return response.find_field(value) is not None or response.find_in_text(value) is not None


def _are_separate_hosts(tool: ToolDoc, other_tool: ToolDoc) -> bool:
    """Return whether two tools have different hosts and were not imported from one source."""
    if not tool.host or not other_tool.host or tool.host == other_tool.host:
        return False
    return not tool.source or tool.source != other_tool.source


def _index_fixed_values(fixed: Sequence[FixedArgument]) -> dict[tuple[ToolId, str], set[str]]:
    """Index the leaves of the fixed values, as text, by tool and parameter."""
    texts_by_parameter: defaultdict[tuple[ToolId, str], set[str]] = defaultdict(set)
    for tool, name, fixed_value in fixed:
        texts_by_parameter[tool, name] |= {_to_text(leaf) for leaf in _collect_leaves(fixed_value)}
    return texts_by_parameter


def _to_text(value: JsonValue) -> str:
    return normalize_value(value) or json.dumps(value)


def _is_fixed_by_document(parameter: Parameter, value: JsonValue) -> bool:
    """Return whether the value is the document's default or the only one that the document allows."""
    is_only_value = len(parameter.enum) == 1 and value == parameter.enum[0]
    return is_only_value or (
        parameter.default not in (None, "") and value == coerce_value(parameter.default, parameter)
    )


def find_added_values(value: JsonValue, earlier_value: JsonValue) -> list[JsonValue]:
    """Return the leaves of a corrected value that the earlier value ``earlier_value`` did not hold."""
    earlier_texts = {_to_text(leaf) for leaf in _collect_leaves(earlier_value)}
    return [leaf for leaf in _collect_leaves(value) if _to_text(leaf) not in earlier_texts]


def _collect_leaves(value: JsonValue) -> list[JsonValue]:
    """Return the leaves of a value; a string that holds a JSON object or list is read as that structure."""
    return [leaf for _, leaf in _collect_named_leaves(value)]


def _collect_named_leaves(value: JsonValue) -> list[tuple[str, JsonValue]]:
    """Return the leaves, each with the name of the field that holds it, directly or in a list; empty if none does."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return [("", value)]
    leaves: list[tuple[str, JsonValue]] = []
    pending: list[tuple[str, JsonValue]] = [("", value)]
    while pending:
        name, node = pending.pop()
        if isinstance(node, dict) and node:
            pending += node.items()
        elif isinstance(node, list) and node:
            pending += [(name, item) for item in node]
        else:
            leaves.append((name, node if not isinstance(node, (dict, list)) else None))
    return leaves


def _locate_origin(response: ToolResponse, origin: ValueOrigin) -> str | None:
    return origin.place if (response.tool.id, response.tool.host) == (origin.tool, origin.host) else None


def _build_origin(name: str, kind: ValueKind) -> ValueOrigin:
    return ValueOrigin(parameter=name, kind=kind, words=_ORIGIN_DESCRIPTIONS[kind])


def _build_file_origin(name: str, place: str) -> ValueOrigin:
    return ValueOrigin(parameter=name, kind="file", words=f"from your file {place}", place=place[:400])


def _build_response_origin(name: str, kind: ValueKind, response: ToolResponse, place: str) -> ValueOrigin:
    tool = response.tool
    service = quote_text(build_tool_title(tool)) + (f" of {tool.host}" if tool.host else "")
    place_text = f" ({clean_text(place, 80)})" if place else ""
    words = (
        f"words inside a text that {service} answered{place_text}"
        if kind == "prose"
        else f"from what {service} answered{place_text}"
    )
    return ValueOrigin(parameter=name, kind=kind, words=words, tool=tool.id, host=tool.host, place=place[:400])
