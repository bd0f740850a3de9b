"""Requests run as turns of a conversation: each gets what earlier turns found, and its questions are answered."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace

from agent.budget import Budget
from agent.conversation import MOST_RUNS, EarlierRun, earlier_run
from agent.execution.provenance import Voices
from agent.run import RunDeps, run
from agent.run_context import RunUser
from domain.event import CallFinished, Event, EventRecord
from domain.plan import StepResult
from evaluation.asking_back import AnsweringUser, AskedBack
from evaluation.correctness import Verdict, judge
from evaluation.expected import Asked, Change

Deps = Callable[[], Awaitable[RunDeps]]
"""Builds the dependencies of one run."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A request that was run as a turn of a conversation."""

    asked: Asked
    events: tuple[Event, ...]
    heard: tuple[StepResult, ...] = ()
    """Calls of the turns before it."""
    questions: tuple[AskedBack, ...] = ()
    """Questions that the run asked its user."""


async def turns_of(conversation: Sequence[Asked], deps: Deps, budget: Budget) -> AsyncGenerator[Turn]:
    """Yield the turns of a conversation, each as it ends.

    What a request has ``before`` it is run first, and is not yielded as a turn.
    """
    said: list[str] = []
    runs: list[EarlierRun] = []
    heard: list[StepResult] = []

    async def records_of(text: str, user: AnsweringUser) -> list[EventRecord]:
        said.append(text)
        working = replace(await deps(), user=RunUser(user, voices=Voices(said=tuple(said))))
        records = [record async for record in run(text, working, budget, earlier=runs[-MOST_RUNS:])]
        runs.append(earlier_run(records))
        return records

    for one in conversation:
        for text in one.before:
            heard += _calls(await records_of(text, AnsweringUser(None)))
        user = AnsweringUser(one.ask)
        records = await records_of(one.request, user)
        yield Turn(one, tuple(record.event for record in records), tuple(heard), tuple(user.asked))
        heard += _calls(records)


def judged(turn: Turn, effects: Sequence[str] | None = None, made: Sequence[Change] | None = None) -> Verdict:
    """Return the verdict on a turn; ``effects`` and ``made`` are what was changed in it."""
    return judge(turn.asked, turn.events, effects, made, turn.heard, turn.questions)


def _calls(records: Sequence[EventRecord]) -> list[StepResult]:
    return [record.event.result for record in records if isinstance(record.event, CallFinished)]
