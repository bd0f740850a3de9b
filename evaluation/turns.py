"""Requests run as the turns of a conversation: each is given what those before it found, and what it asks back is answered by its user."""

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
"""Makes what one run works with."""


@dataclass(frozen=True, slots=True)
class Turn:
    """A request that was run. ``heard``: the calls of the turns before it; ``questions``: what it asked back."""

    asked: Asked
    events: tuple[Event, ...]
    heard: tuple[StepResult, ...] = ()
    questions: tuple[AskedBack, ...] = ()


async def turns_of(conversation: Sequence[Asked], deps: Deps, budget: Budget) -> AsyncGenerator[Turn]:
    """The turns of a conversation, each as it ends. What a request has ``before`` it is asked first, and is no turn of its own."""
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
    """The verdict on a turn; ``effects`` and ``made``: what was changed in it."""
    return judge(turn.asked, turn.events, effects, made, turn.heard, turn.questions)


def _calls(records: Sequence[EventRecord]) -> list[StepResult]:
    return [record.event.result for record in records if isinstance(record.event, CallFinished)]
