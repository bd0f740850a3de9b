"""The plan that a run has carried out, out of its events: the calls that succeeded, with what each took from another, and what may differ next time."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.plans.arguments import FIXED
from agent.plans.json_place import value_at
from agent.plans.list_items import found_again
from agent.plans.straight_program import as_steps
from agent.step_numbers import renumbered
from agent.transcript import Transcript
from domain.event import EventRecord
from domain.plan import CORRECTED, Binding, StepResult
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import Parameter, ToolDoc, ToolId


@dataclass(frozen=True, slots=True)
class Offered:
    """A value that may be another one next time; those of one name are one. ``step`` counts from 1; ``said``: the words of the request that it came from, if it did,
    ``start``: where they are, if that can be told.
    """

    name: str
    step: int
    parameter: str
    value: JsonValue
    said: str = ""


def drawn(
    records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc] | None = None
) -> tuple[PlanDocument, list[Offered]]:
    """The document, and the values that came from the request, from an earlier one or from a person. No steps where no call succeeded.

    ``docs``: of the tools, as far as there are any; without them an item of a list is named by its place only (:func:`found_again`), and
    nobody knows which of the same words in a request a value came from.

    Raises:
        NotLinearError: a program did what steps cannot say.
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
    """The steps of a run, those of programs with where their values come from."""
    steps = transcript.steps
    for one in transcript.walked:
        if one.programs.last is not None and one.sites:
            numbers = transcript.numbers[one.number]
            told = as_steps(one.programs.last, transcript.request)
            steps |= {numbers[step]: renumbered(result, numbers) for step, result in told.items() if step in one.steps}
    return steps


def _take(
    binding: Binding, result: StepResult, results: Mapping[int, StepResult], place: Mapping[int, int]
) -> Take | None:
    """Where a value is to be taken from; None where it stands: it came from elsewhere, or is not what stands at that place."""
    step, _, field = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in results:
        return None
    there, value = value_at(results[int(step)].response, field), result.arguments.get(binding.parameter)
    same = there is not None and (there == value or (not isinstance(there, (dict, list)) and str(there) == str(value)))
    return Take(step=place[int(step)], field=field) if same else None


def _may_differ(binding: Binding) -> bool:
    if binding.origin == "step":
        return binding.reference.startswith("earlier.")
    return binding.origin == "request" or (binding.origin == "user" and binding.reference in (FIXED, CORRECTED))


def _name(one: Offered, taken: Sequence[Offered], steps: Sequence[PlannedStep], docs: Mapping[ToolId, ToolDoc]) -> str:
    """Its parameter's, which it shares with what came from the same words of the request and may be the same."""
    for other in (other for other in taken if one.said and other.parameter == one.parameter):
        same = (other.said, other.value) == (one.said, one.value)
        mine, theirs = (_own(docs.get(steps[at - 1].tool), one.parameter) for at in (one.step, other.step))
        if same and (mine is None or theirs is None or value_schema(mine) == value_schema(theirs)):
            return other.name
    return f"{one.parameter}_{one.step}" if any(other.name == one.parameter for other in taken) else one.parameter


def _own(tool: ToolDoc | None, name: str) -> Parameter | None:
    return next((one for one in tool.parameters if one.name == name), None) if tool else None
