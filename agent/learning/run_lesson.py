"""Lesson of a run for the graph: the transitions, scores and outcomes of its calls, as one batch (thesis 3.4.2)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from agent.programs.analysis.program_flow import Site
from agent.transcript import ProgramTrace, RunTranscript, SubtaskTranscript
from domain.event import EventRecord
from domain.plan import CallOutcome, StepResult
from domain.tool import FINISH, ToolId
from graph.facts import HALF_LIFE_DAYS, LiveBatch, LiveOutcome

TOOL_FAILURES = frozenset({"transient", "gone"})
"""Outcomes that are failures of the tool."""
CALLER_OUTCOMES = frozenset({"absent", "undecided", "refused", "unreached", "caller_fault"})
"""Outcomes caused by the caller's values or key, or by this machine's network; they are no evidence about a tool."""


def score_steps(done: Sequence[StepResult], failed: Sequence[StepResult], *, answered: bool) -> tuple[float, ...]:
    """Return the score Δ of each step, in [-1, 1]: the plan's steps in order, then those that were bypassed.

    - +1: the step succeeded, and the run was answered or a later step used one of its values;
    - 0: the step led to nothing, was not called, or failed by a fault of the caller;
    - -1: the tool failed.

    Args:
        done: results of the plan's steps, in order.
        failed: results of the steps that were bypassed.
        answered: whether the run answered its request.
    """
    used_steps = _find_used_steps(done)
    plan_scores = [
        _score_result(result, served=answered or number in used_steps) for number, result in enumerate(done, start=1)
    ]
    return (*plan_scores, *(_score_result(result, served=False) for result in failed))


def is_scored(result: StepResult) -> bool:
    """Return whether a step is evidence about its tool: it succeeded, or was called and failed by the tool's fault."""
    called = result.attempts > 0 and result.outcome is not None
    return result.status == "ok" or (called and result.outcome not in CALLER_OUTCOMES)


def bound_score(result: StepResult, score: float) -> float:
    """Limit a score to [-1, 1], and to at most 0 for a tool that failed."""
    return max(-1.0, min(0.0 if result.outcome in TOOL_FAILURES else 1.0, score))


def _score_result(result: StepResult, *, served: bool) -> float:
    """Return the score of one result. ``served``: whether its values were used."""
    if result.outcome in TOOL_FAILURES:
        return -1.0
    return 1.0 if result.status == "ok" and served else 0.0


def _find_used_steps(done: Sequence[StepResult]) -> set[int]:
    """Return the steps, from 1, whose values a later successful step used."""
    used: set[int] = set()
    for result in done:
        if result.status != "ok":
            continue
        for binding in result.provenance:
            number = binding.reference.partition(".")[0]
            if binding.origin == "step" and number.isdigit():
                used.add(int(number))
    return used


MAX_OUTCOMES_PER_TOOL = 5
"""Limit of outcomes of one tool that count in one run, since a program may call it hundreds of times."""


def count_program_transitions(subtask: SubtaskTranscript, *, served: bool) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions between the call sites of a subtask's programs.

    A pair of sites counts once if one uses the other's result, however often they were called. If the request was
    ``served``, sites whose results the answer uses lead to ``Finish``. From a program without a useful result, only
    transitions to failed calls are counted.
    """
    transitions: Counter[tuple[ToolId, ToolId]] = Counter()
    failed: set[tuple[ToolId, ToolId]] = set()
    for trace in subtask.programs.traces:
        dependencies, succeeded, failed_sites = trace.find_feeds(), *_group_by_site(trace)
        failed |= {
            (succeeded[site], failed_sites[other])
            for site, other in dependencies.pairs
            if site in succeeded and other in failed_sites
        }
        if trace.is_useful:
            transitions.update(
                (succeeded[site], succeeded[other])
                for site, other in dependencies.pairs
                if site in succeeded and other in succeeded
            )
            ends = (
                {succeeded[site] for site in dependencies.end_calls if site in succeeded}
                if served and trace is subtask.programs.last
                else ()
            )
            transitions.update((tool, FINISH) for tool in sorted(ends))
    transitions.update(sorted(failed))
    return transitions


def score_program_calls(subtask: SubtaskTranscript, *, served: bool) -> Iterator[tuple[StepResult, float]]:
    """Yield the best result and score of each call site, by the rules for steps.

    A call counts as used if another call uses its result, or the answer of a request that was ``served`` does.
    """
    for trace in subtask.programs.traces:
        dependencies, (succeeded, _) = trace.find_feeds(), _group_by_site(trace)
        used: set[Site] = set()
        if trace.is_useful:
            used = {site for site, other in dependencies.pairs if other in succeeded} | (
                set(dependencies.end_calls) if served else set()
            )
        best: dict[Site, tuple[StepResult, float]] = {}
        for site, result in trace.calls_with_sites:
            isolated = result.model_copy(
                update={"provenance": ()}
            )  # step numbers in it would be taken for those of the sequence scored here
            score = score_steps((isolated,), (), answered=site in used)[0]
            if site not in best or score > best[site][1]:
                best[site] = (result, score)
        yield from best.values()


def deduplicate_calls(results: Iterable[StepResult]) -> list[StepResult]:
    """Return the last result of each distinct call that was made; calls are equal by tool and arguments."""
    return list(
        {
            (result.tool, json.dumps(result.arguments, sort_keys=True)): result for result in results if result.attempts
        }.values()
    )


def cap_outcomes(outcomes: Sequence[tuple[ToolId, LiveOutcome]]) -> Iterator[tuple[ToolId, LiveOutcome]]:
    """Yield about :data:`MAX_OUTCOMES_PER_TOOL` outcomes of each tool at most, in the original proportions."""
    for tool in dict.fromkeys(tool for tool, _ in outcomes):
        counts: Counter[LiveOutcome] = Counter(outcome for called_tool, outcome in outcomes if called_tool == tool)
        share = min(1.0, MAX_OUTCOMES_PER_TOOL / counts.total())
        for outcome, count in counts.items():
            for _ in range(round(share * count)):
                yield tool, outcome


def _group_by_site(trace: ProgramTrace) -> tuple[dict[Site, ToolId], dict[Site, ToolId]]:
    """Return the tools by site: of sites with a successful call, and of sites with failures of the tool only."""
    calls = trace.calls_with_sites
    succeeded = {site: result.tool for site, result in calls if result.status == "ok"}
    failed = {site: result.tool for site, result in calls if site not in succeeded and is_scored(result)}
    return succeeded, failed


_EVIDENCE_OUTCOMES: dict[CallOutcome | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""Outcomes that are evidence about the tool.

Outcomes due to one caller, one key or this machine are not, nor is a response that was lost, nor an answer that the
requested item does not exist, however often it is repeated. Doubtful 404s are settled before
(:mod:`agent.learning.repeated_404s`).
"""

DECAY = 0.8


def build_lesson(
    records: Iterable[EventRecord],
    *,
    decay: float = DECAY,
    half_life: float = HALF_LIFE_DAYS,
    policy_scores: Sequence[float] | None = None,
) -> LiveBatch | None:
    """Return the batch of a whole run; None if no call was made, or if the run was cancelled or failed.

    Transitions are counted between consecutive successful steps, and from the last one to ``Finish`` with a score of
    1 if the subtask was served. For a step that was bypassed, the transition from the step before it counts if the
    tool failed. In programs, transitions follow the data flow between calls instead of their order.

    Args:
        records: events of the run.
        decay: decay γ of the weights per batch.
        half_life: half-life of outcomes, in days.
        policy_scores: the policy's scores of the plan's steps and of those that were bypassed; without them
            :func:`agent.learning.run_lesson.score_steps` scores them.
    """
    run_records = list(records)
    transcript = RunTranscript.from_records(run_records)
    if transcript.end is None or transcript.end.outcome in ("cancelled", "failed"):
        return None
    answered = transcript.end.outcome == "answered"
    program_results = [
        result for subtask in transcript.ordered_subtasks for result in _collect_program_results(subtask)
    ]
    done, failed = _collect_steps(transcript)
    step_results = [*done, *failed]
    if not any(result.attempts for result in (*step_results, *program_results)):
        return None
    transitions = _count_transitions(transcript)
    finish_count = sum(count for (_, target), count in transitions.items() if target == FINISH)
    scored_results = list(zip(step_results, policy_scores or score_steps(done, failed, answered=answered), strict=True))
    scored_results += [
        pair
        for subtask in transcript.ordered_subtasks
        for pair in score_program_calls(subtask, served=transcript.is_served(subtask))
    ]
    outcomes = (*_collect_outcomes(step_results), *cap_outcomes(_collect_outcomes(deduplicate_calls(program_results))))
    return LiveBatch(
        key=f"run:{run_records[0].run}",
        transitions=transitions,
        scores=(*_collect_scores(scored_results), *((FINISH, 1.0) for _ in range(finish_count))),
        outcomes=outcomes,
        decay=decay,
        at=min(run_records[0].at, datetime.now(UTC)),
        half_life=half_life,
    )


def _collect_program_results(subtask: SubtaskTranscript) -> Iterator[StepResult]:
    """Return the results of the calls of a subtask's programs, in order."""
    return (trace.calls[step][1] for trace in subtask.programs.traces for step in sorted(trace.calls))


def _collect_steps(transcript: RunTranscript) -> tuple[list[StepResult], list[StepResult]]:
    """Return the results of steps that no program called: those of the last plans, and those that were bypassed."""
    done = [transcript.steps[step] for step in sorted(transcript.steps) if step not in transcript.sites]
    return done, [result for subtask in transcript.ordered_subtasks for result in subtask.abandoned_steps]


def _collect_outcomes(results: Sequence[StepResult]) -> list[tuple[ToolId, LiveOutcome]]:
    """Return the outcomes that are evidence about the tools."""
    return [(result.tool, outcome) for result in results if (outcome := _read_evidence(result)) is not None]


def _collect_scores(pairs: Sequence[tuple[StepResult, float]]) -> tuple[tuple[ToolId, float], ...]:
    """Return the scores of the tools that were called, limited by their outcomes."""
    return tuple((result.tool, bound_score(result, score)) for result, score in pairs if is_scored(result))


def _read_evidence(result: StepResult) -> LiveOutcome | None:
    """Return the outcome as evidence about the tool; None if it is none, or if no request was sent."""
    return _EVIDENCE_OUTCOMES.get(result.outcome) if result.attempts else None


def _count_transitions(transcript: RunTranscript) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions within each subtask; steps of different subtasks do not follow each other."""
    transitions: Counter[tuple[ToolId, ToolId]] = Counter()
    for subtask in transcript.ordered_subtasks:
        own_steps = [subtask.steps[step] for step in sorted(subtask.steps) if step not in subtask.sites]
        tools = [result.tool for result in own_steps if result.status == "ok"]
        transitions.update(pairwise(tools))
        transitions.update((before, result.tool) for before, result in subtask.failures_after if is_scored(result))
        served = transcript.is_served(subtask)
        if served and tools:
            transitions[tools[-1], FINISH] += 1
        transitions.update(count_program_transitions(subtask, served=served))
    for pair in [pair for pair in transitions if pair[0] == pair[1]]:
        del transitions[pair]
    return transitions
