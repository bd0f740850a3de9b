"""Effects of a user's verdict on an answer: on the run's solutions, memories and weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from agent.memory.from_run import solved
from agent.memory.long_term import LongTermMemory
from agent.memory.similarity import pattern
from agent.solutions.protocol import SolutionAccess
from agent.transcript import RunTranscript
from domain.event import EventRecord, ProgramEnded, RunFinished
from domain.learning_events import MemoryRecalled, SolutionTaken, Verdict, WeightsLearned
from domain.memory import make_memory_id
from domain.model import Model
from domain.tool import FINISH
from domain.trajectory import SolvedRequest
from graph.facts import LiveBatch
from graph.weights import DEFAULT_WEIGHTS, WeightParameters


class JudgedRun(Model):
    """Subject of a verdict: what a run answered, used and left behind."""

    run: str
    request: str
    answered: bool
    at: datetime
    answer: str = ""
    answers: tuple[str, ...] = ()
    """Answers as :func:`collect_answers` returns them."""
    solutions: tuple[str, ...] = ()
    """Solutions that the run took or was kept as."""
    followed: tuple[str, ...] = ()
    """Memories of its user whose path served it.

    Shared memories are judged by the results of runs and not by one user's verdict.
    """
    solved: tuple[SolvedRequest, ...] = ()
    """Solved requests by which the run is remembered."""
    learned: WeightsLearned | None = None
    """Weights learnt from the run; None if none were."""


def collect_answers(records: Sequence[EventRecord]) -> tuple[str, ...]:
    """Return what a run answered, so that it can be recognised.

    These are the answers of its programs, however they were worded then; without any, the run's whole answer.
    """
    ends = {one.subtask: one.event for one in records if isinstance(one.event, ProgramEnded)}
    program_answers = tuple(end.answer for end in ends.values() if end.spoken and end.answer.strip())
    run_answers = [one.event.answer for one in records if isinstance(one.event, RunFinished)]
    return program_answers or tuple(run_answers[-1:])


def is_same_request(request: str, other: str) -> bool:
    """Return whether two requests are equal up to case, spaces and final punctuation."""
    first, second = (" ".join(text.split()).rstrip(" .?!。？！").casefold() for text in (request, other))
    return first == second


class BatchStore(Protocol):
    """The part of a graph store that verdicts need."""

    async def learn(self, batch: LiveBatch) -> bool:
        """Apply a batch once by its key; return whether it was new."""
        ...


@dataclass(frozen=True, slots=True)
class VerdictTargets:
    """Stores that a verdict changes: the user's own library and memory, and the shared weights. One that is None stays as it is."""

    store: BatchStore | None = None
    memory: LongTermMemory | None = None
    solutions: SolutionAccess | None = None
    weights: WeightParameters = DEFAULT_WEIGHTS


def build_judged_run(records: Sequence[EventRecord], owner: str) -> JudgedRun:
    """Return what a verdict on an ended run of ``owner`` is about, from all of its events."""
    transcript = RunTranscript.from_records(records)
    end, learned = transcript.end, [one.event for one in records if isinstance(one.event, WeightsLearned)]
    taken_solutions = [record.event.solution for record in records if isinstance(record.event, SolutionTaken)]
    return JudgedRun(
        run=records[0].run,
        request=transcript.request,
        answered=end is not None and end.outcome == "answered",
        at=records[0].at,
        answer=end.answer if end is not None else "",
        answers=collect_answers(records),
        solutions=tuple(dict.fromkeys([*taken_solutions, *(one for event in learned for one in event.solutions)])),
        followed=tuple(_find_own_followed(records, learned, owner)),
        solved=tuple(solved(records, transcript)),
        learned=learned[-1] if learned else None,
    )


async def apply_verdict(
    judged_run: JudgedRun, before: Verdict | None, verdict: Verdict | None, targets: VerdictTargets, change: int
) -> None:
    """Apply a verdict in place of the one before.

    - Wrong: the solutions that the run took or left have failed it, and are not taken again for its request or a
      similarly worded one. The memories that it followed have failed, what it was remembered by is forgotten, and its
      transitions and scores are reversed in the weights. The answers of its tools are true all the same, so their
      availability stays.
    - Right: they have served.
    - None: the state is as if nobody had judged, which undoes the verdict before.

    Args:
        judged_run: what the run used and left.
        before: the verdict in force until now.
        verdict: the new one.
        targets: the stores to change.
        change: number of this change among those of the run's verdict.
    """
    if targets.solutions is not None:
        await _judge_solutions(judged_run, verdict, targets.solutions)
    # Memories and weights know only wrong or not, and a change counts once: nothing to do if that stays the same.
    if (before == "wrong") == (verdict == "wrong"):
        return
    if targets.memory is not None:
        await _judge_memories(
            judged_run, targets.memory, f"verdict:{judged_run.run}:{change}", wrong=verdict == "wrong"
        )
    if (
        targets.store is not None
        and (batch := build_reversal(judged_run, change, targets.weights, again=verdict != "wrong")) is not None
    ):
        await targets.store.learn(batch)


async def _judge_solutions(judged_run: JudgedRun, verdict: Verdict | None, solutions: SolutionAccess) -> None:
    """Judge the run's solutions; without a verdict, by whether the run was answered."""
    good = judged_run.answered if verdict is None else verdict == "right"
    for one in judged_run.solutions:
        if verdict == "wrong":
            await solutions.judge(one, good=False, run=judged_run.run, wrong=judged_run.request)
        else:
            await solutions.judge(one, good=good, run=judged_run.run, right=judged_run.request)


async def _judge_memories(judged_run: JudgedRun, memory: LongTermMemory, key: str, *, wrong: bool) -> None:
    """Judge the memories that the run followed, and forget or restore what it was remembered by."""
    for one in judged_run.followed:
        await memory.judge(one, good=not wrong, key=key)
    remembered = judged_run.learned.remembered if judged_run.learned else ()
    if wrong:
        await memory.forget(remembered)
    elif remembered:
        await memory.keep(judged_run.solved)
        await memory.embed()


def _find_own_followed(records: Sequence[EventRecord], learned: Sequence[WeightsLearned], owner: str) -> Iterator[str]:
    """Yield the user's own memories that served the run, each once."""
    recalled = [one for record in records if isinstance(record.event, MemoryRecalled) for one in record.event.memories]
    own = {one.id for one in recalled if one.id == make_memory_id(owner, pattern(one.request), one.path)}
    yield from dict.fromkeys(one.memory for event in learned for one in event.judged if one.good and one.memory in own)


def build_reversal(judged_run: JudgedRun, change: int, weights: WeightParameters, *, again: bool) -> LiveBatch | None:
    """Return the batch that reverses a run's success in the weights, or restores it if ``again``.

    None if the run had no success.
    """
    learned = judged_run.learned
    if learned is None or not any(one.target == FINISH for one in learned.transitions):
        return None
    sign = 1.0 if again else -1.0
    scores = [(one.tool, sign * score) for one in learned.tools for score in one.scores if score > 0]
    served = {FINISH, *(tool for tool, _ in scores)}
    walked = {(one.source, one.target): one.walked for one in learned.transitions if one.target in served}
    ends = sum(count for (_, target), count in walked.items() if target == FINISH)
    return LiveBatch(
        key=f"verdict:{judged_run.run}:{change}",
        transitions=walked,
        scores=(*scores, *((FINISH, sign) for _ in range(ends))),
        outcomes=(),
        decay=weights.gamma,
        at=min(judged_run.at, datetime.now(UTC)),
        half_life=weights.half_life,
    )
