"""The event stream of a run: events are numbered and handed to a follower one at a time."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from domain.event import Event, EventRecord

EmitEvent = Callable[[Event], Awaitable[None]]
"""Emits one event of a subtask, and returns when the follower has handled it."""

Work = Callable[[], Awaitable[None]]
"""The work of a run, which emits its events."""

RunInTurns = Callable[[Work], Awaitable[None]]
"""Runs work so that other work of the process gets turns in between."""


class _PendingEvent(NamedTuple):
    subtask: int
    event: Event
    handled: asyncio.Event


class RunEventStream:
    """The events of one run, from the run's side (:meth:`emit`) and from its follower's (:meth:`follow`).

    :meth:`emit` returns when the follower asks for the next event. A follower that stores each event before it asks
    again has therefore stored the start of a call before the call is made. The server stores in batches and waits for
    the write only before changes: after a kill, the start of a call that only reads may be missing, and the call is
    made again (:mod:`agent.resume`).
    """

    def __init__(self, run: str, past_events: Sequence[EventRecord] = ()) -> None:
        """Open the stream.

        ``past_events`` are the events from before the run was interrupted; numbering continues after them.
        """
        self.run = run
        self.records = list(past_events)
        """All events so far, in order."""
        self.has_follower = True
        """True until :meth:`follow` ends."""
        self._pending: asyncio.Queue[_PendingEvent | None] = asyncio.Queue()

    async def emit(self, subtask: int, event: Event) -> None:
        """Hand an event over, and return when the follower has handled it.

        ``subtask`` is the number of the event's subtask; 0 stands for the run as a whole.

        Raises:
            CancelledError: the follower is gone, so nobody would receive the event.
        """
        if not self.has_follower:
            raise asyncio.CancelledError
        pending = _PendingEvent(subtask, event, asyncio.Event())
        self._pending.put_nowait(pending)
        await pending.handled.wait()

    def build_record(self, subtask: int, event: Event) -> EventRecord:
        """Build the record of an event with the next number."""
        seq = self.records[-1].seq + 1 if self.records else 1
        return EventRecord(run=self.run, seq=seq, at=datetime.now(UTC), subtask=subtask, event=event)

    async def follow(self, work: Work, run_in_turns: RunInTurns | None = None) -> AsyncGenerator[EventRecord]:
        """Run the work in a task of its own, and yield its events as they come; raise what the work raises.

        If the follower is cancelled, so is the work. The follower still receives the events that the work emits while
        it ends, and then the cancellation is raised. Closing the iterator (``aclose``) cancels the work and waits for
        it.
        """
        task = asyncio.create_task(_run_work(work, run_in_turns))
        # Resolved when called, not bound here: ``_take_next`` may replace the queue.
        task.add_done_callback(lambda _: self._pending.put_nowait(None))
        try:
            while (pending := await self._take_next(task)) is not None:
                record = self.build_record(pending.subtask, pending.event)
                self.records.append(record)
                yield record
                pending.handled.set()
            task.result()
        finally:
            self.has_follower = False
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _take_next(self, task: "asyncio.Task[None]") -> _PendingEvent | None:
        """Return the next event; None when the work has ended."""
        try:
            return await self._pending.get()
        except asyncio.CancelledError:
            if task.cancelling():  # cancelled a second time: the follower waits no longer
                raise
            self._pending = asyncio.Queue()  # drop events that were not handed out: their emitters are cancelled
            task.cancel()
            return None if task.done() else await self._pending.get()


async def _run_work(work: Work, run_in_turns: RunInTurns | None) -> None:
    """Run the work, in turns with other work if ``run_in_turns`` is given; a coroutine, since ``create_task`` needs one."""
    await (work() if run_in_turns is None else run_in_turns(work))
