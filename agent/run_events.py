"""The one way out of a run: every event is numbered here and handed to whoever follows the run, one after the other."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from domain.event import Event, EventRecord

Tell = Callable[[Event], Awaitable[None]]
"""Tells one event of a subtask, and returns when it was seen to."""

Work = Callable[[], Awaitable[None]]

InTurn = Callable[[Work], Awaitable[None]]
"""Does a piece of work so that others have their turn in between."""


class _Handed(NamedTuple):
    subtask: int
    event: Event
    seen: asyncio.Event


class RunEvents:
    """What one run tells, from the run's side (:meth:`tell`) and from its follower's (:meth:`follow`).

    A run goes on only when its follower asks for the next event, so that a follower that writes each event down before it asks again has the one
    that announces a call before the call is made. A server writes later than that, and waits for what it has written before changes alone: of a
    call that only reads the announcement may be missing after a kill, and the call is made again (:mod:`agent.resume`).
    """

    def __init__(self, run: str, past: Sequence[EventRecord] = ()) -> None:
        """``past``: what the run told before it was broken off; its numbers are counted on from there."""
        self.run = run
        self.records = list(past)
        """All that was told, in order."""
        self.followed = True
        """Whether somebody hears what is told."""
        self._handed: asyncio.Queue[_Handed | None] = asyncio.Queue()

    async def tell(self, subtask: int, event: Event) -> None:
        """Hand an event over; return when the follower has seen to it, never where it has left. ``subtask``: its number; 0: the run as a whole."""
        if not self.followed:
            raise asyncio.CancelledError
        handed = _Handed(subtask, event, asyncio.Event())
        self._handed.put_nowait(handed)
        await handed.seen.wait()

    def record(self, subtask: int, event: Event) -> EventRecord:
        """The event as it is told next."""
        seq = self.records[-1].seq + 1 if self.records else 1
        return EventRecord(run=self.run, seq=seq, at=datetime.now(UTC), subtask=subtask, event=event)

    async def follow(self, work: Work, in_turn: InTurn | None = None) -> AsyncGenerator[EventRecord]:
        """Do the run's work in a task of its own, and give what it tells as it comes; raises what the work raises.

        A follower that is cancelled cancels the work, and is still given what the work tells about that, before the cancellation is
        raised. A follower that leaves (``aclose``) has the work cancelled, and waits until it has ended.
        """
        task = asyncio.create_task(_do(work, in_turn))
        task.add_done_callback(lambda _: self._handed.put_nowait(None))
        try:
            while (handed := await self._next(task)) is not None:
                record = self.record(handed.subtask, handed.event)
                self.records.append(record)
                yield record
                handed.seen.set()
            task.result()
        finally:
            self.followed = False
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)

    async def _next(self, task: "asyncio.Task[None]") -> _Handed | None:
        """The next event; None where the work has ended."""
        try:
            return await self._handed.get()
        except asyncio.CancelledError:
            if task.cancelling():  # for the second time: nobody waits any longer
                raise
            self._handed = asyncio.Queue()  # what nobody was given, nothing has come of
            task.cancel()
            return None if task.done() else await self._handed.get()


async def _do(work: Work, in_turn: InTurn | None) -> None:
    await (work() if in_turn is None else in_turn(work))
