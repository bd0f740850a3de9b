"""Lesson of a run for the graph: the transitions, scores and outcomes of its calls, as one batch (thesis 3.4.2)."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from itertools import pairwise

from agent.learning.step_scores import bound_score, is_scored, score_steps
from agent.program_trace import ProgramTrace
from agent.programs.analysis.program_flow import Site
from agent.transcript import RunTranscript, SubtaskTranscript
from domain.event import EventRecord
from domain.plan import CallOutcome, StepResult
from domain.tool import FINISH, ToolId
from graph.facts import HALF_LIFE_DAYS, LiveBatch, LiveOutcome

MOST_CALLS = 5
"""Limit of outcomes of one tool that count in one run, since a program may call it hundreds of times."""


def count_program_transitions(subtask: SubtaskTranscript, *, served: bool) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions between the call sites of a subtask's programs.

    A pair of sites counts once if one uses the other's result, however often they were called. If the request was
    ``served``, sites whose results the answer uses lead to ``Finish``. From a program without a useful result, only
    transitions to failed calls are counted.
    """
    transitions: Counter[tuple[ToolId, ToolId]] = Counter()
    failed: set[tuple[ToolId, ToolId]] = set()
    for trace in subtask.programs.written:
        dependencies, good, bad = trace.find_feeds(), *_group_by_site(trace)
        failed |= {(good[one], bad[other]) for one, other in dependencies.pairs if one in good and other in bad}
        if trace.useful:
            transitions.update(
                (good[one], good[other]) for one, other in dependencies.pairs if one in good and other in good
            )
            ends = (
                {good[one] for one in dependencies.ends if one in good}
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
    for trace in subtask.programs.written:
        dependencies, (good, _) = trace.find_feeds(), _group_by_site(trace)
        used: set[Site] = set()
        if trace.useful:
            used = {one for one, other in dependencies.pairs if other in good} | (
                set(dependencies.ends) if served else set()
            )
        best: dict[Site, tuple[StepResult, float]] = {}
        for site, result in trace.by_site:
            isolated = result.model_copy(
                update={"provenance": ()}
            )  # step numbers in it would be taken for those of the sequence scored here
            score = score_steps((isolated,), (), answered=site in used)[0]
            if site not in best or score > best[site][1]:
                best[site] = (result, score)
        yield from best.values()


def keep_distinct_calls(results: Iterable[StepResult]) -> list[StepResult]:
    """Return the last result of each distinct call that was made; calls are equal by tool and arguments."""
    return list(
        {(one.tool, json.dumps(one.arguments, sort_keys=True)): one for one in results if one.attempts}.values()
    )


def cap_outcomes(outcomes: Sequence[tuple[ToolId, LiveOutcome]]) -> Iterator[tuple[ToolId, LiveOutcome]]:
    """Yield about :data:`MOST_CALLS` outcomes of each tool at most, in the original proportions."""
    for tool in dict.fromkeys(tool for tool, _ in outcomes):
        counts: Counter[LiveOutcome] = Counter(outcome for one, outcome in outcomes if one == tool)
        share = min(1.0, MOST_CALLS / counts.total())
        for outcome, count in counts.items():
            for _ in range(round(share * count)):
                yield tool, outcome


def _group_by_site(trace: ProgramTrace) -> tuple[dict[Site, ToolId], dict[Site, ToolId]]:
    """Return the tools by site: of sites with a successful call, and of sites with failures of the tool only."""
    calls = trace.by_site
    good = {site: result.tool for site, result in calls if result.status == "ok"}
    bad = {site: result.tool for site, result in calls if site not in good and is_scored(result)}
    return good, bad


_EVIDENCE: dict[CallOutcome | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
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
            :func:`agent.learning.step_scores.score_steps` scores them.
    """
    run_records = list(records)
    transcript = RunTranscript.from_records(run_records)
    if transcript.end is None or transcript.end.outcome in ("cancelled", "failed"):
        return None
    answered = transcript.end.outcome == "answered"
    programmed = [result for one in transcript.ordered_subtasks for result in _collect_program_results(one)]
    done, failed = _collect_steps(transcript)
    tried = [*done, *failed]
    if not any(result.attempts for result in (*tried, *programmed)):
        return None
    transitions = _count_transitions(transcript)
    ends = sum(count for (_, target), count in transitions.items() if target == FINISH)
    pairs = list(zip(tried, policy_scores or score_steps(done, failed, answered=answered), strict=True))
    pairs += [
        pair
        for one in transcript.ordered_subtasks
        for pair in score_program_calls(one, served=transcript.is_served(one))
    ]
    outcomes = (*_collect_outcomes(tried), *cap_outcomes(_collect_outcomes(keep_distinct_calls(programmed))))
    return LiveBatch(
        key=f"run:{run_records[0].run}",
        transitions=transitions,
        scores=(*_collect_scores(pairs), *((FINISH, 1.0) for _ in range(ends))),
        outcomes=outcomes,
        decay=decay,
        at=min(run_records[0].at, datetime.now(UTC)),
        half_life=half_life,
    )


def _collect_program_results(subtask: SubtaskTranscript) -> Iterator[StepResult]:
    """Return the results of the calls of a subtask's programs, in order."""
    return (trace.calls[step][1] for trace in subtask.programs.written for step in sorted(trace.calls))


def _collect_steps(transcript: RunTranscript) -> tuple[list[StepResult], list[StepResult]]:
    """Return the results of steps that no program called: those of the last plans, and those that were bypassed."""
    done = [transcript.steps[step] for step in sorted(transcript.steps) if step not in transcript.sites]
    return done, [result for one in transcript.ordered_subtasks for result in one.gone_around]


def _collect_outcomes(results: Sequence[StepResult]) -> list[tuple[ToolId, LiveOutcome]]:
    """Return the outcomes that are evidence about the tools."""
    return [(result.tool, speaks) for result in results if (speaks := _read_evidence(result)) is not None]


def _collect_scores(pairs: Sequence[tuple[StepResult, float]]) -> tuple[tuple[ToolId, float], ...]:
    """Return the scores of the tools that were called, limited by their outcomes."""
    return tuple((result.tool, bound_score(result, score)) for result, score in pairs if is_scored(result))


def _read_evidence(result: StepResult) -> LiveOutcome | None:
    """Return the outcome as evidence about the tool; None if it is none, or if no request was sent."""
    return _EVIDENCE.get(result.outcome) if result.attempts else None


def _count_transitions(transcript: RunTranscript) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions within each subtask; steps of different subtasks do not follow each other."""
    transitions: Counter[tuple[ToolId, ToolId]] = Counter()
    for subtask in transcript.ordered_subtasks:
        own = [subtask.steps[step] for step in sorted(subtask.steps) if step not in subtask.sites]
        walked = [result.tool for result in own if result.status == "ok"]
        transitions.update(pairwise(walked))
        transitions.update((before, result.tool) for before, result in subtask.failed_after if is_scored(result))
        served = transcript.is_served(subtask)
        if served and walked:
            transitions[walked[-1], FINISH] += 1
        transitions.update(count_program_transitions(subtask, served=served))
    for pair in [pair for pair in transitions if pair[0] == pair[1]]:
        del transitions[pair]
    return transitions
