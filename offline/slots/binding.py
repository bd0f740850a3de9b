"""Bind arguments to values of the request, earlier results and defaults; nothing is invented."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from pydantic.types import JsonValue

from agent.parameters.kinds import UNTOUCHED
from agent.parameters.needs import Need, need_of
from agent.policy.protocol import Arguments, ArgumentsQuestion
from agent.request_reader import Fillable
from domain.event import Feed
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter, ToolDoc
from offline.nlp.entities import Span
from offline.nlp.gazetteer import word_set
from offline.request_match import left_to_defaults
from offline.slots.candidates import STRONG, asker_decides, told
from offline.slots.candidates import today as current_day
from offline.slots.response_binding import fed, feeding

WHOLE = "the whole request"
"""Reference of a value that is the request's own text, for want of anything better."""

_WHOLE_REQUEST = word_set("q query question prompt search utterance")
_REUSED = 0.7
"""Score from which a span may be bound to a second parameter of one call."""
_NAMES = word_set("place person organization query entity symbol country")
Avoid = frozenset[tuple[str, str]]
"""Parameters and values, as text, that must not be bound."""

_PLACES = word_set("city town destination place country address")
"""Words in the description of a query that wants a place's name, not a sentence."""


@dataclass(frozen=True, slots=True)
class Choice:
    """A possible value for one parameter, with its origin; ``span`` is set if it comes from the request."""

    parameter: Parameter
    score: float
    value: JsonValue
    binding: Binding
    span: Span | None = None


def bind(question: ArgumentsQuestion, today: date | None = None, avoid: Avoid = frozenset()) -> Arguments:
    """Bind the arguments of one call, with the origin of each value.

    Every parameter collects candidates from the request (typed spans) and from earlier results (coupled fields). The
    strongest pair of parameter and value is bound first; a span is bound to a second parameter only if nothing else
    is left for it. Required parameters then fall back on their defaults.

    ``today``: what relative dates count from, the local date by default. ``avoided``: values of the request that
    failed; what else is named, however weakly, is taken instead.
    """
    needs = {parameter.name: need_of(parameter) for parameter in question.tool.parameters}
    choices = _choices(question, needs, today or current_day(), avoid)
    bound = _assign(choices, needs)
    values: JsonObject = {}
    provenance: list[Binding] = []
    missing: list[str] = []
    for parameter in question.tool.parameters:
        choice = bound.get(parameter.name) or _fallback(parameter, question.tool, question.request)
        if choice is not None:
            values[parameter.name] = choice.value
            provenance.append(choice.binding)
        elif parameter.required:
            missing.append(parameter.name)
    return _about_the_request(question, Arguments(values, tuple(provenance), tuple(missing)))


def _about_the_request(question: ArgumentsQuestion, found: Arguments) -> Arguments:
    """Drop defaults of parameters for which the request names something else."""
    lost = left_to_defaults(question.tool, question.request, found.values, found.provenance)
    values = {name: value for name, value in found.values.items() if name not in lost}
    bindings = tuple(binding for binding in found.provenance if binding.parameter not in lost)
    missing = [one.name for one in question.tool.required if one.name in lost or one.name in found.missing]
    return Arguments(values, bindings, tuple(missing)) if lost else found


def fillable(tool: ToolDoc, request: str, path: Sequence[ToolDoc], today: date | None = None) -> Fillable:
    """Check which required parameters nothing could fill yet, and which steps of the path feed the tool.

    Feeds are judged by the documents of the tools.
    """
    day = today or current_day()
    missing: list[str] = []
    feeds: list[Feed] = []
    taken: list[tuple[Span, Need]] = []
    for parameter in tool.required:
        need = need_of(parameter)
        best = next((c for c in told(need, request, day) if not _taken(c.span, need, taken)), None)
        decided = asker_decides(need, tool, told=best is not None)
        source = None if decided else feeding(parameter, need, tool, path)
        if source is not None and (best is None or source.score >= best.score):
            feeds.append(source)
        elif best is not None:
            taken.append((best.span, need))
        elif _fallback(parameter, tool, request) is None:
            missing.append(parameter.name)
    return Fillable(tuple(missing), tuple(feeds))


def may_mean_another(tool: ToolDoc, parameter: str) -> bool:
    """Return whether a parameter wants a name, of which a request may hold several.

    A person in whose name a change is made is never exchanged.
    """
    kinds = _NAMES if tool.safe else _NAMES - {"person"}
    return any(need_of(own).kind in kinds for own in tool.parameters if own.name == parameter)


def assigned(tool: ToolDoc, request: str, today: date, optional: float = STRONG) -> dict[str, Choice]:
    """Assign the values of the request alone to a tool's parameters.

    ``min_optional_score``: how well a value must fit an optional parameter.
    """
    needs = {parameter.name: need_of(parameter) for parameter in tool.parameters}
    sure = {name: replace(need, required=True) for name, need in needs.items()}
    choices = [
        Choice(
            parameter,
            item.score,
            item.value,
            Binding(parameter=parameter.name, origin="request", reference=item.span.text),
            item.span,
        )
        for parameter in tool.parameters
        for item in told(sure[parameter.name], request, today)
        if parameter.required or (item.score >= optional and needs[parameter.name].kind not in UNTOUCHED)
    ]
    ordered = sorted(choices, key=lambda c: (-c.score, not c.parameter.required, c.span.start if c.span else 0))
    return _assign(ordered, needs)


def default_of(parameter: Parameter, tool: ToolDoc) -> JsonValue:
    """Return a required parameter's default or its only allowed value; None if it has neither."""
    found = _fallback(parameter, tool, "")
    return None if found is None else found.value


def uses(tool: ToolDoc, request: str) -> tuple[Span, ...]:
    """Find the spans of a request that a call of the tool would take its values from."""
    needs = {parameter.name: need_of(parameter) for parameter in tool.parameters}
    choices = _choices(ArgumentsQuestion(request, tool, ()), needs, current_day(), frozenset())
    return tuple(choice.span for choice in _assign(choices, needs).values() if choice.span)


def _choices(question: ArgumentsQuestion, needs: Mapping[str, Need], today: date, avoid: Avoid) -> list[Choice]:
    """Collect the possible values of all parameters, from the request and earlier results, strongest first."""
    choices: list[Choice] = []
    avoided = {name for name, _ in avoid}
    for parameter in question.tool.parameters:
        need = needs[parameter.name]
        found = told(need, question.request, today, lenient=parameter.name in avoided)
        decided = need.kind in UNTOUCHED or asker_decides(need, question.tool, told=bool(found))
        for item in found:
            if (parameter.name, str(item.value)) in avoid:
                continue
            binding = Binding(parameter=parameter.name, origin="request", reference=item.span.text)
            choices.append(Choice(parameter, item.score, item.value, binding, item.span))
        if parameter.required and not decided:
            for value in fed(parameter, need, question.tool, question.request, question.earlier):
                binding = Binding(parameter=parameter.name, origin="step", reference=value.reference)
                choices.append(Choice(parameter, value.score, value.value, binding))
    return sorted(choices, key=lambda c: (-c.score, not c.parameter.required, c.span.start if c.span else 0))


def _assign(choices: Sequence[Choice], needs: Mapping[str, Need]) -> dict[str, Choice]:
    """Assign each parameter its strongest value, so that a span serves one parameter if that is possible."""
    bound: dict[str, Choice] = {}
    used: list[tuple[Span, Need]] = []
    # First every span serves one parameter. Then required parameters may reuse a span that fits them well.
    for again in (False, True):
        for choice in choices:
            name = choice.parameter.name
            if name in bound or (again and (not choice.parameter.required or choice.score < _REUSED)):
                continue
            if choice.span is not None and not again and _taken(choice.span, needs[name], used):
                continue
            if _same_end(choice, needs, bound):
                continue
            bound[name] = choice
            if choice.span is not None:
                used.append((choice.span, needs[name]))
    return bound


def _same_end(choice: Choice, needs: Mapping[str, Need], bound: Mapping[str, Choice]) -> bool:
    """Return whether the other end of a pair has the same value: nothing is converted from a unit to itself."""
    need = needs[choice.parameter.name]
    return bool(need.role) and any(
        other.value == choice.value and needs[name].kind == need.kind and needs[name].role not in ("", need.role)
        for name, other in bound.items()
    )


def _taken(span: Span, need: Need, used: Sequence[tuple[Span, Need]]) -> bool:
    """Return whether another parameter has the span; a pair of coordinates serves both of its halves."""
    halves = {"latitude", "longitude"}
    return any(
        span.overlaps(other) and not (span.kind == other.kind == "coordinates" and {need.kind, owner.kind} == halves)
        for other, owner in used
    )


def _fallback(parameter: Parameter, tool: ToolDoc, request: str) -> Choice | None:
    """Find a required parameter's default, its only allowed value, or, for a free query, the request itself.

    Catalogues often put an example where the default belongs, hence the origin ``default`` in the provenance. For the
    same reason no default fills a call that changes something: somebody else's appointment would be deleted.
    """
    if not parameter.required:
        return None
    if tool.safe and parameter.default is not None and parameter.default != "":
        binding = Binding(parameter=parameter.name, origin="default", reference="the document's default")
        return Choice(parameter, 0.0, parameter.default, binding)
    if len(parameter.enum) == 1:
        binding = Binding(parameter=parameter.name, origin="default", reference="the only allowed value")
        return Choice(parameter, 0.0, parameter.enum[0], binding)
    if (
        parameter.type == "string"
        and not parameter.enum
        and parameter.name.lower() in _WHOLE_REQUEST
        and request.strip()
        and not any(flow.count > 1 for flow in parameter.flows)  # recorded calls took it from an answer
        and not need_of(parameter).described & _PLACES
    ):
        binding = Binding(parameter=parameter.name, origin="request", reference=WHOLE)
        return Choice(parameter, 0.0, request.strip(), binding)
    return None
