"""Steps of a finished run, read from its events: successful calls, the origin of their values, and what may vary."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.plans.arguments import FIXED
from agent.plans.json_place import ITEM, places, value_at
from agent.plans.list_items import found_again
from agent.program_trace import ProgramTrace
from agent.programs.analysis.constants import NotConstantError
from agent.programs.analysis.flow import Site
from agent.programs.analysis.straight_text import StraightText
from agent.programs.bindings import words_of
from agent.step_numbers import renumbered
from agent.transcript import Transcript
from domain.errors import NotLinearError
from domain.event import EventRecord
from domain.plan import CORRECTED, Binding, StepResult
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.source_text import Expression
from domain.tool import Parameter, ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Offered:
    """A value that may be different next time; values with the same name are one parameter."""

    name: str
    step: int
    """Number of the step, from 1."""
    parameter: str
    value: JsonValue
    said: str = ""
    """Words of the request that the value came from, if it did."""


def drawn(
    records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc] | None = None
) -> tuple[PlanDocument, list[Offered]]:
    """Return a run's steps, and the values that came from the request, an earlier run or a person.

    Without a successful call there are no steps. Without ``docs``, items of lists are identified by index only
    (:func:`found_again`), and equal words of the request are taken for the same value, whatever the parameters'
    schemas.

    Raises:
        NotLinearError: a program did something that steps cannot express.
    """
    transcript, known = Transcript.of(records), docs or {}
    results = {number: result for number, result in _steps(transcript).items() if result.status == "ok"}
    place = {number: at for at, number in enumerate(results, start=1)}
    steps: list[PlannedStep] = []
    offered: list[Offered] = []
    for at, result in enumerate(results.values(), start=1):
        takes = {one.parameter: take for one in result.provenance if (take := _take(one, result, results, place))}
        arguments = {name: value for name, value in result.arguments.items() if name not in takes}
        steps.append(PlannedStep(tool=result.tool, arguments=arguments, takes=takes))
        for binding in result.provenance:
            if binding.parameter in arguments and _may_differ(binding):
                value = arguments[binding.parameter]
                said = binding.reference if binding.origin == "request" else ""
                one = Offered("", at, binding.parameter, value, said)
                offered.append(replace(one, name=_name(one, offered, steps, known)))
    document = PlanDocument(steps=tuple(steps))
    return found_again(document, tuple(results.values()), known, transcript.request), offered


def _steps(transcript: Transcript) -> dict[int, StepResult]:
    """Return the results of a run's calls, those of programs with the origin of their values."""
    steps = transcript.steps
    for one in transcript.walked:
        if one.programs.last is not None and one.sites:
            numbers = transcript.numbers[one.number]
            told = _as_steps(one.programs.last, transcript.request)
            steps |= {numbers[step]: renumbered(result, numbers) for step, result in told.items() if step in one.steps}
    return steps


def _take(
    binding: Binding, result: StepResult, results: Mapping[int, StepResult], place: Mapping[int, int]
) -> Take | None:
    """Return the place that a value is taken from; None if it came from elsewhere or the value there is another one."""
    step, _, field = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in results:
        return None
    there, value = value_at(results[int(step)].response, field), result.arguments.get(binding.parameter)
    same = there is not None and (there == value or (not isinstance(there, (dict, list)) and str(there) == str(value)))
    return Take(step=place[int(step)], field=field) if same else None


def _may_differ(binding: Binding) -> bool:
    """Return True if a value came from the request, an earlier run or a person."""
    if binding.origin == "step":
        return binding.reference.startswith("earlier.")
    return binding.origin == "request" or (binding.origin == "user" and binding.reference in (FIXED, CORRECTED))


def _name(one: Offered, taken: Sequence[Offered], steps: Sequence[PlannedStep], docs: Mapping[ToolId, ToolDoc]) -> str:
    """Return a name for a value: its parameter's, shared by values from the same words if their schemas agree."""
    for other in (other for other in taken if one.said and other.parameter == one.parameter):
        same = (other.said, other.value) == (one.said, one.value)
        mine, theirs = (_own(docs.get(steps[at - 1].tool), one.parameter) for at in (one.step, other.step))
        if same and (mine is None or theirs is None or value_schema(mine) == value_schema(theirs)):
            return other.name
    return f"{one.parameter}_{one.step}" if any(other.name == one.parameter for other in taken) else one.parameter


def _own(tool: ToolDoc | None, name: str) -> Parameter | None:
    return next((one for one in tool.parameters if one.name == name), None) if tool else None


def _as_steps(trace: ProgramTrace, request: str) -> dict[int, StepResult]:
    """Return the results of a program's calls by step number, each with the origin of its values.

    The bindings have the form that those of a graph search have. Repeated, conditional or computed calls cannot be
    expressed as steps.

    Raises:
        NotLinearError: steps cannot express what the program does; the message names the line.
    """
    try:
        reading = StraightText(trace.cells, answered=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotLinearError("the program of this run can no longer be read as steps; ask anew") from error
    often = Counter(site for site, _ in trace.by_site)
    made = dict(zip((site for site, _ in trace.by_site), sorted(trace.calls), strict=True))
    found: dict[int, StepResult] = {}
    for site, result in trace.by_site:
        if site not in reading.calls or often[site] > 1:
            raise _not_linear(reading, site, "makes its calls in a loop, or only where something is so")
        bindings = tuple(_bindings(reading, trace, site, made, request))
        found[made[site]] = result.model_copy(update={"provenance": bindings})
    return found


def _bindings(
    reading: StraightText, trace: ProgramTrace, site: Site, made: Mapping[Site, int], request: str
) -> Iterator[Binding]:
    """Yield the origin of each argument: a field of an answer, words of the request, or else a constant."""
    result, told = trace.calls[made[site]][1], reading.arguments(site)
    for parameter, expression in told:
        value, place = result.arguments.get(parameter), reading.place_of(expression)
        if value is None:
            continue  # it was left out
        # The value that was sent differs from what the program gave: a person corrected it.
        if value != result.wanted.get(parameter):
            yield Binding(parameter=parameter, origin="user", reference=CORRECTED)
            continue
        if place is not None and not isinstance(place[0], int) and place[0] in made:
            step = made[place[0]]
            field = _field_of(value, trace.calls[step][1].response, place[1])
            if field is None:
                raise _not_linear(reading, site, f"takes {parameter} from what no answer holds as such")
            yield Binding(parameter=parameter, origin="step", reference=f"{step}.{field}")
        elif place is not None:
            yield from (one for one in result.provenance if one.parameter == parameter)
        else:
            yield _fixed(reading, site, parameter, expression, value, request)
    named = {parameter for parameter, _ in told}
    yield from (one for one in result.provenance if one.parameter not in named)


def _fixed(
    reading: StraightText, site: Site, parameter: str, expression: Expression, value: JsonValue, request: str
) -> Binding:
    """Return the origin of a value that is a constant of the program or was given to it."""
    words, given = words_of(value, request), reading.given(expression)
    if given in ("", "today"):
        try:
            reading.fixed(expression)
        except NotConstantError:
            raise _not_linear(reading, site, f"computes or chooses the value of {parameter}") from None
    if words:
        return Binding(parameter=parameter, origin="request", reference=words)
    return Binding(parameter=parameter, origin="user" if given else "default", reference=FIXED if given else "")


def _field_of(value: JsonValue, response: str, field: str) -> str | None:
    """Return the place in a response that a value was taken from; None if it is not there."""
    found = places(response, field) if ITEM in field else ((field, value_at(response, field)),)
    return next((place for place, there in found if _same(there, value)), None)


def _same(there: JsonValue, value: JsonValue) -> bool:
    """Return True if two values are equal, or equal as texts where the first is a single value."""
    return there is not None and (there == value or (not isinstance(there, (dict, list)) and str(there) == str(value)))


def _not_linear(reading: StraightText, site: Site, what: str) -> NotLinearError:
    line = f"line {reading.line_of(site)} of its program"
    return NotLinearError(f"this run cannot be told as steps: {line} {what}. Run it again as it is, or ask anew")
