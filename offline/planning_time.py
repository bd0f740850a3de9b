"""Processor time for programs written by rules: limited for each run, one run at a time, users in turn."""

import asyncio
import threading
import time
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SECONDS = 10.0
"""Planning time of a run by default, in seconds of processor time."""
SLICE = 0.1
"""Seconds after which another user's run, which has used less, continues in place of this one."""


class OutOfPlanningTimeError(Exception):
    """A run has used all its planning time, or was cancelled while it planned."""


class PlanningClock:
    """Planning time of one run; :meth:`check` is called at each step of the work, in the thread that works."""

    def __init__(self, seconds: float = SECONDS, now: Callable[[], float] = time.thread_time) -> None:
        self.seconds = seconds
        self.taken = 0.0
        self._now = now
        self._begun = now()
        self._stopped = False
        self._pause: Callable[[float], None] | None = None

    def begin(self, pause: Callable[[float], None] | None = None) -> None:
        """Start counting, in the thread that works.

        ``pause`` is called in that thread after each slice, with the seconds used since the last pause.
        """
        self._begun, self._stopped, self._pause = self._now(), False, pause

    def end(self) -> float:
        """Stop counting, and return the seconds used since :meth:`begin` or the last pause."""
        took = self._now() - self._begun
        # Moving the start lets the next check count only what comes after this.
        self._begun += took
        self.taken += took
        return took

    def stop(self) -> None:
        """Let the work end at its next step."""
        self._stopped = True

    @property
    def stopped(self) -> bool:
        """True if the work is to end at its next step."""
        return self._stopped

    def check(self) -> None:
        """Raise :class:`OutOfPlanningTimeError` if the work is to end, and pause it after each slice."""
        took = self._now() - self._begun
        if self._pause is not None and took > SLICE:
            self._pause(self.end())
            took = 0.0
        if self._stopped or self.taken + took > self.seconds:
            raise OutOfPlanningTimeError


class PlanningTurns:
    """Turns to plan in one process.

    Python computes in one thread at a time: more planning threads would only delay the event loop that answers
    requests. Of the waiting users the one that has used the least time is next. A new user starts at the level that
    is usual by then, so that nobody saves up time. Long work is done in slices, between which others have their turn:
    short plans never wait for long ones.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._taken: dict[str, float] = {}
        self._level = 0.0
        self._busy = False
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self.runs = 0
        """Runs that are being planned now, or wait for their turn."""

    def of(self, owner: str) -> "TimedPlanning":
        """Create the planning of one run of a user."""
        return TimedPlanning(self, owner, PlanningClock(self._seconds))

    def charge(self, owner: str, seconds: float) -> None:
        """Add to the seconds that a user has used."""
        # Never below the common level: time that a user did not use earlier gives no priority later.
        self._taken[owner] = max(self._taken.get(owner, 0.0), self._level) + seconds

    @property
    def awaited(self) -> bool:
        """True if anybody waits for a turn."""
        return bool(self._waiting)

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncGenerator[None]:
        """Wait for a user's turn, and hold it during the block."""
        await self.take(owner)
        try:
            yield
        finally:
            self.give()

    async def take(self, owner: str) -> None:
        """Wait for a user's turn; the caller must release it."""
        if self._busy:
            await self._wait(owner)
        self._begin(owner)

    async def retake(self, owner: str) -> None:
        """Let users go first who have used less. If this is cancelled, the turn is released already."""
        if self._waiting:
            await self._wait(owner, grant=True)
        self._begin(owner)

    def give(self) -> None:
        """Pass the turn to the next user, if anybody waits."""
        self._waiting = [one for one in self._waiting if not one[1].done()]
        if not self._waiting:
            self._busy = False
            # Users at or below the level would start at it anyway; forgetting them bounds the table.
            self._taken = {owner: taken for owner, taken in self._taken.items() if taken > self._level}
            return
        chosen = min(self._waiting, key=lambda one: self._taken.get(one[0], 0.0))
        self._waiting.remove(chosen)
        chosen[1].set_result(None)

    def _begin(self, owner: str) -> None:
        self._busy = True
        self._level = max(self._level, self._taken.get(owner, 0.0))

    async def _wait(self, owner: str, *, grant: bool = False) -> None:
        """Wait until the turn is passed to this user; ``grant``: pass the own turn on first."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((owner, granted))
        if grant:
            self.give()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.give()  # it was this one's turn already
            raise


class TimedPlanning:
    """The planning of one run, one piece at a time: its subtasks may ask for it concurrently."""

    def __init__(self, turns: PlanningTurns, owner: str, clock: PlanningClock) -> None:
        self._turns = turns
        self._owner = owner
        self._one = asyncio.Lock()
        self.clock = clock

    async def work(self, function: Callable[Concatenate[PlanningClock, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in a thread of its own, in this user's turn; if the run is cancelled, it ends at its next step."""
        async with self._one:
            self._turns.runs += 1
            try:
                return await self._piece(partial(function, self.clock, *args, **kwargs))
            finally:
                self._turns.runs -= 1

    async def _piece(self, work: Callable[[], T]) -> T:
        """Run one piece of work in a thread, hold the turn meanwhile, and charge the user for its time."""
        loop, turns, clock = asyncio.get_running_loop(), self._turns, self.clock
        resumed, held = threading.Event(), True
        retaking: asyncio.Task[None] | None = None
        took: list[float] = []

        async def retake(seconds: float) -> None:
            nonlocal held
            turns.charge(self._owner, seconds)
            held = False
            await turns.retake(self._owner)
            held = True

        def begin_retaking(seconds: float) -> None:
            nonlocal retaking
            if clock.stopped:  # the run was cancelled meanwhile, and who ended it does not know of this pause
                took.append(seconds)
                resumed.set()
                return
            retaking = asyncio.ensure_future(retake(seconds))
            retaking.add_done_callback(lambda _: resumed.set())

        def pause(seconds: float) -> None:
            if not turns.awaited:
                # This runs in the planning thread, and the turns belong to the event loop.
                loop.call_soon_threadsafe(turns.charge, self._owner, seconds)
                return
            resumed.clear()
            loop.call_soon_threadsafe(begin_retaking, seconds)
            resumed.wait()

        def timed() -> T:
            clock.begin(pause)
            try:
                return work()
            finally:
                took.append(clock.end())

        await turns.take(self._owner)
        # Not one of the loop's own threads: those that pause here would leave none to the rest of the server.
        thread = ThreadPoolExecutor(1, "planning")
        try:
            working = asyncio.ensure_future(loop.run_in_executor(thread, copy_context().run, timed))
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                clock.stop()
                if retaking is not None:
                    retaking.cancel()
                await asyncio.wait([working])  # the thread has the turn as long as it computes
                raise
        finally:
            thread.shutdown(wait=False)
            turns.charge(self._owner, sum(took))
            if held:
                turns.give()
