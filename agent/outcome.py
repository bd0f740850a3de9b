"""Outcome of a run, and the lines of its answer that code writes.

The outcome is judged by the calls that were made, not by the words of the policy. The lines report changes, the
answers of programs, and the calls that an answer is based on.
"""

from collections.abc import Iterator, Sequence

from agent.budget import BudgetMeter
from agent.change_report import NOT_DONE, format_changes
from agent.offer.tool_evidence import ToolEvidence
from agent.policy.protocol import Policy, Results, UnservedQuestion
from agent.subtask_progress import SubtaskProgress
from agent.text import clean
from domain.event import RunFinished, RunOutcome
from domain.tool import ToolDoc
from domain.usage import Usage


def has_unreplaced_step(progress: SubtaskProgress, evidence: ToolEvidence) -> bool:
    """Return whether a failed step was more relevant than anything that succeeded, and nothing took its place.

    Relevance is compared for each part of the request: one part served well does not make up for another that was lost.
    """
    relevances = [evidence.relevance(result.tool) for result in progress.done.values()]
    return any(
        value > max((other[at] for other in relevances), default=0.0)
        for tool in progress.unreplaced
        for at, value in enumerate(evidence.relevance(tool))
    )


def find_missing_changes(progress: SubtaskProgress, evidence: ToolEvidence) -> tuple[ToolDoc, ...]:
    """Return the tools of planned changes that were not made: they failed, had no arguments, or were never reached.

    A path that was abandoned before its changes counts as replaced if at least as many other changes were made
    afterwards: which one replaced which is not known, so only their number is compared.
    """
    for lost_tools, before in progress.abandoned_changes:
        since = progress.changes_made - before
        if len(since) < len(lost_tools):
            made_tools = {tool for tool, _ in since}
            tools = [tool for tool in dict.fromkeys(lost_tools) if tool not in made_tools] or lost_tools[-1:]
            return tuple(evidence.doc(tool) for tool in tools)
    return ()


def find_unserved(progress: SubtaskProgress, evidence: ToolEvidence, policy: Policy) -> tuple[str, ...]:
    """Return the parts of the request that were not served.

    These are the parts that the policy reported, and requested changes that were not made.

    A tool whose call failed was evidently meant for the request, so it counts as fully relevant.
    """
    tried = {result.tool for result in progress.called if result.status not in ("ok", "unknown")}
    called_ok = {result.tool for result in progress.called if result.status in ("ok", "unknown")}
    judged = {doc.id: (doc, evidence.relevance(doc.id)) for doc in evidence.all}
    full_relevance = (1.1,) * len(evidence.clauses)  # above every real relevance, which is at most 1
    candidates = tuple(
        (doc, full_relevance if tool in tried else relevance) for tool, (doc, relevance) in judged.items()
    )
    question = UnservedQuestion(evidence.clauses, candidates, tuple(judged[tool] for tool in called_ok))
    reported = (progress.unserved,) if progress.unserved else ()
    return tuple(dict.fromkeys((*reported, *policy.find_unserved(question))))


def report_changes(
    steps: Results,
    called: Results,
    unserved: Sequence[str],
    missing_changes: Sequence[ToolDoc] = (),
    program_calls: Results = (),
) -> Iterator[str]:
    """Yield a line for each change that the run made or failed to make.

    Args:
        steps: the steps that the answer numbers.
        called: all calls of the run.
        unserved: parts of the request that no call served; reported only if no line says so already.
        missing_changes: tools of changes that were planned and not made.
        program_calls: calls of programs, each intended individually.
    """
    lines = list(format_changes(steps, called, program_calls))
    yield from lines
    tried = {tool.id for tool, _ in called}
    uncalled = [
        f"Not done: {clean(tool.api, 80)}. It was planned, and never called.\n"
        for tool in missing_changes
        if tool.id not in tried
    ]
    yield from dict.fromkeys(uncalled)
    if not any(line.startswith(NOT_DONE) for line in (*lines, *uncalled)):
        for clause in unserved:
            yield f'{NOT_DONE} "{clean(clause, 200)}". No call did this.\n'


def build_run_finished(
    outcome: RunOutcome, answer: str, meter: BudgetMeter, subtasks: Sequence[SubtaskProgress], error: str = ""
) -> RunFinished:
    """Build the run's last event, with the usage of all its subtasks."""
    cost = meter.cost
    usage = Usage(
        considered=sum(progress.considered for progress in subtasks),
        decisions=meter.decisions,
        backtracks=sum(progress.backtracks for progress in subtasks),
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
