"""Lesson of a run for the graph: one batch keyed by the run, so learning it twice equals once (thesis 3.4.2)."""

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
"""Weight of the outcomes of one tool in one run, in calls: a program may call it hundreds of times."""


def count_program_transitions(subtask: SubtaskTranscript, *, served: bool) -> Counter[tuple[ToolId, ToolId]]:
    """Count the transitions between a program's call sites, one per pair of which one uses the other's result.

    It does not matter how often they were called. If the request was ``served``, the sites whose results the answer
    uses lead to ``Finish``. A program without a result teaches only what failed in it.
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
    """Yield the best score of each call site, by the rules for steps.

    A call served if another call, or the answer of a request that was ``served``, used its result.
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
            )  # whose numbers are those of all of its program's calls
            score = score_steps((isolated,), (), answered=site in used)[0]
            if site not in best or score > best[site][1]:
                best[site] = (result, score)
        yield from best.values()


def keep_distinct_calls(results: Iterable[StepResult]) -> list[StepResult]:
    """Return each distinct call that was made, a tool with its arguments, by its last result."""
    return list(
        {(one.tool, json.dumps(one.arguments, sort_keys=True)): one for one in results if one.attempts}.values()
    )


def cap_outcomes(outcomes: Sequence[tuple[ToolId, LiveOutcome]]) -> Iterator[tuple[ToolId, LiveOutcome]]:
    """Yield at most a few outcomes of each tool, in the same proportion."""
    for tool in dict.fromkeys(tool for tool, _ in outcomes):
        counts: Counter[LiveOutcome] = Counter(outcome for one, outcome in outcomes if one == tool)
        share = min(1.0, MOST_CALLS / counts.total())
        for outcome, count in counts.items():
            for _ in range(round(share * count)):
                yield tool, outcome


def _group_by_site(trace: ProgramTrace) -> tuple[dict[Site, ToolId], dict[Site, ToolId]]:
    """Return the tools of sites with a successful call, and of those that only failed by the tool's fault."""
    calls = trace.by_site
    good = {site: result.tool for site, result in calls if result.status == "ok"}
    bad = {site: result.tool for site, result in calls if site not in good and is_scored(result)}
    return good, bad


_EVIDENCE: dict[CallOutcome | None, LiveOutcome] = {"ok": "ok", "transient": "transient", "gone": "gone"}
"""Outcomes that say something of the tool.

Outcomes due to one caller, one key or this machine do not, nor does an answer that was lost. Nor do repeated answers
that something does not exist: whoever asks for what does not exist may ask often, of a tool that nobody has used yet.
A 404 that one answer cannot decide is settled before, by repetition (:mod:`agent.learning.repeated_404s`).
"""

DECAY = 0.8


def build_lesson(
    records: Iterable[EventRecord],
    *,
    decay: float = DECAY,
    half_life: float = HALF_LIFE_DAYS,
    policy_scores: Sequence[float] | None = None,
) -> LiveBatch | None:
    """Return the batch of a whole run; None if no call was made, or if the run was cancelled or failed in itself.

    Transitions are counted between the steps that were carried out, in order, and to ``Finish`` if the run answered.
    For a step that was bypassed, the transition from the step before it counts if the failure was the tool's own.
    ``Finish`` is reached with a score of 1. Programs teach along their data instead. A run that
    was served in part teaches what it did, but no transition to ``Finish``.

    Args:
        records: events of the run.
        decay: decay of the weights.
        half_life: half-life of outcomes.
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
    """Return the steps that no program called: those of the last plans, and those that were bypassed."""
    done = [transcript.steps[step] for step in sorted(transcript.steps) if step not in transcript.sites]
    return done, [result for one in transcript.ordered_subtasks for result in one.gone_around]


def _collect_outcomes(results: Sequence[StepResult]) -> list[tuple[ToolId, LiveOutcome]]:
    """Return what results say of their tools, if anything."""
    return [(result.tool, speaks) for result in results if (speaks := _read_evidence(result)) is not None]


def _collect_scores(pairs: Sequence[tuple[StepResult, float]]) -> tuple[tuple[ToolId, float], ...]:
    """Return the scores of the tools that were called, limited by their outcomes."""
    return tuple((result.tool, bound_score(result, score)) for result, score in pairs if is_scored(result))


def _read_evidence(result: StepResult) -> LiveOutcome | None:
    """Return what a result says of its tool; a repeated answer and a fault of the caller say nothing."""
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
