"""Interface between a run and the worker that executes it, and the layers around each call of the run."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from agent.execution.executor import Executor
from agent.execution.run_executor import ExecutorLayerFactory
from domain.event import EventRecord, InputNeeded
from server.runs.call_layers import (
    HiddenToolsLookup,
    LedgerExecutor,
    StopCheckExecutor,
    UnknownOutcomeExecutor,
    VisibleExecutor,
)
from server.runs.questions import DurableQuestions
from server.storage.runs import Run
from server.storage.storage import Storage


@dataclass(frozen=True, slots=True)
class RunControl:
    """Callbacks from a run to the worker that executes it."""

    flush: Callable[[], Awaitable[None]]
    """Waits until every event emitted so far is stored."""
    is_owned: Callable[[], bool]
    """Returns whether the run is still executed here, so that its end here is its end."""
    wait_for_user: Callable[[InputNeeded], None]
    """Emits a question to the user, and releases the run until it is answered."""
    stop: Callable[[str], None]
    """Ends the run at once, with the given reason."""


class RunStarter(Protocol):
    """Starts a run, or resumes one from its ``past`` events."""

    async def __call__(self, run: Run, past: Sequence[EventRecord], control: RunControl) -> AsyncGenerator[EventRecord]:
        """Return the run's events. Raises ``FootpathError`` where it cannot be started."""
        ...


def build_call_layers(
    storage: Storage,
    run: Run,
    control: RunControl,
    questions: DurableQuestions,
    find_hidden_tools: HiddenToolsLookup,
) -> tuple[ExecutorLayerFactory, ...]:
    """Return the layers that a run's calls pass before they are sent, the outermost first.

    They check that the run may still go on, enter changes in the ledger, and check that the user may see the tool.
    ``find_hidden_tools`` returns the tools that the user may not see, as the database has them now.
    """

    def record_changes(sender: Executor) -> Executor:
        """Wrap an executor so that changes are entered in the ledger, and the user is asked about lost answers."""
        return UnknownOutcomeExecutor(LedgerExecutor(sender, storage.effects, run.id, control.flush), questions)

    return (
        partial(
            StopCheckExecutor,
            find_stop_reason=partial(storage.run_leases.find_stop_reason, run.id),
            stop=control.stop,
            find_hidden_tools=find_hidden_tools,
        ),
        record_changes,
        partial(
            VisibleExecutor, find_hidden_tools=find_hidden_tools, changes_only=True
        ),  # StopCheckExecutor checks reads together with the stop
    )
