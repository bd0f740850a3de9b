"""Outcome of a run, and the lines of its answer that code writes.

The outcome is judged by the calls that were made, not by the words of the policy. The lines report changes, the
answers of programs, and the calls that an answer is based on.
"""

from collections.abc import Iterable, Iterator, Sequence

from agent.budget import BudgetMeter
from agent.execution.call_wording import format_value_for_people, split_identifier
from agent.failure_message import strip_internal_notes
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import Policy, Results, UnservedQuestion
from agent.subtask_progress import SubtaskProgress
from agent.text import clean_text, format_tool_title, shorten_tool_name
from domain.event import ProgramEnded, RunFinished, RunOutcome
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolDoc
from domain.usage import Usage
from graph.identifiers import split_words
from graph.lenient_json import read_value

NOT_DONE = "Not done:"
"""Prefix of a line about a change that was not made."""
_MAX_SHOWN_VALUES = 3
"""Limit of argument values in a line."""
_MAX_NOTE_CHARS = 800
"""Limit of a note in characters; generous because the advice is at its end."""
_OK, _UNKNOWN = "ok", "unknown"

_ID_WORDS = frozenset({"id", "reference", "confirmation"})
"""Words in the name of a response field that holds an identifier."""

ExecutedCalls = Sequence[tuple[ToolDoc, StepResult]]
"""Results of calls, each with the document of its tool."""


def format_call_changes(steps: ExecutedCalls, calls: ExecutedCalls, program_calls: ExecutedCalls = ()) -> Iterator[str]:
    """Yield a line for each change that was made, may have been made, or was not made after all.

    Args:
        steps: the steps that the answer numbers, from 1.
        calls: all calls of the run, including those of abandoned paths.
        program_calls: calls of programs. Each was intended individually: a successful call of the same tool does not
            make up for a failed one, and a call that was made twice is reported as two.
    """
    step_numbers = {_build_result_key(result): number for number, (_, result) in enumerate(steps, start=1)}
    latest_results = _select_latest_results((*calls, *steps))
    succeeded_tools = {result.tool for _, result in latest_results.values() if result.status == _OK}
    success_counts = {_build_result_key(result): 0 for _, result in program_calls}
    for _, result in program_calls:
        success_counts[_build_result_key(result)] += result.status == _OK
    emitted_lines: set[str] = set()
    for key, (tool, result) in latest_results.items():
        # A failed attempt of a path is not worth a line once another call of the same tool succeeded.
        if result.status not in (_OK, _UNKNOWN) and result.tool in succeeded_tools and key not in success_counts:
            continue
        count_note = (
            f" ({success_counts[key]} times)" if success_counts.get(key, 0) > 1 and result.status == _OK else ""
        )
        line = f"{_format_change(tool, result)}{count_note}"
        if line not in emitted_lines:
            emitted_lines.add(line)
            yield (
                f"{line} [{step_numbers[key]}]\n"
                if key in step_numbers and result.status in (_OK, _UNKNOWN)
                else f"{line}\n"
            )


def _select_latest_results(calls: ExecutedCalls) -> dict[tuple[str, str], tuple[ToolDoc, StepResult]]:
    """Return the latest result of each changing call; a success is kept even if the same call failed later."""
    latest: dict[tuple[str, str], tuple[ToolDoc, StepResult]] = {}
    for tool, result in calls:
        previous = latest.get(_build_result_key(result))
        if not tool.safe and (result.status in (_OK, _UNKNOWN) or previous is None or previous[1].status != _OK):
            latest[_build_result_key(result)] = tool, result
    return latest


def _format_change(tool: ToolDoc, result: StepResult) -> str:
    """Return the line about one change, without its step number."""
    tool_name, values = (
        clean_text(split_identifier(shorten_tool_name(tool)), 80),
        ", ".join(_format_values(tool, result)),
    )
    description = " ".join(part for part in (tool_name, values, *_describe_corrections(result)) if part)
    note = clean_text(strip_internal_notes(result.note), _MAX_NOTE_CHARS)
    match result.status:
        case "ok":
            return f"Done: {' '.join((description, *_find_new_ids(result)))}"
        case "unknown":
            return f"Whether {description} took effect is unknown: {note}"
        case "missing":
            return f"{NOT_DONE} {tool_name}. {note}"
        case _:
            return f"{NOT_DONE} {description}. {note or result.status}"


def _format_values(tool: ToolDoc, result: StepResult) -> list[str]:
    """Return the first few scalar arguments of a call for display, required ones first."""
    names = [parameter.name for parameter in sorted(tool.parameters, key=lambda parameter: not parameter.required)]
    arguments = [result.arguments[name] for name in names if name in result.arguments]
    unwrapped = [
        argument[0] if isinstance(argument, list) and len(argument) == 1 else argument for argument in arguments
    ]
    return [clean_text(str(argument), 60) for argument in unwrapped if isinstance(argument, (str, int, float))][
        :_MAX_SHOWN_VALUES
    ]


def _describe_corrections(result: StepResult) -> list[str]:
    """Describe values that the user corrected.

    A program does not see the correction, so its answer may contradict it.
    """
    requested, names = result.requested_arguments, dict.fromkeys((*result.arguments, *result.requested_arguments))
    changed = [name for name in names if result.arguments.get(name) != requested.get(name)]
    corrections = [
        f"{split_identifier(name)} {_format_value_or_nothing(result.arguments, name)} instead of {_format_value_or_nothing(requested, name)}"
        for name in changed
    ]
    return [f"({', '.join(corrections)}, as you corrected it)"] if corrections else []


def _format_value_or_nothing(arguments: JsonObject, name: str) -> str:
    return format_value_for_people(arguments[name]) if name in arguments else "nothing"


def _find_new_ids(result: StepResult) -> list[str]:
    """Return up to two identifiers from the response that the call did not send.

    They are how the changed thing is known from now on.
    """
    value = read_value(result.response)
    sent_values = {str(argument) for argument in result.arguments.values()}
    fields = value.items() if isinstance(value, dict) else ()
    new_fields = [
        (name, str(value_text))
        for name, value_text in fields
        if isinstance(value_text, (str, int)) and not isinstance(value_text, bool)
    ]
    new_ids = [
        (name, value_text)
        for name, value_text in new_fields
        if _ID_WORDS & set(split_words(name)) and value_text and value_text not in sent_values
    ]
    return [
        f"({clean_text(name.replace('_', ' '), 40)}: {clean_text(value_text, 60)})" for name, value_text in new_ids[:2]
    ]


def _build_result_key(result: StepResult) -> tuple[str, str]:
    """Return a key that is equal for calls of one tool with equal arguments."""
    return result.tool, repr(sorted(result.arguments.items()))


def has_unreplaced_step(progress: SubtaskProgress, evidence: ToolEvidence) -> bool:
    """Return whether a failed step was more relevant than anything that succeeded, and nothing took its place.

    Relevance is compared for each part of the request: one part served well does not make up for another that was lost.
    """
    relevances = [evidence.relevance(result.tool) for result in progress.step_results.values()]
    return any(
        value > max((other[clause] for other in relevances), default=0.0)
        for tool in progress.unreplaced_tools
        for clause, value in enumerate(evidence.relevance(tool))
    )


def find_missing_changes(progress: SubtaskProgress, evidence: ToolEvidence) -> tuple[ToolDoc, ...]:
    """Return the tools of planned changes that were not made: they failed, had no arguments, or were never reached.

    A path that was abandoned before its changes counts as replaced if at least as many other changes were made
    afterwards: which one replaced which is not known, so only their number is compared.
    """
    for lost_tools, changes_before in progress.abandoned_changes:
        changes_since = progress.changes_made - changes_before
        if len(changes_since) < len(lost_tools):
            made_tools = {tool for tool, _ in changes_since}
            tools = [tool for tool in dict.fromkeys(lost_tools) if tool not in made_tools] or lost_tools[-1:]
            return tuple(evidence.doc(tool) for tool in tools)
    return ()


def collect_unserved_parts(progress: SubtaskProgress, evidence: ToolEvidence, policy: Policy) -> tuple[str, ...]:
    """Return the parts of the request that were not served.

    These are the parts that the policy reported, and requested changes that were not made.

    A tool whose call failed was evidently meant for the request, so it counts as fully relevant.
    """
    failed_tools = {result.tool for result in progress.call_results if result.status not in ("ok", "unknown")}
    succeeded_tools = {result.tool for result in progress.call_results if result.status in ("ok", "unknown")}
    relevant_tools = {doc.id: (doc, evidence.relevance(doc.id)) for doc in evidence.all_docs}
    full_relevance = (1.1,) * len(evidence.clauses)  # above every real relevance, which is at most 1
    candidates = tuple(
        (doc, full_relevance if tool in failed_tools else relevance)
        for tool, (doc, relevance) in relevant_tools.items()
    )
    question = UnservedQuestion(evidence.clauses, candidates, tuple(relevant_tools[tool] for tool in succeeded_tools))
    reported = (progress.unserved,) if progress.unserved else ()
    return tuple(dict.fromkeys((*reported, *policy.find_unserved(question))))


def report_changes(
    steps: Results,
    calls: Results,
    unserved: Sequence[str],
    missing_changes: Sequence[ToolDoc] = (),
    program_calls: Results = (),
) -> Iterator[str]:
    """Yield a line for each change that the run made or failed to make.

    Args:
        steps: the steps that the answer numbers.
        calls: all calls of the run.
        unserved: parts of the request that no call served; reported only if no line says so already.
        missing_changes: tools of changes that were planned and not made.
        program_calls: calls of programs, each intended individually.
    """
    lines = list(format_call_changes(steps, calls, program_calls))
    yield from lines
    called_tools = {tool.id for tool, _ in calls}
    uncalled = [
        f"Not done: {clean_text(tool.api, 80)}. It was planned, and never called.\n"
        for tool in missing_changes
        if tool.id not in called_tools
    ]
    yield from dict.fromkeys(uncalled)
    if not any(line.startswith(NOT_DONE) for line in (*lines, *uncalled)):
        for clause in unserved:
            yield f'{NOT_DONE} "{clean_text(clause, 200)}". No call did this.\n'


def build_run_finished(
    outcome: RunOutcome, answer: str, meter: BudgetMeter, subtasks: Sequence[SubtaskProgress], error: str = ""
) -> RunFinished:
    """Build the run's last event, with the usage of all its subtasks."""
    cost = meter.cost
    usage = Usage(
        considered=sum(progress.considered_count for progress in subtasks),
        decisions=meter.decisions,
        backtracks=sum(progress.backtrack_count for progress in subtasks),
        reflections=meter.reflections,
        model_calls=cost.model_calls,
        prompt_tokens=cost.prompt_tokens,
        completion_tokens=cost.completion_tokens,
        by_purpose=dict(cost.by_purpose),
        tokens_by_purpose=dict(cost.tokens_by_purpose),
        cost=cost.money,
        plan_seconds=sum(progress.plan_seconds for progress in subtasks),
        write_seconds=sum(progress.write_seconds for progress in subtasks),
        check_seconds=sum(progress.check_seconds for progress in subtasks),
        execute_seconds=sum(progress.execute_seconds for progress in subtasks),
        total_seconds=meter.elapsed,
    )
    return RunFinished(outcome=outcome, answer=answer, usage=usage, error=error)


def combine_outcomes(outcomes: Sequence[RunOutcome]) -> RunOutcome:
    """Combine the outcomes of subtasks into that of the run.

    It is answered if all are; else ``budget`` if one ran out of it; else ``partly`` if any was served at least in part.
    """
    if outcomes and all(outcome == "answered" for outcome in outcomes):
        return "answered"
    if "budget" in outcomes:
        return "budget"
    return "partly" if {"answered", "partly"} & set(outcomes) else "gave_up"


_MAX_LISTED_NUMBERS = 4
"""Limit of listed calls of one tool; if there are more, only the first and the last are listed."""


def format_program_answer(end: ProgramEnded) -> str:
    """Return the answer of a program that ended, with what it lacks if it is incomplete."""
    answer = end.answer.strip()
    gap = _to_sentence(end.missing) or _to_sentence(end.veto)
    match end.verdict:
        case "yes":
            return f"{answer}\n"
        case "partly":
            return "".join(f"{part}\n" for part in (answer, f"Not all of it is answered: {gap}") if part)
        case "no" if end.veto or not answer:
            why = gap or "the program found no answer."
            return f"This could not be answered: {why}\n"
        case "no":
            return f"{answer}\n" if not end.missing or end.missing in answer else f"{answer}\nMissing: {gap}\n"


def _to_sentence(text: str) -> str:
    sentence = clean_text(text, 600).rstrip(".")
    return f"{sentence}." if sentence else ""


def format_sources(calls: Iterable[tuple[int, ToolDoc]]) -> str:
    """Return a line with the calls that an answer is based on, grouped by tool."""
    numbers_by_title: dict[str, list[int]] = {}
    for number, tool in calls:
        numbers_by_title.setdefault(format_tool_title(tool), []).append(number)
    sources = [f"{_format_numbers(step_numbers)} {tool}" for tool, step_numbers in numbers_by_title.items()]
    return f"Based on: {', '.join(sources)}\n" if sources else ""


def _format_numbers(numbers: list[int]) -> str:
    if len(numbers) <= _MAX_LISTED_NUMBERS:
        return " ".join(f"[{number}]" for number in numbers)
    return f"[{numbers[0]}] … [{numbers[-1]}]"
