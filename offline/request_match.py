"""Check whether a call is about what its request names, or about a default of a document or of a recording."""

import json
from collections.abc import Iterator, Sequence
from datetime import date

from agent.parameters.kinds import NeedKind
from agent.parameters.needs import need_of
from agent.text import clean, shown
from domain.model import JsonObject
from domain.plan import Binding, Origin, StepResult
from domain.tool import Parameter, ToolDoc
from graph.identifiers import text_words
from offline.nlp.entities import Span, SpanKind, spans
from offline.slots.candidates import today as current_day
from offline.slots.span_scoring import FITS

_OF_THE_REQUEST: frozenset[Origin] = frozenset({"request", "step", "user", "memory"})
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
"""Kinds of parameters that say which thing a call is about, rather than how much of it, when, or in which unit."""
_NAMING: frozenset[SpanKind] = frozenset(
    {"quoted", "name", "country", "code", "coordinates", "email", "url", "domain", "ip", "phone"}
)
_FITS = 0.4


def left_to_defaults(tool: ToolDoc, request: str, values: JsonObject, provenance: Sequence[Binding]) -> tuple[str, ...]:
    """Find the required parameters that identify a thing and have defaults, though the request names one.

    Catalogues put an example where the default belongs: the weather at the example is no answer to who asks for that
    in Lisbon. A call that takes a thing of the request, or of an earlier answer, somewhere else has none.
    """
    origins = {binding.parameter: binding.origin for binding in provenance}
    telling = [one for one in tool.parameters if one.name in values and need_of(one).kind in _IDENTIFYING]
    if any(origins.get(one.name, "request") in _OF_THE_REQUEST for one in telling):
        return ()
    named = _named(tool, request)
    return tuple(
        one.name for one in telling if one.default == values[one.name] and any(_may_fill(span, one) for span in named)
    )


def elsewhere(tool: ToolDoc, request: str, result: StepResult) -> Iterator[str]:
    """Yield a sentence for each thing that a successful call was about instead of what the request names."""
    said = result.response.casefold()
    lost = left_to_defaults(tool, request, result.arguments, result.provenance)
    names = [span.text for span in _named(tool, request) if span.text.casefold() not in said]
    if lost and names:
        taken = ", ".join(f"{name} {shown(result.arguments[name], 60)}" for name in lost)
        yield f"{clean(tool.api, 80)} was called with its document's {taken}, and not for {', '.join(names[:3])}"
    origins = {binding.parameter: binding.origin for binding in result.provenance}
    for name, recorded in result.instead.items():
        if origins.get(name) in _OF_THE_REQUEST and name in result.arguments:
            asked, told = shown(result.arguments[name], 60), "without it" if recorded is None else shown(recorded, 60)
            yield f"{clean(tool.api, 80)} was asked for {clean(name, 60)} {asked}, and the recorded answer is for {told}"


def unused(request: str, steps: Sequence[tuple[ToolDoc, StepResult]], day: date | None = None) -> tuple[Span, ...]:
    """Find what a request names that no successful call took and no response has.

    A recorded response counts for what was recorded. ``day``: what relative days count from, the local date by
    default.
    """
    good = [(tool, result) for tool, result in steps if result.status == "ok"]
    spoken = "\n".join(text for _, result in good for text in (_taken(result), result.response)).casefold()
    own = frozenset[str]().union(*(_own_words(tool) for tool, _ in good))
    named = _named_in(request, day)
    lost = [one for one in named if not _in(spoken, one) and not text_words(one.text) <= own]
    kept = [one for one in named if one not in lost]
    return tuple(one for one in lost if not any(one.overlaps(other) for other in kept))


def _in(spoken: str, span: Span) -> bool:
    return span.text.casefold() in spoken or span.value.casefold() in spoken


def _named_in(request: str, day: date | None = None) -> list[Span]:
    today = day or current_day()
    found = [one for one in spans(request, today) if not (one.kind == "name" and _opens(request, one))]
    return [one for one in found if one.kind in _NAMING or (one.kind == "date" and one.value != f"{today}")]


def _opens(request: str, span: Span) -> bool:
    """Return whether a sentence begins with a span, to which it may owe its capital: ``Mark Water the lemon tree``."""
    return request[: span.start].rstrip()[-1:] in ("", ".", "!", "?", ":", "\n")


def beside_the_point(request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> bool:
    """Return whether a request names something, and no call took a value of it or of an earlier response."""
    good = [result for _, result in steps if result.status == "ok"]
    if any(binding.origin in _OF_THE_REQUEST for result in good for binding in result.provenance):
        return False
    named = [one for one in _named_in(request) if one.kind in _NAMING]
    lost = unused(request, steps)
    return bool(named) and all(one in lost for one in named)


def _taken(result: StepResult) -> str:
    """Render the values of a call with the request's words for them, without those that its response is not for."""
    kept = {name: value for name, value in result.arguments.items() if name not in result.instead}
    read = [one.reference for one in result.provenance if one.origin == "request" and one.parameter in kept]
    return json.dumps([kept, result.instead, read], ensure_ascii=False)


def _named(tool: ToolDoc, request: str) -> list[Span]:
    """Find what a request names and the tool's own name and description do not."""
    own = _own_words(tool)
    return [one for one in _named_in(request) if one.kind in _NAMING and not text_words(one.text) <= own]


def _own_words(tool: ToolDoc) -> frozenset[str]:
    return frozenset(text_words(f"{tool.category} {tool.toolset} {tool.api} {tool.description}"))


def _may_fill(span: Span, parameter: Parameter) -> bool:
    kind = need_of(parameter).kind
    return FITS[kind].get(span.kind, 0.0) >= _FITS or (kind in _POINTS and span.kind in ("name", "country"))
