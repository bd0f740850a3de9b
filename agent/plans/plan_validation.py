"""Find problems of a plan given as steps: unknown tools, invalid values, paths that no response has."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from agent.execution.call_identity import CallKey, build_call_key
from agent.execution.validation import check_arguments
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.json_paths import generalize_indices
from agent.search.state import Path
from agent.text import clean_text
from domain.errors import UsageError
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import Parameter, ToolDoc, ToolId
from graph.response_fields import OutputField, output_fields


@dataclass(frozen=True, slots=True)
class PlanProblem:
    """A problem that keeps a plan from being carried out."""

    step: int | None
    """Number of the step, from 1; None if it is about the whole plan."""
    parameter: str | None
    """Parameter of the step's tool, or of the plan if there is no step."""
    message: str
    """One sentence for the person who edits the plan."""


@dataclass(frozen=True, slots=True)
class PlanCheckContext:
    """Facts against which a plan is checked."""

    docs: Mapping[ToolId, ToolDoc] | None
    """Documents of the plan's tools, as far as they are indexed; None if they were not looked up."""
    earlier_tools: Sequence[ToolId] = ()
    """Tools of the steps before the plan's own."""
    depth: int = 50
    """Maximum number of steps."""
    is_template: bool = False
    """The plan belongs to a template, so it may have parameters, which get values later."""


async def load_document_path(document: PlanDocument, evidence: ToolEvidence) -> Path:
    """Load the documents of the tools that a plan's steps call, and return the tools in order.

    Raises:
        UsageError: the plan has no steps, or a tool that is not indexed.
    """
    path = tuple(step.tool for step in document.steps)
    if not path:
        raise UsageError("a plan needs at least one step")
    await evidence.read(path)
    missing_tools = [clean_text(tool, 120) for tool in dict.fromkeys(path) if not evidence.has(tool)]
    if missing_tools:
        raise UsageError(f"no such tool is indexed: {', '.join(missing_tools)}; take it out of the plan, or index it")
    return path


MAX_PROBLEMS = 100
"""Maximum number of problems of a plan that are reported."""


def find_problems(document: PlanDocument, context: PlanCheckContext) -> tuple[PlanProblem, ...]:
    """Return the problems of a plan, at most ``MAX_PROBLEMS``.

    Values that are left open are no problem: they are found when their step is reached. A plan with too many steps
    gets no further checks. The work grows with the size of the plan, so call this in a thread, not in the event loop.
    """
    if len(document.steps) > context.depth:
        message = f"A plan has at most {context.depth} steps; this one has {len(document.steps)}."
        return (PlanProblem(None, None, message),)
    checks = chain(
        _check_whole_plan(document, context), _check_plan_parameters(document, context), _check_steps(document, context)
    )
    return tuple(islice(checks, MAX_PROBLEMS))


def _check_steps(document: PlanDocument, context: PlanCheckContext) -> Iterator[PlanProblem]:
    """Yield problems of single steps."""
    path = [*context.earlier_tools, *(step.tool for step in document.steps)]
    for number, step in enumerate(document.steps, start=1):
        tool = (context.docs or {}).get(step.tool)
        early_takes = _find_early_takes(number, step, context)
        if tool is None and context.docs is None:
            yield from (PlanProblem(number, name, _format_late_take(take)) for name, take in early_takes.items())
        elif tool is None:
            yield PlanProblem(number, None, f"There is no tool {clean_text(step.tool, 120)}.")
        else:
            yield from (PlanProblem(number, name, message) for name, message in _check_step(step, tool))
            yield from (
                PlanProblem(number, name, message)
                for name, message in _check_takes(step, tool, early_takes, path, context)
            )


def _check_whole_plan(document: PlanDocument, context: PlanCheckContext) -> Iterator[PlanProblem]:
    """Yield problems of the plan as a whole."""
    if not document.steps:
        yield PlanProblem(None, None, "A plan needs at least one step; deny it if nothing is to be called.")
    changes: Counter[CallKey] = Counter()
    for number, step in enumerate(document.steps, start=1):
        tool = (context.docs or {}).get(step.tool)
        if tool is not None and not tool.safe and not step.takes and not step.named:
            changes[key := build_call_key(step.tool, step.arguments)] += 1
            if changes[key] == 2:
                yield PlanProblem(number, None, "An earlier step makes the same change; a run makes it once.")


def _check_plan_parameters(document: PlanDocument, context: PlanCheckContext) -> Iterator[PlanProblem]:
    """Yield problems of the plan's own parameters and of the names that its steps use."""
    used_parameters: set[str] = set()
    for number, step in enumerate(document.steps, start=1):
        for name, parameter in step.named.items():
            used_parameters.add(parameter)
            if parameter not in document.parameters:
                yield PlanProblem(number, name, f"The plan has no parameter {clean_text(parameter, 80)}.")
    for parameter in document.parameters:
        shown_name = clean_text(parameter, 80)
        if not context.is_template:
            message = f"The plan of a run gets no values for parameters: put that of {shown_name} in its places, or make it a template."
            yield PlanProblem(None, parameter, message)
        elif parameter not in used_parameters:
            message = f"No step uses the plan's parameter {shown_name}: name it in a step, or take it out."
            yield PlanProblem(None, parameter, message)


def _check_step(step: PlannedStep, tool: ToolDoc) -> Iterator[tuple[str | None, str]]:
    """Yield problems of the parameter names and fixed values of a step."""
    parameters_by_name = {parameter.name: parameter for parameter in tool.parameters}
    name_counts = Counter((*step.arguments, *step.takes, *step.named))
    for name, times in name_counts.items():
        if name not in parameters_by_name:
            yield (
                name,
                f"{clean_text(tool.api, 80)} has no parameter {clean_text(name, 80)}; it has: {', '.join(parameters_by_name) or 'none'}.",
            )
        elif times > 1:
            yield (
                name,
                f"{clean_text(name, 80)} has two values: keep one of the value, the earlier step and the plan's parameter.",
            )
    fixed = {name: value for name, value in step.arguments.items() if name in parameters_by_name}
    with_values = tool.model_copy(update={"parameters": tuple(parameters_by_name[name] for name in fixed)})
    yield from ((name or None, message) for name, message in check_arguments(with_values, fixed)[1])


def _check_takes(
    step: PlannedStep, tool: ToolDoc, early_takes: Mapping[str, Take], path: Sequence[ToolId], context: PlanCheckContext
) -> Iterator[tuple[str, str]]:
    """Yield problems of values taken from other steps.

    ``early_takes``: values taken from steps that do not run before this one. ``path``: tools of all steps, earlier ones
    first.
    """
    parameters_by_name = {parameter.name: parameter for parameter in tool.parameters}
    for name, take in step.takes.items():
        if name in early_takes:
            yield name, _format_late_take(take)
        elif name in parameters_by_name and (producer := (context.docs or {}).get(path[take.step - 1])) is not None:
            message = _explain_unfit(take, parameters_by_name[name], producer)
            if message:
                yield name, message


def _find_early_takes(number: int, step: PlannedStep, context: PlanCheckContext) -> dict[str, Take]:
    """Return the values that a step takes from steps that do not run before it."""
    return {name: take for name, take in step.takes.items() if take.step >= len(context.earlier_tools) + number}


def _format_late_take(take: Take) -> str:
    return f"Step {take.step} is not made before this one."


def _explain_unfit(take: Take, parameter: Parameter, producer: ToolDoc) -> str:
    """Return the reason why a field cannot fill a parameter.

    The result is empty if it can, or if no fields are documented.
    """
    fields, path = output_fields(producer), generalize_indices(take.field)
    if not fields or not path or any(flow.source == producer.id and flow.field == path for flow in parameter.flows):
        return ""
    same = next((field for field in fields if field.path == path), None)
    inside = any(field.path.startswith((f"{path}.", f"{path}[")) for field in fields)
    if same is None and not inside:
        field_names = ", ".join(field.path for field in fields[:8])
        return f"The answer of step {take.step} ({clean_text(producer.api, 80)}) has no {clean_text(path, 80)}; it has: {clean_text(field_names, 300)}."
    if inside and parameter.type not in ("array", "object") and parameter.json_schema is None:
        return f"{clean_text(path, 80)} of step {take.step} is not a single value, but {clean_text(parameter.name, 80)} is: name a field of it."
    return _explain_type_mismatch(same, parameter, take) if same is not None else ""


def _explain_type_mismatch(field: OutputField, parameter: Parameter, take: Take) -> str:
    """Return a complaint if a number would fill a boolean parameter, or the reverse.

    Text may hold either.
    """
    kinds = {"number": "number", "integer": "number", "boolean": "boolean"}
    field_kind, parameter_kind = kinds.get(field.type or ""), kinds.get(parameter.type)
    if (
        parameter.json_schema is not None
        or field_kind is None
        or parameter_kind is None
        or field_kind == parameter_kind
    ):
        return ""
    return f"{clean_text(field.path, 80)} of step {take.step} is a {field.type}, but {clean_text(parameter.name, 80)} is a {parameter.type}."
