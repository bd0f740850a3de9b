"""Problems that keep a plan from being carried out, as unknown tools, unfit values and paths that lead nowhere."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from agent.execution.identity import Key, key_of
from agent.execution.validation import checked
from agent.offer.tool_facts import Evidence
from agent.plans.json_place import any_item
from agent.search.state import Path
from agent.text import clean
from domain.errors import UsageError
from domain.plan_document import PlanDocument, PlannedStep, Take
from domain.tool import Parameter, ToolDoc, ToolId
from graph.response_fields import OutputField, output_fields


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """A problem of a plan."""

    step: int | None
    """Number of the step, from 1; None if it is about the whole plan."""
    parameter: str | None
    """Parameter of the step's tool, or of the plan if there is no step."""
    message: str
    """One sentence for people."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts that a plan is checked against."""

    docs: Mapping[ToolId, ToolDoc] | None
    """Documents of the tools that the plan names, as far as there are any; None if the tools are not known."""
    given: Sequence[ToolId] = ()
    """Tools of the steps before the plan's own."""
    depth: int = 50
    """Maximum number of steps."""
    template: bool = False
    """The plan may have parameters, which get values later."""


async def known(document: PlanDocument, evidence: Evidence) -> Path:
    """Load the tools of a plan and return its path.

    Raises:
        UsageError: the plan has no steps, or a tool that is not indexed.
    """
    path = tuple(step.tool for step in document.steps)
    if not path:
        raise UsageError("a plan needs at least one step")
    await evidence.read(path)
    unknown = [clean(tool, 120) for tool in dict.fromkeys(path) if not evidence.has(tool)]
    if unknown:
        raise UsageError(f"no such tool is indexed: {', '.join(unknown)}; take it out of the plan, or index it")
    return path


MOST_PROBLEMS = 100
"""Maximum problems reported of a plan."""


def problems(document: PlanDocument, around: Surroundings) -> tuple[PlanProblem, ...]:
    """Return the problems of a plan, at most ``MOST_PROBLEMS``.

    Values left open are no problem: they are found when their step is reached.

    The work grows with the plan's size and belongs in a thread, not in the event loop. A plan with too many steps
    is not examined.
    """
    if len(document.steps) > around.depth:
        said = f"A plan has at most {around.depth} steps; this one has {len(document.steps)}."
        return (PlanProblem(None, None, said),)
    found = chain(_whole(document, around), _parameters(document, around), _steps(document, around))
    return tuple(islice(found, MOST_PROBLEMS))


def _steps(document: PlanDocument, around: Surroundings) -> Iterator[PlanProblem]:
    """Yield problems of single steps."""
    path = [*around.given, *(step.tool for step in document.steps)]
    for number, step in enumerate(document.steps, start=1):
        tool = (around.docs or {}).get(step.tool)
        early = _early(number, step, around)
        if tool is None and around.docs is None:
            yield from (PlanProblem(number, name, _late(take)) for name, take in early.items())
        elif tool is None:
            yield PlanProblem(number, None, f"There is no tool {clean(step.tool, 120)}.")
        else:
            yield from (PlanProblem(number, name, said) for name, said in _step(step, tool))
            yield from (PlanProblem(number, name, said) for name, said in _takes(step, tool, early, path, around))


def _whole(document: PlanDocument, around: Surroundings) -> Iterator[PlanProblem]:
    """Yield problems of the plan as a whole."""
    if not document.steps:
        yield PlanProblem(None, None, "A plan needs at least one step; deny it if nothing is to be called.")
    changes: Counter[Key] = Counter()
    for number, step in enumerate(document.steps, start=1):
        tool = (around.docs or {}).get(step.tool)
        if tool is not None and not tool.safe and not step.takes and not step.named:
            changes[key := key_of(step.tool, step.arguments)] += 1
            if changes[key] == 2:
                yield PlanProblem(number, None, "An earlier step makes the same change; a run makes it once.")


def _parameters(document: PlanDocument, around: Surroundings) -> Iterator[PlanProblem]:
    """Yield problems of the plan's own parameters and of the names that its steps use."""
    used: set[str] = set()
    for number, step in enumerate(document.steps, start=1):
        for name, parameter in step.named.items():
            used.add(parameter)
            if parameter not in document.parameters:
                yield PlanProblem(number, name, f"The plan has no parameter {clean(parameter, 80)}.")
    for parameter in document.parameters:
        told = clean(parameter, 80)
        if not around.template:
            said = f"The plan of a run gets no values for parameters: put that of {told} in its places, or make it a template."
            yield PlanProblem(None, parameter, said)
        elif parameter not in used:
            said = f"No step uses the plan's parameter {told}: name it in a step, or take it out."
            yield PlanProblem(None, parameter, said)


def _step(step: PlannedStep, tool: ToolDoc) -> Iterator[tuple[str | None, str]]:
    """Yield problems of the parameter names and fixed values of a step."""
    own = {parameter.name: parameter for parameter in tool.parameters}
    told = Counter((*step.arguments, *step.takes, *step.named))
    for name, times in told.items():
        if name not in own:
            yield name, f"{clean(tool.api, 80)} has no parameter {clean(name, 80)}; it has: {', '.join(own) or 'none'}."
        elif times > 1:
            yield (
                name,
                f"{clean(name, 80)} has two values: keep one of the value, the earlier step and the plan's parameter.",
            )
    fixed = {name: value for name, value in step.arguments.items() if name in own}
    with_values = tool.model_copy(update={"parameters": tuple(own[name] for name in fixed)})
    yield from ((name or None, said) for name, said in checked(with_values, fixed)[1])


def _takes(
    step: PlannedStep, tool: ToolDoc, early: Mapping[str, Take], path: Sequence[ToolId], around: Surroundings
) -> Iterator[tuple[str, str]]:
    """Yield problems of values taken from other steps. ``path`` holds all tools, those of the given steps first."""
    own = {parameter.name: parameter for parameter in tool.parameters}
    for name, take in step.takes.items():
        if name in early:
            yield name, _late(take)
        elif name in own and (producer := (around.docs or {}).get(path[take.step - 1])) is not None:
            said = _unfit(take, own[name], producer)
            if said:
                yield name, said


def _early(number: int, step: PlannedStep, around: Surroundings) -> dict[str, Take]:
    """Return the values that a step takes from one that does not run before it."""
    return {name: take for name, take in step.takes.items() if take.step >= len(around.given) + number}


def _late(take: Take) -> str:
    return f"Step {take.step} is not made before this one."


def _unfit(take: Take, parameter: Parameter, producer: ToolDoc) -> str:
    """Return the reason why a documented field cannot fill a parameter; empty if it can, or nothing is documented."""
    fields, path = output_fields(producer), any_item(take.field)
    if not fields or not path or any(flow.source == producer.id and flow.field == path for flow in parameter.flows):
        return ""
    same = next((field for field in fields if field.path == path), None)
    inside = any(field.path.startswith((f"{path}.", f"{path}[")) for field in fields)
    if same is None and not inside:
        told = ", ".join(field.path for field in fields[:8])
        return f"The answer of step {take.step} ({clean(producer.api, 80)}) has no {clean(path, 80)}; it has: {clean(told, 300)}."
    if inside and parameter.type not in ("array", "object") and parameter.json_schema is None:
        return f"{clean(path, 80)} of step {take.step} is not a single value, but {clean(parameter.name, 80)} is: name a field of it."
    return _other_type(same, parameter, take) if same is not None else ""


def _other_type(field: OutputField, parameter: Parameter, take: Take) -> str:
    """Return a complaint if a number would fill a boolean parameter, or the reverse; texts may hold either."""
    kinds = {"number": "number", "integer": "number", "boolean": "boolean"}
    given, wanted = kinds.get(field.type or ""), kinds.get(parameter.type)
    if parameter.json_schema is not None or given is None or wanted is None or given == wanted:
        return ""
    return f"{clean(field.path, 80)} of step {take.step} is a {field.type}, but {clean(parameter.name, 80)} is a {parameter.type}."
