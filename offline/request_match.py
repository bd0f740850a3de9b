"""Check whether a call was about what its request names, or about a default of a document or a recording."""

import json
from collections.abc import Iterator, Sequence
from datetime import date

from agent.parameter_needs import NeedKind, derive_need
from agent.text import clean_text, format_scalar
from domain.model import JsonObject
from domain.plan import Binding, Origin, StepResult
from domain.tool import Parameter, ToolDoc
from graph.identifiers import extract_words
from offline.nlp.entities import Span, SpanKind, find_spans
from offline.slots.span_readings import get_today as current_day
from offline.slots.span_scoring import KIND_SCORES

_OF_THE_REQUEST: frozenset[Origin] = frozenset({"request", "step", "user", "memory"})
"""Origins of values that go back to the user, directly or through earlier results."""
_POINTS: frozenset[NeedKind] = frozenset({"latitude", "longitude", "coordinates"})
_IDENTIFYING: frozenset[NeedKind] = _POINTS | frozenset[NeedKind](
    {
        "place",
        "country",
        "person",
        "organization",
        "symbol",
        "identifier",
        "query",
        "email",
        "url",
        "domain",
        "ip",
        "phone",
    }
)
"""Kinds of parameters that say which thing a call is about, and not how much, when or in which unit."""
_NAMING: frozenset[SpanKind] = frozenset(
    {"quoted", "name", "country", "code", "coordinates", "email", "url", "domain", "ip", "phone"}
)
"""Kinds of spans that name a thing."""
_MIN_FIT = 0.4
"""Score of a span's kind from which the span may fill a parameter."""


def find_defaulted_inputs(
    tool: ToolDoc, request: str, values: JsonObject, provenance: Sequence[Binding]
) -> tuple[str, ...]:
    """Find the identifying parameters that took their defaults although the request names something for them.

    Catalogues put an example where the default belongs: the weather at the example is no answer to a question about
    Lisbon. The result is empty if any identifying parameter was filled from the request or an earlier result.
    """
    origins = {binding.parameter: binding.origin for binding in provenance}
    identifying = [one for one in tool.parameters if one.name in values and derive_need(one).kind in _IDENTIFYING]
    if any(origins.get(one.name, "request") in _OF_THE_REQUEST for one in identifying):
        return ()
    names = _find_names_beyond_tool(tool, request)
    return tuple(
        one.name
        for one in identifying
        if one.default == values[one.name] and any(_may_fill(span, one) for span in names)
    )


def describe_mismatches(tool: ToolDoc, request: str, result: StepResult) -> Iterator[str]:
    """Yield a sentence for each thing that a successful call was about instead of what the request names."""
    response_text = result.response.casefold()
    defaulted = find_defaulted_inputs(tool, request, result.arguments, result.provenance)
    names = [span.text for span in _find_names_beyond_tool(tool, request) if span.text.casefold() not in response_text]
    if defaulted and names:
        default_values = ", ".join(f"{name} {format_scalar(result.arguments[name], 60)}" for name in defaulted)
        yield f"{clean_text(tool.api, 80)} was called with its document's {default_values}, and not for {', '.join(names[:3])}"
    origins = {binding.parameter: binding.origin for binding in result.provenance}
    for name, recorded in result.instead.items():
        if origins.get(name) in _OF_THE_REQUEST and name in result.arguments:
            requested, answered_for = (
                format_scalar(result.arguments[name], 60),
                "without it" if recorded is None else format_scalar(recorded, 60),
            )
            yield f"{clean_text(tool.api, 80)} was asked for {clean_text(name, 60)} {requested}, and the recorded answer is for {answered_for}"


def find_unused_names(
    request: str, steps: Sequence[tuple[ToolDoc, StepResult]], day: date | None = None
) -> tuple[Span, ...]:
    """Find what a request names that no successful call took and no response mentions.

    A recorded response counts for the arguments that it was recorded with. ``day``: the day that relative dates count
    from; by default the local date.
    """
    successful = [(tool, result) for tool, result in steps if result.status == "ok"]
    called_text = "\n".join(
        text for _, result in successful for text in (_render_arguments(result), result.response)
    ).casefold()
    tool_words = frozenset[str]().union(*(_collect_tool_words(tool) for tool, _ in successful))
    names = _find_names(request, day)
    unused_names = [one for one in names if not _is_in(called_text, one) and not extract_words(one.text) <= tool_words]
    used_names = [one for one in names if one not in unused_names]
    return tuple(one for one in unused_names if not any(one.overlaps(other) for other in used_names))


def _is_in(spoken: str, span: Span) -> bool:
    return span.text.casefold() in spoken or span.value.casefold() in spoken


def _find_names(request: str, day: date | None = None) -> list[Span]:
    """Find what a request names, dates other than today included."""
    today = day or current_day()
    candidates = [
        one for one in find_spans(request, today) if not (one.kind == "name" and _is_sentence_start(request, one))
    ]
    return [one for one in candidates if one.kind in _NAMING or (one.kind == "date" and one.value != f"{today}")]


def _is_sentence_start(request: str, span: Span) -> bool:
    """Return whether a sentence begins with a span, whose capital then means nothing: ``Mark Water the lemon tree``."""
    return request[: span.start].rstrip()[-1:] in ("", ".", "!", "?", ":", "\n")


def is_unrelated(request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> bool:
    """Return whether a request names something that no call used, and no call took anything else from the user."""
    good = [result for _, result in steps if result.status == "ok"]
    if any(binding.origin in _OF_THE_REQUEST for result in good for binding in result.provenance):
        return False
    names = [one for one in _find_names(request) if one.kind in _NAMING]
    unused_names = find_unused_names(request, steps)
    return bool(names) and all(one in unused_names for one in names)


def _render_arguments(result: StepResult) -> str:
    """Render the arguments that a call's response is for, with the request's words for them, as JSON text."""
    own_arguments = {name: value for name, value in result.arguments.items() if name not in result.instead}
    references = [
        one.reference for one in result.provenance if one.origin == "request" and one.parameter in own_arguments
    ]
    return json.dumps([own_arguments, result.instead, references], ensure_ascii=False)


def _find_names_beyond_tool(tool: ToolDoc, request: str) -> list[Span]:
    """Find what a request names, without words of the tool's own name and description."""
    tool_words = _collect_tool_words(tool)
    return [one for one in _find_names(request) if one.kind in _NAMING and not extract_words(one.text) <= tool_words]


def _collect_tool_words(tool: ToolDoc) -> frozenset[str]:
    return frozenset(extract_words(f"{tool.category} {tool.toolset} {tool.api} {tool.description}"))


def _may_fill(span: Span, parameter: Parameter) -> bool:
    """Return whether a span may be a value of a parameter, by its kind; a place may stand for its coordinates."""
    kind = derive_need(parameter).kind
    return KIND_SCORES[kind].get(span.kind, 0.0) >= _MIN_FIT or (kind in _POINTS and span.kind in ("name", "country"))
