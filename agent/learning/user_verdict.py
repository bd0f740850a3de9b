"""Application of a user's verdict on an answer to the run's solutions, memories and weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from agent.memory.long_term import LongTermMemory
from agent.memory.request_patterns import build_pattern
from agent.memory.run_lessons import extract_solved_requests
from agent.solutions.protocol import SolutionAccess
from agent.transcript import RunTranscript
from domain.event import EventRecord, MemoryRecalled, ProgramEnded, RunFinished, SolutionTaken, Verdict, WeightsLearned
from domain.memory import make_memory_id
from domain.model import Model
from domain.tool import FINISH
from domain.trajectory import SolvedRequest
from graph.facts import LiveBatch
from graph.weights import DEFAULT_WEIGHTS, WeightParameters


class JudgedRun(Model):
    """A run as the subject of a verdict: its answer, and what it used and stored."""

    run: str
    """Id of the run."""
    request: str
    answered: bool
    """True if the run answered its request."""
    at: datetime
    """Time of the run's first event."""
    answer: str = ""
    """Answer of the whole run."""
    answers: tuple[str, ...] = ()
    """Answers of its programs, as :func:`collect_answers` returns them."""
    solutions: tuple[str, ...] = ()
    """Ids of the solutions that the run took or added."""
    followed: tuple[str, ...] = ()
    """Ids of its user's own memories whose path served it.

    Shared memories are not included: they are judged by the results of runs and not by one user's verdict.
    """
    solved: tuple[SolvedRequest, ...] = ()
    """Solved requests that the run was stored as in memory."""
    learned: WeightsLearned | None = None
    """Weights learnt from the run; None if none were."""


def collect_answers(records: Sequence[EventRecord]) -> tuple[str, ...]:
    """Return the answers of a run's programs before rewording; without any, the run's whole answer.

    They show whether another run gives the same answer.
    """
    ends = {record.subtask: record.event for record in records if isinstance(record.event, ProgramEnded)}
    program_answers = tuple(end.answer for end in ends.values() if end.spoken and end.answer.strip())
    run_answers = [record.event.answer for record in records if isinstance(record.event, RunFinished)]
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
    """Stores that a verdict changes. Those that are None are left unchanged."""

    store: BatchStore | None = None
    """Graph store with the shared weights."""
    memory: LongTermMemory | None = None
    """The user's memory."""
    solutions: SolutionAccess | None = None
    """The user's library of solutions."""
    weights: WeightParameters = DEFAULT_WEIGHTS
    """Parameters of the weights."""


def build_judged_run(records: Sequence[EventRecord], owner: str) -> JudgedRun:
    """Build the subject of a verdict from all events of an ended run. ``owner``: the user of the run."""
    transcript = RunTranscript.from_records(records)
    end, learned = transcript.end, [record.event for record in records if isinstance(record.event, WeightsLearned)]
    taken_solutions = [record.event.solution for record in records if isinstance(record.event, SolutionTaken)]
    return JudgedRun(
        run=records[0].run,
        request=transcript.request,
        answered=end is not None and end.outcome == "answered",
        at=records[0].at,
        answer=end.answer if end is not None else "",
        answers=collect_answers(records),
        solutions=tuple(
            dict.fromkeys([*taken_solutions, *(solution for event in learned for solution in event.solutions)])
        ),
        followed=tuple(_find_own_followed(records, learned, owner)),
        solved=tuple(extract_solved_requests(records, transcript)),
        learned=learned[-1] if learned else None,
    )


async def apply_verdict(
    judged_run: JudgedRun, before: Verdict | None, verdict: Verdict | None, targets: VerdictTargets, change: int
) -> None:
    """Replace a run's verdict by a new one, with all effects.

    - ``wrong``: the solutions that the run took or added are judged as failed, and are not taken again for its
      request or a similarly worded one. The memories that it followed are judged as failed, those that it added are
      forgotten, and its transitions and positive scores are subtracted from the weights. Outcomes of its tools are
      kept, since the tools did answer.
    - ``right``: its solutions are judged as successful.
    - None: the state becomes what it would be without a verdict.

    Args:
        judged_run: the run.
        before: the verdict in force until now.
        verdict: the new verdict.
        targets: the stores to change.
        change: number of this change among the changes of the run's verdict; it makes the keys of its effects unique.
    """
    if targets.solutions is not None:
        await _judge_solutions(judged_run, verdict, targets.solutions)
    # Memories and weights distinguish only wrong from not wrong, so nothing changes between right and no verdict.
    if (before == "wrong") == (verdict == "wrong"):
        return
    if targets.memory is not None:
        await _judge_memories(
            judged_run, targets.memory, f"verdict:{judged_run.run}:{change}", wrong=verdict == "wrong"
        )
    if (
        targets.store is not None
        and (batch := build_reversal(judged_run, change, targets.weights, restore=verdict != "wrong")) is not None
    ):
        await targets.store.learn(batch)


async def _judge_solutions(judged_run: JudgedRun, verdict: Verdict | None, solutions: SolutionAccess) -> None:
    """Judge the run's solutions; without a verdict, by whether the run was answered."""
    good = judged_run.answered if verdict is None else verdict == "right"
    for solution in judged_run.solutions:
        if verdict == "wrong":
            await solutions.record_outcome(solution, good=False, run=judged_run.run, wrong=judged_run.request)
        else:
            await solutions.record_outcome(solution, good=good, run=judged_run.run, right=judged_run.request)


async def _judge_memories(judged_run: JudgedRun, memory: LongTermMemory, key: str, *, wrong: bool) -> None:
    """Judge the memories that the run followed, and forget or restore those that it added."""
    for memory_id in judged_run.followed:
        await memory.judge(memory_id, good=not wrong, key=key)
    remembered = judged_run.learned.remembered if judged_run.learned else ()
    if wrong:
        await memory.forget(remembered)
    elif remembered:
        await memory.keep(judged_run.solved)
        await memory.embed()


def _find_own_followed(records: Sequence[EventRecord], learned: Sequence[WeightsLearned], owner: str) -> Iterator[str]:
    """Yield the user's own memories that served the run, each once."""
    recalled = [
        recalled_memory
        for record in records
        if isinstance(record.event, MemoryRecalled)
        for recalled_memory in record.event.memories
    ]
    own = {
        recalled_memory.id
        for recalled_memory in recalled
        if recalled_memory.id == make_memory_id(owner, build_pattern(recalled_memory.request), recalled_memory.path)
    }
    yield from dict.fromkeys(
        judgement.memory
        for event in learned
        for judgement in event.judged
        if judgement.good and judgement.memory in own
    )


def build_reversal(judged_run: JudgedRun, change: int, weights: WeightParameters, *, restore: bool) -> LiveBatch | None:
    """Return the batch that subtracts a run's success from the weights, or adds it back if ``restore``.

    None if the run reached no ``Finish``.
    """
    learned = judged_run.learned
    if learned is None or not any(transition.target == FINISH for transition in learned.transitions):
        return None
    sign = 1.0 if restore else -1.0
    scores = [(tool.tool, sign * score) for tool in learned.tools for score in tool.scores if score > 0]
    served = {FINISH, *(tool for tool, _ in scores)}
    transitions = {
        (transition.source, transition.target): transition.walked
        for transition in learned.transitions
        if transition.target in served
    }
    ends = sum(count for (_, target), count in transitions.items() if target == FINISH)
    return LiveBatch(
        key=f"verdict:{judged_run.run}:{change}",
        transitions=transitions,
        scores=(*scores, *((FINISH, sign) for _ in range(ends))),
        outcomes=(),
        decay=weights.gamma,
        at=min(judged_run.at, datetime.now(UTC)),
        half_life=weights.half_life,
    )
