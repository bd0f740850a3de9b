"""What a run has to do with the worker that makes it, and what that puts around each of its calls."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from agent.execution.executor import Executor
from agent.execution.layers import Layer
from domain.event import EventRecord, InputNeeded
from server.runs.ledger import LedgerExecutor
from server.runs.questions import Questions
from server.runs.stop_check import StopCheckExecutor
from server.runs.unknown_outcomes import UnknownOutcomeExecutor
from server.runs.visible_calls import Hidden, VisibleExecutor
from server.storage.runs import Run
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class RunControl:
    """What a run has to do with who makes it. ``told``: has every event that was told so far stored; ``held``: whether it is still
    made here, so that its end is its end; ``waits``: tells a question to the user and has the run put down until it is answered;
    ``stop``: has it ended at once, and says why.
    """

    told: Callable[[], Awaitable[None]]
    held: Callable[[], bool]
    waits: Callable[[InputNeeded], None]
    stop: Callable[[str], None]


class BeginRun(Protocol):
    """Begins a run, or goes on with one from its ``past`` events."""

    async def __call__(self, run: Run, past: Sequence[EventRecord], control: RunControl) -> AsyncGenerator[EventRecord]:
        """Raises ``FootpathError`` where it cannot be begun."""
        ...


def call_layers(
    storage: Storage,
    run: Run,
    control: RunControl,
    questions: Questions,
    hidden: Hidden,
) -> tuple[Layer, ...]:
    """What a run's calls pass before they are sent, the outermost first: may the run still go on, is a change in the ledger, may its user see the tool.

    ``hidden``: the tools that its user may not see, as the rows have it now.
    """

    def recorded(sender: Executor) -> Executor:
        """Changes in the ledger; of one whose answer is lost, the user says what became of it."""
        return UnknownOutcomeExecutor(LedgerExecutor(sender, storage.effects, run.id, control.told), questions)

    return (
        partial(
            StopCheckExecutor,
            stopped=partial(storage.run_leases.find_stop_reason, run.id),
            stop=control.stop,
            hidden=hidden,
        ),
        recorded,
        partial(VisibleExecutor, hidden=hidden, changes_only=True),  # reads are looked at beside the stop
    )
