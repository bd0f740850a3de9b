"""Outcome of a run, judged by the calls it made rather than by its policy's answer."""

from collections.abc import Iterator, Sequence

from agent.budget import Meter
from agent.change_report import NOT_DONE, told
from agent.offer.tool_facts import Evidence
from agent.policy.protocol import Policy, Results, UnservedQuestion
from agent.subtask_progress import Progress
from agent.text import clean
from domain.event import Outcome, RunFinished
from domain.tool import ToolDoc
from domain.usage import Usage


def unreplaced(progress: Progress, evidence: Evidence) -> bool:
    """Return whether a failed step was more relevant than anything that succeeded, and nothing took its place.

    Relevance is compared for each part of the request.
    """
    kept = [evidence.relevance(result.tool) for result in progress.done.values()]
    return any(
        value > max((other[at] for other in kept), default=0.0)
        for tool in progress.unreplaced
        for at, value in enumerate(evidence.relevance(tool))
    )


def unmade(progress: Progress, evidence: Evidence) -> tuple[ToolDoc, ...]:
    """Return the tools of planned changes that were not made: they failed, had no arguments, or were never reached.

    Only planned and called tools are compared. A path that was abandoned before its changes counts as replaced if at least as many
    other changes were made afterwards.
    """
    for left, before in progress.lost_changes:
        since = progress.changes_made - before
        if len(since) < len(left):
            made = {tool for tool, _ in since}
            tools = [tool for tool in dict.fromkeys(left) if tool not in made] or left[-1:]
            return tuple(evidence.doc(tool) for tool in tools)
    return ()


def undone(progress: Progress, evidence: Evidence, policy: Policy) -> tuple[str, ...]:
    """Return what the policy left out: what it reported itself, and requested changes that were not made.

    A tool whose call failed was evidently meant for the request, so it counts as fully relevant.
    """
    tried = {result.tool for result in progress.called if result.status not in ("ok", "unknown")}
    made = {result.tool for result in progress.called if result.status in ("ok", "unknown")}
    judged = {doc.id: (doc, evidence.relevance(doc.id)) for doc in evidence.all}
    shown = (1.1,) * len(evidence.clauses)  # above every real relevance, which is at most 1
    at_hand = tuple((doc, shown if tool in tried else relevance) for tool, (doc, relevance) in judged.items())
    question = UnservedQuestion(evidence.clauses, at_hand, tuple(judged[tool] for tool in made))
    said = (progress.left,) if progress.left else ()
    return tuple(dict.fromkeys((*said, *policy.unserved(question))))


def changed(
    steps: Results, called: Results, undone: Sequence[str], unmade: Sequence[ToolDoc] = (), each: Results = ()
) -> Iterator[str]:
    """Yield a line for each change that the run made or failed to make.

    ``called`` are all calls, ``program_calls`` those of programs, each intended individually. ``unserved`` are parts of the request
    that no call served, ``missing_changes`` the tools of changes that were planned and not made.
    """
    lines = list(told(steps, called, each))
    yield from lines
    tried = {tool.id for tool, _ in called}
    never = [
        f"Not done: {clean(tool.api, 80)}. It was planned, and never called.\n"
        for tool in unmade
        if tool.id not in tried
    ]
    yield from dict.fromkeys(never)
    if not any(line.startswith(NOT_DONE) for line in (*lines, *never)):
        for clause in undone:
            yield f'{NOT_DONE} "{clean(clause, 200)}". No call did this.\n'


def finished(outcome: Outcome, answer: str, meter: Meter, subtasks: Sequence[Progress], error: str = "") -> RunFinished:
    """Build the run's last event."""
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


def outcome_of(outcomes: Sequence[Outcome]) -> Outcome:
    """Combine the outcomes of subtasks into that of the run.

    It is answered if all are; else ``budget`` if one ran out of it; else ``partly`` if any was served at least in part.
    """
    if outcomes and all(outcome == "answered" for outcome in outcomes):
        return "answered"
    if "budget" in outcomes:
        return "budget"
    return "partly" if {"answered", "partly"} & set(outcomes) else "gave_up"
