"""Bind a call's arguments to values of the request, of earlier results and of defaults; nothing is invented."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date

from pydantic.types import JsonValue

from agent.parameter_needs import UNFILLED_KINDS, ParameterNeed, derive_need
from agent.policy.protocol import ArgumentsQuestion, CallArguments
from agent.request_reader import InputCoverage
from domain.event import Feed
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter, ToolDoc
from offline.nlp.entities import Span
from offline.nlp.gazetteer import word_set
from offline.request_match import find_defaulted_inputs
from offline.slots.response_binding import find_input_feed, find_response_values
from offline.slots.span_readings import MIN_OPTIONAL_SCORE, find_readings, is_user_decision
from offline.slots.span_readings import get_today as current_day

WHOLE_REQUEST = "the whole request"
"""Reference of a value that is the request's own text, for want of anything better."""

_FREE_QUERY_NAMES = word_set("q query question prompt search utterance")
"""Names of parameters that take a question in words."""
_MIN_REUSE_SCORE = 0.7
"""Score from which a span may be bound to a second parameter of one call."""
_NAMES = word_set("place person organization query entity symbol country")
"""Kinds of parameters that take a name."""
AvoidedValues = frozenset[tuple[str, str]]
"""Pairs of parameter and value, as text, that must not be bound."""

_PLACE_WORDS = word_set("city town destination place country address")
"""Words in the description of a query that takes a place's name rather than a sentence."""


@dataclass(frozen=True, slots=True)
class SlotChoice:
    """A possible value for one parameter."""

    parameter: Parameter
    score: float
    """How well the value fits; comparable across the parameters of a call."""
    value: JsonValue
    binding: Binding
    """The origin of the value."""
    span: Span | None = None
    """The span of the request that it was read from; None if it comes from elsewhere."""


def bind(question: ArgumentsQuestion, today: date | None = None, avoided: AvoidedValues = frozenset()) -> CallArguments:
    """Bind the arguments of one call, each with its origin.

    Candidates for each parameter come from the request (typed spans) and from earlier results (coupled fields). The
    strongest pair of parameter and value is bound first. A span is bound to a second parameter only if nothing else is
    left for it. Required parameters without a candidate fall back on their defaults.

    Args:
        question: the tool, the request and the earlier results.
        today: the day that relative dates count from; by default the local date.
        avoided: values of the request that failed; for their parameters weaker values count as well.
    """
    needs = {parameter.name: derive_need(parameter) for parameter in question.tool.parameters}
    choices = _collect_choices(question, needs, today or current_day(), avoided)
    bound = _assign(choices, needs)
    values: JsonObject = {}
    provenance: list[Binding] = []
    missing: list[str] = []
    for parameter in question.tool.parameters:
        choice = bound.get(parameter.name) or _find_fallback(parameter, question.tool, question.request)
        if choice is not None:
            values[parameter.name] = choice.value
            provenance.append(choice.binding)
        elif parameter.required:
            missing.append(parameter.name)
    return _drop_unrelated_defaults(question, CallArguments(values, tuple(provenance), tuple(missing)))


def _drop_unrelated_defaults(question: ArgumentsQuestion, arguments: CallArguments) -> CallArguments:
    """Drop the defaults of parameters for which the request names something else; they count as missing."""
    defaulted = find_defaulted_inputs(question.tool, question.request, arguments.values, arguments.provenance)
    values = {name: value for name, value in arguments.values.items() if name not in defaulted}
    bindings = tuple(binding for binding in arguments.provenance if binding.parameter not in defaulted)
    missing = [one.name for one in question.tool.required if one.name in defaulted or one.name in arguments.missing]
    return CallArguments(values, bindings, tuple(missing)) if defaulted else arguments


def check_fillable(tool: ToolDoc, request: str, path: Sequence[ToolDoc], today: date | None = None) -> InputCoverage:
    """Find the required parameters that nothing could fill, and the steps of the path that feed the others.

    Responses are not known yet: feeds are judged by the tools' documents.
    """
    day = today or current_day()
    missing: list[str] = []
    feeds: list[Feed] = []
    used_spans: list[tuple[Span, ParameterNeed]] = []
    for parameter in tool.required:
        need = derive_need(parameter)
        best = next((c for c in find_readings(need, request, day) if not _is_used(c.span, need, used_spans)), None)
        is_decided = is_user_decision(need, tool, is_stated=best is not None)
        source = None if is_decided else find_input_feed(parameter, need, tool, path)
        if source is not None and (best is None or source.score >= best.score):
            feeds.append(source)
        elif best is not None:
            used_spans.append((best.span, need))
        elif _find_fallback(parameter, tool, request) is None:
            missing.append(parameter.name)
    return InputCoverage(tuple(missing), tuple(feeds))


def may_mean_another(tool: ToolDoc, parameter: str) -> bool:
    """Return whether a parameter takes a name that may be exchanged for another name of the request.

    The person in whose name a change is made is never exchanged.
    """
    kinds = _NAMES if tool.safe else _NAMES - {"person"}
    return any(derive_need(own).kind in kinds for own in tool.parameters if own.name == parameter)


def assign_from_request(
    tool: ToolDoc, request: str, today: date, min_optional_score: float = MIN_OPTIONAL_SCORE
) -> dict[str, SlotChoice]:
    """Assign values of the request alone to a tool's parameters.

    ``min_optional_score``: the score that a value needs for an optional parameter.
    """
    needs = {parameter.name: derive_need(parameter) for parameter in tool.parameters}
    required_needs = {name: replace(need, required=True) for name, need in needs.items()}
    choices = [
        SlotChoice(
            parameter,
            item.score,
            item.value,
            Binding(parameter=parameter.name, origin="request", reference=item.span.text),
            item.span,
        )
        for parameter in tool.parameters
        for item in find_readings(required_needs[parameter.name], request, today)
        if parameter.required or (item.score >= min_optional_score and needs[parameter.name].kind not in UNFILLED_KINDS)
    ]
    ordered = sorted(choices, key=lambda c: (-c.score, not c.parameter.required, c.span.start if c.span else 0))
    return _assign(ordered, needs)


def get_default(parameter: Parameter, tool: ToolDoc) -> JsonValue:
    """Return a required parameter's default or its only allowed value; None if it has neither."""
    fallback = _find_fallback(parameter, tool, "")
    return None if fallback is None else fallback.value


def find_used_spans(tool: ToolDoc, request: str) -> tuple[Span, ...]:
    """Find the spans of a request that a call of the tool would take its values from."""
    needs = {parameter.name: derive_need(parameter) for parameter in tool.parameters}
    choices = _collect_choices(ArgumentsQuestion(request, tool, ()), needs, current_day(), frozenset())
    return tuple(choice.span for choice in _assign(choices, needs).values() if choice.span)


def _collect_choices(
    question: ArgumentsQuestion, needs: Mapping[str, ParameterNeed], today: date, avoided_values: AvoidedValues
) -> list[SlotChoice]:
    """Collect the possible values of all parameters from the request and earlier results, strongest first."""
    choices: list[SlotChoice] = []
    avoided_names = {name for name, _ in avoided_values}
    for parameter in question.tool.parameters:
        need = needs[parameter.name]
        readings = find_readings(need, question.request, today, lenient=parameter.name in avoided_names)
        is_decided = need.kind in UNFILLED_KINDS or is_user_decision(need, question.tool, is_stated=bool(readings))
        for item in readings:
            if (parameter.name, str(item.value)) in avoided_values:
                continue
            binding = Binding(parameter=parameter.name, origin="request", reference=item.span.text)
            choices.append(SlotChoice(parameter, item.score, item.value, binding, item.span))
        if parameter.required and not is_decided:
            for value in find_response_values(parameter, need, question.tool, question.request, question.earlier):
                binding = Binding(parameter=parameter.name, origin="step", reference=value.reference)
                choices.append(SlotChoice(parameter, value.score, value.value, binding))
    return sorted(choices, key=lambda c: (-c.score, not c.parameter.required, c.span.start if c.span else 0))


def _assign(choices: Sequence[SlotChoice], needs: Mapping[str, ParameterNeed]) -> dict[str, SlotChoice]:
    """Assign each parameter its strongest value.

    In a first round each span serves one parameter. In the second, required parameters that are still open may reuse a
    span that fits them well.
    """
    bound: dict[str, SlotChoice] = {}
    used: list[tuple[Span, ParameterNeed]] = []
    # First every span serves one parameter. Then required parameters may reuse a span that fits them well.
    for is_second_round in (False, True):
        for choice in choices:
            name = choice.parameter.name
            if name in bound or (
                is_second_round and (not choice.parameter.required or choice.score < _MIN_REUSE_SCORE)
            ):
                continue
            if choice.span is not None and not is_second_round and _is_used(choice.span, needs[name], used):
                continue
            if _is_at_other_end(choice, needs, bound):
                continue
            bound[name] = choice
            if choice.span is not None:
                used.append((choice.span, needs[name]))
    return bound


def _is_at_other_end(choice: SlotChoice, needs: Mapping[str, ParameterNeed], bound: Mapping[str, SlotChoice]) -> bool:
    """Return whether the other end of a pair has this value already: nothing is converted from a unit to itself."""
    need = needs[choice.parameter.name]
    return bool(need.role) and any(
        other.value == choice.value and needs[name].kind == need.kind and needs[name].role not in ("", need.role)
        for name, other in bound.items()
    )


def _is_used(span: Span, need: ParameterNeed, used: Sequence[tuple[Span, ParameterNeed]]) -> bool:
    """Return whether another parameter has taken the span; a pair of coordinates serves both its halves."""
    halves = {"latitude", "longitude"}
    return any(
        span.overlaps(other) and not (span.kind == other.kind == "coordinates" and {need.kind, owner.kind} == halves)
        for other, owner in used
    )


def _find_fallback(parameter: Parameter, tool: ToolDoc, request: str) -> SlotChoice | None:
    """Find a required parameter's default, its only allowed value, or, for a free query, the request itself.

    Catalogues often put an example where the default belongs, hence the origin ``default`` in the provenance. For the
    same reason no default fills a call that changes something: it might delete somebody else's appointment.
    """
    if not parameter.required:
        return None
    if tool.safe and parameter.default is not None and parameter.default != "":
        binding = Binding(parameter=parameter.name, origin="default", reference="the document's default")
        return SlotChoice(parameter, 0.0, parameter.default, binding)
    if len(parameter.enum) == 1:
        binding = Binding(parameter=parameter.name, origin="default", reference="the only allowed value")
        return SlotChoice(parameter, 0.0, parameter.enum[0], binding)
    if (
        parameter.type == "string"
        and not parameter.enum
        and parameter.name.lower() in _FREE_QUERY_NAMES
        and request.strip()
        and not any(flow.count > 1 for flow in parameter.flows)  # recorded calls took it from an answer
        and not derive_need(parameter).description_words & _PLACE_WORDS
    ):
        binding = Binding(parameter=parameter.name, origin="request", reference=WHOLE_REQUEST)
        return SlotChoice(parameter, 0.0, request.strip(), binding)
    return None
