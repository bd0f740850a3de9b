"""The calls of a program as steps: of one that calls one thing after the other, each with fixed values or with fields of earlier answers.

What a program repeats, chooses or computes, no list of steps can say.
"""

from collections import Counter
from collections.abc import Iterator, Mapping

from pydantic.types import JsonValue

from agent.plans.arguments import FIXED
from agent.plans.json_place import ITEM, places, value_at
from agent.program_trace import ProgramTrace
from agent.programs.analysis.constants import NotConstantError
from agent.programs.analysis.flow import Site
from agent.programs.analysis.straight_text import StraightText
from agent.programs.bindings import words_of
from domain.errors import NotLinearError
from domain.plan import CORRECTED, Binding, StepResult
from domain.source_text import Expression


def as_steps(trace: ProgramTrace, request: str) -> dict[int, StepResult]:
    """The results of a program's calls by step, each with where its values come from, as a walk's have it.

    Raises:
        NotLinearError: steps cannot say what it does; the message says where.
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
    """Where each argument of a call comes from: a field of an answer, or words of the request; what stands nowhere else stays as it is."""
    result, told = trace.calls[made[site]][1], reading.arguments(site)
    for parameter, expression in told:
        value, place = result.arguments.get(parameter), reading.place_of(expression)
        if value is None:
            continue  # it was left out
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
    """Where a value is from that is a constant of the program, or was given to it."""
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
    """The place of a response that a value was taken from; None where it is not there."""
    found = places(response, field) if ITEM in field else ((field, value_at(response, field)),)
    return next((place for place, there in found if _same(there, value)), None)


def _same(there: JsonValue, value: JsonValue) -> bool:
    return there is not None and (there == value or (not isinstance(there, (dict, list)) and str(there) == str(value)))


def _not_linear(reading: StraightText, site: Site, what: str) -> NotLinearError:
    line = f"line {reading.line_of(site)} of its program"
    return NotLinearError(f"this run cannot be told as steps: {line} {what}. Run it again as it is, or ask anew")
