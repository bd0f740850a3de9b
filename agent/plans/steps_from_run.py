"""Read the steps of a finished run from its events: its successful calls, and where their values came from."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.plans.json_paths import (
    INDEX_PATTERN,
    NAMED_ITEM,
    expand_places,
    find_named_item,
    generalize_indices,
    get_value_at,
)
from agent.plans.planned_arguments import PLAN_REFERENCE, resolve_arguments
from agent.policy.protocol import ArgumentsQuestion
from agent.programs.analysis.constants import NotConstantError
from agent.programs.analysis.linear_program import LinearProgram
from agent.programs.analysis.program_flow import Site
from agent.programs.argument_bindings import match_request_words
from agent.step_numbers import translate_step_references
from agent.transcript import ProgramTrace, RunTranscript
from domain.errors import NotLinearError
from domain.event import EventRecord
from domain.plan import CORRECTED, Binding, PlanDocument, PlannedStep, StepResult, Take
from domain.source_text import SourceExpression
from domain.tool import Parameter, ToolDoc, ToolId

_ListPath = tuple[int, str]
"""A list that steps take from: the number of the step whose response has it, and its path there."""


def generalize_list_items(
    document: PlanDocument, results: Sequence[StepResult], docs: Mapping[ToolId, ToolDoc], request: str
) -> PlanDocument:
    """Return the document with open indices (``[]``) where the words of the request lead to the same items again.

    An index is kept if the document takes several items of the list, or if the request does not identify the item:
    equal responses must lead to equal calls. All takes from one list change together. ``results``: those of the steps.
    """
    open_lists = {own for own, takes in _group_takes_by_list(document).items() if _is_single_item(takes)}
    for at, step in enumerate(document.steps):
        # Each step is resolved with its open indices; a list that fails in one step keeps its indices in all.
        open_lists -= _find_changed_lists(_generalize_takes(step, open_lists), step, results[: at + 1], docs, request)
    return document.model_copy(update={"steps": tuple(_generalize_takes(step, open_lists) for step in document.steps)})


def _group_takes_by_list(document: PlanDocument) -> dict[_ListPath, list[Take]]:
    """Group the takes that have an index by the list that they take from."""
    takes_by_list: dict[_ListPath, list[Take]] = {}
    for step in document.steps:
        for take in step.takes.values():
            if INDEX_PATTERN.search(take.field):
                takes_by_list.setdefault(_get_list_path(take), []).append(take)
    return takes_by_list


def _get_list_path(take: Take) -> _ListPath:
    return take.step, take.field.partition("[")[0]


def _is_single_item(takes: Sequence[Take]) -> bool:
    """Return True if these take from a single item of each list, including nested lists."""
    items = {item for take in takes for item in _iterate_items(take.field)}
    return len(items) == len({generalize_indices(item) for item in items})


def _iterate_items(field: str) -> Iterator[str]:
    """Yield the prefix of a path up to each of its indices."""
    return (field[: index.end()] for index in INDEX_PATTERN.finditer(field))


def _generalize_takes(step: PlannedStep, lists: set[_ListPath]) -> PlannedStep:
    """Return a step with open indices for takes from these lists."""
    takes = {
        name: take.model_copy(update={"field": generalize_indices(take.field)})
        if _get_list_path(take) in lists
        else take
        for name, take in step.takes.items()
    }
    return step.model_copy(update={"takes": takes})


def _find_changed_lists(
    generalized: PlannedStep,
    step: PlannedStep,
    results: Sequence[StepResult],
    docs: Mapping[ToolId, ToolDoc],
    request: str,
) -> set[_ListPath]:
    """Return the lists from which a step with open indices would take other values.

    ``results``: those of all steps up to this one.
    """
    open_lists = {_get_list_path(take) for take in generalized.takes.values() if NAMED_ITEM in take.field}
    *before, own_result = results
    if not open_lists or any(result.tool not in docs for result in results):
        return open_lists
    question = ArgumentsQuestion(request, docs[step.tool], tuple((docs[result.tool], result) for result in before))
    planned = resolve_arguments(generalized, question)
    references = {binding.parameter: binding.reference for binding in planned.provenance}
    changed_lists = {
        _get_list_path(take)
        for name, take in step.takes.items()
        if references.get(name) != f"{take.step}.{take.field}".rstrip(".")
        or str(planned.values[name]) != str(own_result.arguments.get(name))
    }
    return open_lists if _may_change_unnamed(generalized, question) else changed_lists & open_lists


def _may_change_unnamed(generalized: PlannedStep, question: ArgumentsQuestion) -> bool:
    """Return True if a step with side effects takes from an item that the request does not name.

    With an open index, a later run might then change another thing.
    """
    if question.tool.safe:
        return False
    responses = [question.earlier[take.step - 1][1].response for take in generalized.takes.values()]
    open_takes = [
        (text, take)
        for text, take in zip(responses, generalized.takes.values(), strict=True)
        if NAMED_ITEM in take.field
    ]
    return any(
        find_named_item(text, take.field, question.request, only_named=True) is None for text, take in open_takes
    )


@dataclass(frozen=True, slots=True)
class ParameterCandidate:
    """A value that may become a parameter of the plan.

    Candidates with the same name become one parameter.
    """

    name: str
    """Name of the plan's parameter."""
    step: int
    """Number of the step, from 1."""
    parameter: str
    """Name of the tool's parameter."""
    value: JsonValue
    request_words: str = ""
    """Words of the request that the value came from; empty if it came from elsewhere."""


def build_steps(
    records: Sequence[EventRecord], docs: Mapping[ToolId, ToolDoc] | None = None
) -> tuple[PlanDocument, list[ParameterCandidate]]:
    """Return a run's successful calls as steps, and the values that came from the request, an earlier run or a person.

    Without ``docs``, indices of lists are kept, and equal words of the request give one parameter, whatever the JSON
    Schemas of the tools' parameters are.

    Raises:
        NotLinearError: a program did something that steps cannot express.
    """
    transcript, known_docs = RunTranscript.from_records(records), docs or {}
    results = {number: result for number, result in _collect_results(transcript).items() if result.status == "ok"}
    positions = {number: at for at, number in enumerate(results, start=1)}
    steps: list[PlannedStep] = []
    candidates: list[ParameterCandidate] = []
    for at, result in enumerate(results.values(), start=1):
        takes = {
            entry.parameter: take
            for entry in result.provenance
            if (take := _build_take(entry, result, results, positions))
        }
        arguments = {name: value for name, value in result.arguments.items() if name not in takes}
        steps.append(PlannedStep(tool=result.tool, arguments=arguments, takes=takes))
        for binding in result.provenance:
            if binding.parameter in arguments and _may_differ(binding):
                value = arguments[binding.parameter]
                words = binding.reference if binding.origin == "request" else ""
                entry = ParameterCandidate("", at, binding.parameter, value, words)
                candidates.append(replace(entry, name=_choose_name(entry, candidates, steps, known_docs)))
    document = PlanDocument(steps=tuple(steps))
    return generalize_list_items(document, tuple(results.values()), known_docs, transcript.request), candidates


def _collect_results(transcript: RunTranscript) -> dict[int, StepResult]:
    """Return the results of a run's calls by number.

    For those of programs, the origins of arguments are added.
    """
    steps = transcript.steps
    for subtask in transcript.ordered_subtasks:
        if subtask.programs.last is not None and subtask.sites:
            numbers = transcript.step_numbers[subtask.number]
            traced = _attribute_results(subtask.programs.last, transcript.request)
            steps |= {
                numbers[step]: translate_step_references(result, numbers)
                for step, result in traced.items()
                if step in subtask.steps
            }
    return steps


def _build_take(
    binding: Binding, result: StepResult, results: Mapping[int, StepResult], positions: Mapping[int, int]
) -> Take | None:
    """Return the field that an argument is taken from; None if it is not the value of one."""
    step, _, field = binding.reference.partition(".")
    if binding.origin != "step" or not step.isdigit() or int(step) not in results:
        return None
    field_value, value = get_value_at(results[int(step)].response, field), result.arguments.get(binding.parameter)
    same = field_value is not None and (
        field_value == value or (not isinstance(field_value, (dict, list)) and str(field_value) == str(value))
    )
    return Take(step=positions[int(step)], field=field) if same else None


def _may_differ(binding: Binding) -> bool:
    """Return True if a value came from the request, an earlier run or a person."""
    if binding.origin == "step":
        return binding.reference.startswith("earlier.")
    return binding.origin == "request" or (
        binding.origin == "user" and binding.reference in (PLAN_REFERENCE, CORRECTED)
    )


def _choose_name(
    candidate: ParameterCandidate,
    earlier_candidates: Sequence[ParameterCandidate],
    steps: Sequence[PlannedStep],
    docs: Mapping[ToolId, ToolDoc],
) -> str:
    """Return the tool parameter's name.

    Values from the same words share one, if their JSON Schemas agree.
    """
    for other in (
        other for other in earlier_candidates if candidate.request_words and other.parameter == candidate.parameter
    ):
        is_same_value = (other.request_words, other.value) == (candidate.request_words, candidate.value)
        mine, theirs = (
            _find_tool_parameter(docs.get(steps[at - 1].tool), candidate.parameter)
            for at in (candidate.step, other.step)
        )
        if is_same_value and (mine is None or theirs is None or build_value_schema(mine) == build_value_schema(theirs)):
            return other.name
    return (
        f"{candidate.parameter}_{candidate.step}"
        if any(other.name == candidate.parameter for other in earlier_candidates)
        else candidate.parameter
    )


def _find_tool_parameter(tool: ToolDoc | None, name: str) -> Parameter | None:
    return next((parameter for parameter in tool.parameters if parameter.name == name), None) if tool else None


def _attribute_results(trace: ProgramTrace, request: str) -> dict[int, StepResult]:
    """Return the results of a program's calls by step number, with bindings as in graph search.

    Repeated or conditional calls and computed arguments cannot be expressed as steps.

    Raises:
        NotLinearError: steps cannot express what the program does; the message names the line.
    """
    try:
        linear_program = LinearProgram(trace.cells, has_run=True)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise NotLinearError("the program of this run can no longer be read as steps; ask anew") from error
    counts = Counter(site for site, _ in trace.calls_with_sites)
    numbers = dict(zip((site for site, _ in trace.calls_with_sites), sorted(trace.calls), strict=True))
    attributed: dict[int, StepResult] = {}
    for site, result in trace.calls_with_sites:
        if site not in linear_program.calls or counts[site] > 1:
            raise _build_run_error(linear_program, site, "makes its calls in a loop, or only where something is so")
        bindings = tuple(_build_bindings(linear_program, trace, site, numbers, request))
        attributed[numbers[site]] = result.model_copy(update={"provenance": bindings})
    return attributed


def _build_bindings(
    linear_program: LinearProgram, trace: ProgramTrace, site: Site, numbers: Mapping[Site, int], request: str
) -> Iterator[Binding]:
    """Yield the origin of each argument: a correction, a field of a response, the request, or a constant."""
    result, call_arguments = trace.calls[numbers[site]][1], linear_program.list_arguments(site)
    for parameter, expression in call_arguments:
        value, place = result.arguments.get(parameter), linear_program.find_answer_place(expression)
        if value is None:
            continue  # the argument was left out
        # If the value that was sent is not the program's, a person has corrected it.
        if value != result.requested_arguments.get(parameter):
            yield Binding(parameter=parameter, origin="user", reference=CORRECTED)
            continue
        if place is not None and not isinstance(place[0], int) and place[0] in numbers:
            step = numbers[place[0]]
            field = _find_answer_field(value, trace.calls[step][1].response, place[1])
            if field is None:
                raise _build_run_error(linear_program, site, f"takes {parameter} from what no answer holds as such")
            yield Binding(parameter=parameter, origin="step", reference=f"{step}.{field}")
        elif place is not None:
            yield from (binding for binding in result.provenance if binding.parameter == parameter)
        else:
            yield _bind_constant(linear_program, site, parameter, expression, value, request)
    named_parameters = {parameter for parameter, _ in call_arguments}
    yield from (binding for binding in result.provenance if binding.parameter not in named_parameters)


def _bind_constant(
    linear_program: LinearProgram,
    site: Site,
    parameter: str,
    expression: SourceExpression,
    value: JsonValue,
    request: str,
) -> Binding:
    """Return the origin of a value that is a constant of the program or a variable that was given to it."""
    words, given_name = match_request_words(value, request), linear_program.find_external_name(expression)
    if given_name in ("", "today"):
        try:
            linear_program.read_constant(expression)
        except NotConstantError:
            raise _build_run_error(linear_program, site, f"computes or chooses the value of {parameter}") from None
    if words:
        return Binding(parameter=parameter, origin="request", reference=words)
    return Binding(
        parameter=parameter, origin="user" if given_name else "default", reference=PLAN_REFERENCE if given_name else ""
    )


def _find_answer_field(value: JsonValue, response: str, field: str) -> str | None:
    """Return the path at which a response has a value.

    The result is None if it does not. ``field`` may have open indices.
    """
    candidates = expand_places(response, field) if NAMED_ITEM in field else ((field, get_value_at(response, field)),)
    return next((place for place, field_value in candidates if _is_same(field_value, value)), None)


def _is_same(field_value: JsonValue, value: JsonValue) -> bool:
    """Return True if two values are equal; a single value and the same value as text are equal as well."""
    return field_value is not None and (
        field_value == value or (not isinstance(field_value, (dict, list)) and str(field_value) == str(value))
    )


def _build_run_error(linear_program: LinearProgram, site: Site, reason: str) -> NotLinearError:
    line = f"line {linear_program.find_line(site)} of its program"
    return NotLinearError(f"this run cannot be told as steps: {line} {reason}. Run it again as it is, or ask anew")
