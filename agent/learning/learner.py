"""Learning after a run: shapes of answers, weights of the graph, memories and solutions.

Everything that is stored has the run's key, so that learning from a run twice has the effect of learning once.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agent.learning.answer_shapes import AnswerShapeStore, learn_answers
from agent.learning.repeated_404s import ToolFactStore, settle_misses
from agent.learning.run_lesson import build_lesson
from agent.memory.from_run import followed, solved
from agent.memory.long_term import LongTermMemory
from agent.policy.path_questions import ScoreQuestion
from agent.policy.protocol import Policy
from agent.solutions.from_run import (
    build_reworded_solution,
    collect_taken_solutions,
    judge_taken_solutions,
    learn_solutions,
)
from agent.solutions.protocol import SolutionAccess
from agent.transcript import RunTranscript
from domain.errors import FootpathError, UnavailableError
from domain.event import EventRecord, RunFinished
from domain.learning_events import JudgedMemory, JudgedSolution, LearnedEdge, LearnedTool, WeightsLearned
from domain.plan import StepResult
from domain.tool import FINISH, ToolDoc, ToolId
from graph.evidence import fold_walks
from graph.facts import LiveBatch
from graph.weights import DEFAULT_WEIGHTS, WeightParameters

_log = logging.getLogger(__name__)


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
    """Policy that scores the steps; without one, :mod:`agent.learning.step_scores` scores them by rules."""
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
    keeps: bool = False
    """True if the caller saves a run whose lesson is deferred, and learns from it later."""

    async def learn(self, records: Sequence[EventRecord]) -> WeightsLearned | None:
        """Learn from a run whose last record is its end, and return the event that reports what was learnt.

        None if there is nothing to learn, the run was learnt from already, or it continues elsewhere.
        """
        if not self.is_over() or any(isinstance(record.event, WeightsLearned) for record in records):
            return None
        parts = self.store, self.memory, self.policy, self.weights, self.solutions
        learned = await learn_from(records, *parts, alone=self.alone, user=self.user, planned=self.planned)
        if learned is None or self.keeps:
            return learned
        return learned.model_copy(update={"deferred": ""})

    def add_cost(self, end: RunFinished) -> RunFinished:
        """Return the end of a run with the policy's usage up to now, which includes the scoring of steps."""
        if self.policy is None or self.policy.cost.model_calls == end.usage.model_calls:
            return end
        cost = self.policy.cost
        spent: dict[str, Any] = {
            "model_calls": cost.model_calls,
            "prompt_tokens": cost.prompt_tokens,
            "completion_tokens": cost.completion_tokens,
            "by_purpose": dict(cost.by_purpose),
        }
        return end.model_copy(update={"usage": end.usage.model_copy(update=spent)})


async def learn_from(
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
    again: bool = False,
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
        again: whether an earlier attempt may have been cut short by an outage or the end of a process.
    """
    try:
        # The first attempt may have recorded misses as gone, which restarts their count. Settling them again would give
        # another result.
        if not (again and await store.applied([f"run:{records[0].run}"])):
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
    for one in await asyncio.gather(learn_answers(records, store), *learning, return_exceptions=True):
        if isinstance(one, BaseException):
            raise one


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
    waits = isinstance(error, UnavailableError) or learned.deferred == "waiting"
    return learned.model_copy(
        update={"error": f"{error.code}: {error.public_message}", "deferred": "waiting" if waits else ""}
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
    if not any(result.attempts for result in (*done, *transcript.failed)):
        return None
    docs = await store.get_tools({result.tool for result in (*done, *transcript.failed)})
    if any(result.tool not in docs for result in (*done, *transcript.failed)):
        return None
    return await policy.decide(
        ScoreQuestion(
            request=transcript.request,
            answer=transcript.end.answer,
            answered=transcript.end.outcome == "answered",
            steps=_pair_with_docs(done, docs),
            failed=_pair_with_docs(transcript.failed, docs),
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
    judged = [JudgedMemory(memory=one, good=good) for one, good in followed(records, transcript)]
    for one in judged:
        await memory.judge(one.memory, good=one.good, key=f"run:{records[0].run}")
    new_memories = await memory.keep(list(solved(records, transcript)))
    if new_memories:
        await memory.embed()
    return learned.model_copy(update={"judged": tuple(judged), "remembered": tuple(new_memories)})


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
        [JudgedSolution(solution=one, good=good) for one, good in judge_taken_solutions(records, transcript)],
    )
    for one in judgements:
        await library.judge(one.solution, good=one.good, run=run)
    served = {one.solution for one in judgements if one.good}
    asked_solutions = [
        one for one in collect_taken_solutions(records) if one.event.how == "asked" and one.event.solution in served
    ]
    known_solutions = await library.get(one.event.solution for one in asked_solutions)
    may_call = {tool for kept in known_solutions.values() for tool in kept.plan.program.tools.values()}
    docs = await store.get_tools({result.tool for result in transcript.steps.values()} | may_call)
    changing = {one for one in may_call if one not in docs or not docs[one].safe}
    requests = [transcript.subtasks[one.subtask].description or transcript.request for one in asked_solutions]
    reworded = [
        build_reworded_solution(
            one, kept, request, library.owner, changes=not changing.isdisjoint(kept.plan.program.tools.values())
        )
        for one, request in zip(asked_solutions, requests, strict=True)
        if (kept := known_solutions.get(one.event.solution)) is not None
    ]
    own = learn_solutions(records, transcript, docs, library.owner, planned=planned) if alone else ()
    new = [*(one for one in reworded if one is not None), *own]
    ids = await library.add(new) if new else []
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
            scores=tuple(score for one, score in batch.scores if one == tool),
            outcomes=tuple(outcome for one, outcome in batch.outcomes if one == tool),
        )
        for tool in tools
    ]
    return WeightsLearned(transitions=tuple(edges), tools=tuple(learned_tools))
