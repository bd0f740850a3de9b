"""Learning after a run: shapes of answers, weights of the graph, memories and solutions.

Everything that is stored has the run's key, so that learning from a run twice has the effect of learning once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent.learning.repeated_404s import ToolFactStore, settle_misses
from agent.learning.run_lesson import build_lesson
from agent.memory.long_term import LongTermMemory
from agent.memory.run_lessons import extract_solved_requests, rate_followed_memories
from agent.policy.protocol import Policy, ScoreQuestion
from agent.solutions.extraction import (
    build_reworded_solution,
    collect_selected_solutions,
    extract_solutions,
    judge_selected_solutions,
)
from agent.solutions.protocol import SolutionAccess
from agent.transcript import RunTranscript
from domain.errors import FootpathError, UnavailableError
from domain.event import (
    CallFinished,
    EventRecord,
    JudgedMemory,
    JudgedSolution,
    LearnedEdge,
    LearnedTool,
    RunFinished,
    WeightsLearned,
)
from domain.plan import StepResult
from domain.tool import FINISH, ToolDoc, ToolId
from graph.answer_shapes import collect_scalars, infer_answer_shape
from graph.evidence import fold_walks
from graph.facts import LiveBatch
from graph.shapes import JsonShape
from graph.weights import DEFAULT_WEIGHTS, WeightParameters

_log = logging.getLogger(__name__)

_MAX_ANSWERS_PER_TOOL = 5
"""Limit of answers of one tool that are examined per run."""


class AnswerShapeStore(Protocol):
    """The part of a graph store that keeps the shapes of answers."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[JsonShape]]) -> set[ToolId]:
        """Add the shapes to the documents of the tools; return the tools whose documents changed."""
        ...


async def learn_answer_shapes(records: Iterable[EventRecord], store: AnswerShapeStore) -> None:
    """Learn the shapes of a run's successful answers: names and types of fields, but no values."""
    seen = await asyncio.to_thread(_collect_shapes, records)
    if seen:
        await store.learn_answers(seen)


def _collect_shapes(records: Iterable[EventRecord]) -> dict[ToolId, list[JsonShape]]:
    """Return the shapes of successful answers by tool, a few of each."""
    shapes: dict[ToolId, list[JsonShape]] = {}
    for result in _find_successful_results(records):
        if len(shapes.get(result.tool, ())) < _MAX_ANSWERS_PER_TOOL:
            shape = infer_answer_shape(result.response, collect_scalars(result.arguments.values()))
            if shape is not None:
                shapes.setdefault(result.tool, []).append(shape)
    return shapes


def _find_successful_results(records: Iterable[EventRecord]) -> Iterable[StepResult]:
    """Return the results of calls that were made and succeeded."""
    finished = (record.event.result for record in records if isinstance(record.event, CallFinished))
    return (result for result in finished if result.status == "ok" and result.attempts)


class LearningStore(AnswerShapeStore, ToolFactStore, Protocol):
    """The part of a graph store that learning needs."""


@dataclass(frozen=True, slots=True)
class RunLearner:
    """Learner of one run, with the stores that it changes."""

    store: LearningStore
    """Graph store that keeps the weights."""
    memory: LongTermMemory | None = None
    """Long-term memory to judge and extend; None for none."""
    policy: Policy | None = None
    """Policy that scores the steps; without one, :mod:`agent.learning.run_lesson` scores them by rules."""
    is_over: Callable[[], bool] = lambda: True
    """Returns whether the run has ended. A run that continues in another process is learnt from there, as a whole."""
    weights: WeightParameters = DEFAULT_WEIGHTS
    """Parameters of the weights."""
    solutions: SolutionAccess | None = None
    """Library of programs, in which used ones are judged and new ones added."""
    alone: bool = True
    """True if the request can be understood without earlier ones; only then its programs become solutions."""
    user: str = ""
    """User of the run; empty if users are not known."""
    planned: bool = True
    """True if Footpath planned the programs; False if the user may have changed them before they ran."""
    can_defer: bool = False
    """True if the caller saves a run whose lesson is deferred, and learns from it later."""

    async def learn(self, records: Sequence[EventRecord]) -> WeightsLearned | None:
        """Learn from a run whose last record is its end, and return the event that reports what was learnt.

        None if there is nothing to learn, the run was learnt from already, or it continues elsewhere.
        """
        if not self.is_over() or any(isinstance(record.event, WeightsLearned) for record in records):
            return None
        dependencies = self.store, self.memory, self.policy, self.weights, self.solutions
        learned = await learn_from_run(records, *dependencies, alone=self.alone, user=self.user, planned=self.planned)
        if learned is None or self.can_defer:
            return learned
        return learned.model_copy(update={"deferred": ""})

    def add_cost(self, end: RunFinished) -> RunFinished:
        """Return the end of a run with the policy's usage up to now, which includes the scoring of steps."""
        if self.policy is None or self.policy.cost.model_calls == end.usage.model_calls:
            return end
        cost = self.policy.cost
        usage: dict[str, Any] = {
            "model_calls": cost.model_calls,
            "prompt_tokens": cost.prompt_tokens,
            "completion_tokens": cost.completion_tokens,
            "by_purpose": dict(cost.by_purpose),
        }
        return end.model_copy(update={"usage": end.usage.model_copy(update=usage)})


async def learn_from_run(
    records: Sequence[EventRecord],
    store: LearningStore,
    memory: LongTermMemory | None = None,
    policy: Policy | None = None,
    weights: WeightParameters = DEFAULT_WEIGHTS,
    solutions: SolutionAccess | None = None,
    *,
    alone: bool = True,
    user: str = "",
    planned: bool = True,
    is_retry: bool = False,
) -> WeightsLearned | None:
    """Learn from a whole run, and return the event that reports it; None if there was nothing to learn.

    Learning is idempotent, also across processes. Errors are not raised, so that an answered run stays answered; the
    event reports them. If a store was unavailable, the event's ``deferred`` is ``waiting``.

    Args:
        records: events of the run, ending with its end.
        store: graph store that keeps the weights.
        memory: long-term memory to judge and extend.
        policy: scores the steps.
        weights: parameters of the weights.
        solutions: library of programs.
        alone: as in :class:`RunLearner`.
        user: as in :class:`RunLearner`.
        planned: as in :class:`RunLearner`.
        is_retry: whether an earlier attempt may have been cut short by an outage or the end of a process.
    """
    try:
        # The first attempt may have recorded misses as gone, which restarts their count. Settling them again would give
        # another result.
        if not (is_retry and await store.find_applied([f"run:{records[0].run}"])):
            records = await settle_misses(records, store, user)
        transcript = RunTranscript.from_records(records)
        step_scores = await _score_steps(transcript, store, policy)
        batch = build_lesson(records, policy_scores=step_scores, decay=weights.gamma, half_life=weights.half_life)
        await _learn_concurrently(batch, records, store)
        learned = _summarize_batch(batch) if batch is not None else None
    except FootpathError as error:
        return _record_error(WeightsLearned(), error)
    except Exception as error:  # noqa: BLE001  # a defect in learning must not fail a run that was answered
        _log.exception("a run could not be learnt from")
        return WeightsLearned(error=f"internal: {type(error).__name__}; the log has the details")
    if learned is not None and memory is not None:
        learned = await _await_or_record_error(learned, _update_memory(learned, records, transcript, memory))
    if learned is not None and solutions is not None:
        learned = await _await_or_record_error(
            learned, _update_solutions(learned, records, transcript, solutions, store, alone=alone, planned=planned)
        )
    return learned


async def _learn_concurrently(batch: LiveBatch | None, records: Sequence[EventRecord], store: LearningStore) -> None:
    """Learn the batch and the shapes of answers concurrently; an error is raised only after both have ended."""
    learning = (store.learn(batch),) if batch is not None else ()
    for outcome in await asyncio.gather(learn_answer_shapes(records, store), *learning, return_exceptions=True):
        if isinstance(outcome, BaseException):
            raise outcome


async def _await_or_record_error(learned: WeightsLearned, learning: Awaitable[WeightsLearned]) -> WeightsLearned:
    """Await a further step of learning; if it fails, return what was learnt before with the error."""
    try:
        return await learning
    except FootpathError as error:
        return _record_error(learned, error)


def _record_error(learned: WeightsLearned, error: FootpathError) -> WeightsLearned:
    """Return the event with an error, and with whether learning is deferred because of it."""
    _log.warning("a run was not learnt from as a whole: %s", error)
    # An unavailable store may become available again, and learning is idempotent, so it can be repeated.
    is_waiting = isinstance(error, UnavailableError) or learned.deferred == "waiting"
    return learned.model_copy(
        update={"error": f"{error.code}: {error.public_message}", "deferred": "waiting" if is_waiting else ""}
    )


async def _score_steps(
    transcript: RunTranscript, store: LearningStore, policy: Policy | None
) -> tuple[float, ...] | None:
    """Return the policy's scores of the steps; None if the policy is not asked.

    It is not asked about a run that was cancelled, failed or made no call, or whose tools no longer exist. Nor is it
    asked about runs with programs, since their text shows what each call was for.
    """
    if (
        policy is None
        or transcript.has_program_calls
        or transcript.end is None
        or transcript.end.outcome in ("cancelled", "failed")
    ):
        return None
    done = [transcript.steps[step] for step in sorted(transcript.steps)]
    if not any(result.attempts for result in (*done, *transcript.failed_steps)):
        return None
    docs = await store.get_tools({result.tool for result in (*done, *transcript.failed_steps)})
    if any(result.tool not in docs for result in (*done, *transcript.failed_steps)):
        return None
    return await policy.decide(
        ScoreQuestion(
            request=transcript.request,
            answer=transcript.end.answer,
            answered=transcript.end.outcome == "answered",
            steps=_pair_with_docs(done, docs),
            failed=_pair_with_docs(transcript.failed_steps, docs),
        )
    )


def _pair_with_docs(
    results: Sequence[StepResult], docs: Mapping[ToolId, ToolDoc]
) -> tuple[tuple[ToolDoc, StepResult], ...]:
    """Pair each result with the document of its tool."""
    return tuple((docs[result.tool], result) for result in results)


async def _update_memory(
    learned: WeightsLearned,
    records: Sequence[EventRecord],
    transcript: RunTranscript,
    memory: LongTermMemory,
) -> WeightsLearned:
    """Judge the memories that were followed, and store the run as a memory if it served its request."""
    judgements = [
        JudgedMemory(memory=memory_id, good=good) for memory_id, good in rate_followed_memories(records, transcript)
    ]
    for judgement in judgements:
        await memory.judge(judgement.memory, good=judgement.good, key=f"run:{records[0].run}")
    new_memories = await memory.keep(list(extract_solved_requests(records, transcript)))
    if new_memories:
        await memory.embed()
    return learned.model_copy(update={"judged": tuple(judgements), "remembered": tuple(new_memories)})


async def _update_solutions(
    learned: WeightsLearned,
    records: Sequence[EventRecord],
    transcript: RunTranscript,
    library: SolutionAccess,
    store: LearningStore,
    *,
    alone: bool,
    planned: bool,
) -> WeightsLearned:
    """Judge the solutions that the run took, each once, and add new ones to the library.

    New solutions are programs of the run that served its request, and known solutions under a new wording of the
    request.
    """
    run, judgements = (
        records[0].run,
        [
            JudgedSolution(solution=solution_id, good=good)
            for solution_id, good in judge_selected_solutions(records, transcript)
        ],
    )
    for judgement in judgements:
        await library.record_outcome(judgement.solution, good=judgement.good, run=run)
    served = {judgement.solution for judgement in judgements if judgement.good}
    asked_solutions = [
        record
        for record in collect_selected_solutions(records)
        if record.event.how == "asked" and record.event.solution in served
    ]
    known_solutions = await library.get(record.event.solution for record in asked_solutions)
    called_tools = {tool for solution in known_solutions.values() for tool in solution.plan.program.tools.values()}
    docs = await store.get_tools({result.tool for result in transcript.steps.values()} | called_tools)
    changing_tools = {tool for tool in called_tools if tool not in docs or not docs[tool].safe}
    requests = [transcript.subtasks[record.subtask].description or transcript.request for record in asked_solutions]
    reworded = [
        build_reworded_solution(
            record,
            solution,
            request,
            library.owner,
            changes=not changing_tools.isdisjoint(solution.plan.program.tools.values()),
        )
        for record, request in zip(asked_solutions, requests, strict=True)
        if (solution := known_solutions.get(record.event.solution)) is not None
    ]
    own_solutions = extract_solutions(records, transcript, docs, library.owner, planned=planned) if alone else ()
    new_solutions = [*(solution for solution in reworded if solution is not None), *own_solutions]
    ids = await library.add(new_solutions) if new_solutions else []
    return learned.model_copy(update={"solutions": tuple(dict.fromkeys(ids)), "solved": tuple(judgements)})


def _summarize_batch(batch: LiveBatch) -> WeightsLearned:
    """Return the event that reports a batch."""
    edges = [
        LearnedEdge(source=source, target=target, walked=count)
        for source, walks in sorted(fold_walks(batch).items())
        for target, count in sorted(walks.counts.items())
    ]
    tools = sorted({*(tool for tool, _ in batch.scores if tool != FINISH), *(tool for tool, _ in batch.outcomes)})
    learned_tools = [
        LearnedTool(
            tool=tool,
            scores=tuple(score for scored_tool, score in batch.scores if scored_tool == tool),
            outcomes=tuple(outcome for called_tool, outcome in batch.outcomes if called_tool == tool),
        )
        for tool in tools
    ]
    return WeightsLearned(transitions=tuple(edges), tools=tuple(learned_tools))
