"""A user's word on an answer, and what it changes: the solutions and memories that the run went by, what it left behind, and its weights."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol

from agent.memory.from_run import solved
from agent.memory.long_term import LongTermMemory
from agent.memory.similarity import pattern
from agent.solutions.protocol import Solutions
from agent.transcript import Transcript
from domain.event import EventRecord, ProgramEnded, RunFinished
from domain.learned import WeightsLearned
from domain.memory import memory_id
from domain.model import Model
from domain.recalled import MemoryRecalled
from domain.taken import SolutionTaken
from domain.tool import FINISH
from domain.trajectory import Solved
from domain.verdict import Verdict
from graph.facts import LiveBatch
from graph.weights import DEFAULTS, WeightParameters


class Judged(Model):
    """What a verdict on a run is about. ``solutions``: those that it took or was kept as. ``followed``: memories of its user's own
    whose path served it; those that all share are judged by what runs come to, not by one user's word. ``solved``: what it was remembered by.
    ``answers``: as :func:`answers_of` has them.
    """

    run: str
    request: str
    answered: bool
    at: datetime
    answer: str = ""
    answers: tuple[str, ...] = ()
    solutions: tuple[str, ...] = ()
    followed: tuple[str, ...] = ()
    solved: tuple[Solved, ...] = ()
    learned: WeightsLearned | None = None


def answers_of(records: Sequence[EventRecord]) -> tuple[str, ...]:
    """What a run answered, so that it is known again: what its programs said, however it was put into words then; without any, the whole of it."""
    ends = {one.subtask: one.event for one in records if isinstance(one.event, ProgramEnded)}
    said = tuple(end.answer for end in ends.values() if end.spoken and end.answer.strip())
    whole = [one.event.answer for one in records if isinstance(one.event, RunFinished)]
    return said or tuple(whole[-1:])


def same_words(one: str, other: str) -> bool:
    """Whether two requests are the same, but for case, spaces and the mark at the end."""
    first, second = (" ".join(text.split()).rstrip(" .?!。？！").casefold() for text in (one, other))
    return first == second


class Learns(Protocol):
    """What verdicts need of a graph store."""

    async def learn(self, batch: LiveBatch) -> bool:
        """Apply a batch once by its key; whether it was new."""
        ...


@dataclass(frozen=True, slots=True)
class Told:
    """Who is told of a verdict: the user's own library and memory, and the weights that all share. What is None is passed over."""

    store: Learns | None = None
    memory: LongTermMemory | None = None
    solutions: Solutions | None = None
    weights: WeightParameters = DEFAULTS


def judged_of(records: Sequence[EventRecord], owner: str) -> Judged:
    """What there is to be judged of a run of ``owner``'s that has ended, out of all of its events."""
    transcript = Transcript.of(records)
    end, learned = transcript.end, [one.event for one in records if isinstance(one.event, WeightsLearned)]
    taken = [record.event.solution for record in records if isinstance(record.event, SolutionTaken)]
    return Judged(
        run=records[0].run,
        request=transcript.request,
        answered=end is not None and end.outcome == "answered",
        at=records[0].at,
        answer=end.answer if end is not None else "",
        answers=answers_of(records),
        solutions=tuple(dict.fromkeys([*taken, *(one for event in learned for one in event.solutions)])),
        followed=tuple(_own_followed(records, learned, owner)),
        solved=tuple(solved(records, transcript)),
        learned=learned[-1] if learned else None,
    )


async def judge(of: Judged, before: Verdict | None, verdict: Verdict | None, told: Told, change: int) -> None:
    """Let a verdict in the place of the one ``before`` it count. ``change``: the how-manieth of this run's it is.

    Wrong: the solutions that the run took, or left behind, have failed it, and are not taken again for its request or one that is worded
    like it; the memories that it followed have failed, what it was remembered by is forgotten, and its walk and scores are taken back from the weights. What
    its tools answered is true all the same: their availability stays. Right: they have served. None: as if nobody had said
    anything, which undoes what the verdict before did.
    """
    if told.solutions is not None:
        await _judge_solutions(of, verdict, told.solutions)
    if (before == "wrong") == (verdict == "wrong"):
        return
    if told.memory is not None:
        await _judge_memories(of, told.memory, f"verdict:{of.run}:{change}", wrong=verdict == "wrong")
    if told.store is not None and (batch := taken_back(of, change, told.weights, again=verdict != "wrong")) is not None:
        await told.store.learn(batch)


async def _judge_solutions(of: Judged, verdict: Verdict | None, solutions: Solutions) -> None:
    good = of.answered if verdict is None else verdict == "right"
    for one in of.solutions:
        if verdict == "wrong":
            await solutions.judge(one, good=False, run=of.run, wrong=of.request)
        else:
            await solutions.judge(one, good=good, run=of.run, right=of.request)


async def _judge_memories(of: Judged, memory: LongTermMemory, key: str, *, wrong: bool) -> None:
    for one in of.followed:
        await memory.judge(one, good=not wrong, key=key)
    remembered = of.learned.remembered if of.learned else ()
    if wrong:
        await memory.forget(remembered)
    elif remembered:
        await memory.keep(of.solved)
        await memory.embed()


def _own_followed(records: Sequence[EventRecord], learned: Sequence[WeightsLearned], owner: str) -> Iterator[str]:
    told = [one for record in records if isinstance(record.event, MemoryRecalled) for one in record.event.memories]
    own = {one.id for one in told if one.id == memory_id(owner, pattern(one.request), one.path)}
    yield from dict.fromkeys(one.memory for event in learned for one in event.judged if one.good and one.memory in own)


def taken_back(of: Judged, change: int, weights: WeightParameters, *, again: bool) -> LiveBatch | None:
    """What takes a run's success back from the weights, or gives it ``again``; None where it was none."""
    learned = of.learned
    if learned is None or not any(one.target == FINISH for one in learned.transitions):
        return None
    sign = 1.0 if again else -1.0
    scores = [(one.tool, sign * score) for one in learned.tools for score in one.scores if score > 0]
    served = {FINISH, *(tool for tool, _ in scores)}
    walked = {(one.source, one.target): one.walked for one in learned.transitions if one.target in served}
    ends = sum(count for (_, target), count in walked.items() if target == FINISH)
    return LiveBatch(
        key=f"verdict:{of.run}:{change}",
        transitions=walked,
        scores=(*scores, *((FINISH, sign) for _ in range(ends))),
        outcomes=(),
        decay=weights.gamma,
        at=min(of.at, datetime.now(UTC)),
        half_life=weights.half_life,
    )
