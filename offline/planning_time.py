"""Share processor time among the runs that are planned by rules: a limit for each run, and turns by user."""

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

DEFAULT_SECONDS = 10.0
"""Planning time of a run by default, in seconds of processor time."""
SLICE_SECONDS = 0.1
"""Seconds after which another user's run, which has used less, continues in place of this one."""


class OutOfPlanningTimeError(Exception):
    """Raised in the planning thread if the run has used all its planning time, or was cancelled."""


class PlanningClock:
    """Counts the planning time of one run.

    :meth:`check` is called at each step of the work, in the thread that works.
    """

    def __init__(self, seconds: float = DEFAULT_SECONDS, now: Callable[[], float] = time.thread_time) -> None:
        self.seconds = seconds
        self.used_seconds = 0.0
        self._now = now
        self._started_at = now()
        self._stopped = False
        self._pause: Callable[[float], None] | None = None

    def begin(self, pause: Callable[[float], None] | None = None) -> None:
        """Start counting, in the thread that works.

        ``pause`` is called in that thread after each slice, with the seconds used since the last pause.
        """
        self._started_at, self._stopped, self._pause = self._now(), False, pause

    def end(self) -> float:
        """Stop counting, and return the seconds since :meth:`begin` or the last pause."""
        elapsed = self._now() - self._started_at
        # Moving the start lets the next check count only what comes after this.
        self._started_at += elapsed
        self.used_seconds += elapsed
        return elapsed

    def stop(self) -> None:
        """Let the work end at its next step."""
        self._stopped = True

    @property
    def is_stopped(self) -> bool:
        """True if the work is to end at its next step."""
        return self._stopped

    def check(self) -> None:
        """Pause the work at the end of a slice.

        Raises:
            OutOfPlanningTimeError: the work must end.
        """
        elapsed = self._now() - self._started_at
        if self._pause is not None and elapsed > SLICE_SECONDS:
            self._pause(self.end())
            elapsed = 0.0
        if self._stopped or self.used_seconds + elapsed > self.seconds:
            raise OutOfPlanningTimeError


class PlanningTurns:
    """Grants turns to plan, one at a time in a process.

    Python computes in one thread at a time, so more planning threads would only delay the event loop, which answers
    requests. The next turn goes to the waiting user who has used the least time. A new user starts at the level that is
    usual by then, so that nobody saves up time by waiting. Long work is done in slices, between which others have their
    turn: short plans never wait for long ones.
    """

    def __init__(self, seconds: float = DEFAULT_SECONDS) -> None:
        self._seconds = seconds
        self._used_seconds: dict[str, float] = {}
        self._level = 0.0
        self._busy = False
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []
        self.runs = 0
        """Runs that are being planned now, or wait for their turn."""

    def create_planning(self, owner: str) -> "TimedPlanning":
        """Create the planning of one run of a user."""
        return TimedPlanning(self, owner, PlanningClock(self._seconds))

    def charge(self, owner: str, seconds: float) -> None:
        """Add to the seconds that a user has used."""
        # Never below the common level: time that a user did not use earlier gives no priority later.
        self._used_seconds[owner] = max(self._used_seconds.get(owner, 0.0), self._level) + seconds

    @property
    def has_waiting(self) -> bool:
        """True if anybody waits for a turn."""
        return bool(self._waiting)

    @asynccontextmanager
    async def hold_turn(self, owner: str) -> AsyncGenerator[None]:
        """Wait for a user's turn, and hold it during the block."""
        await self.acquire(owner)
        try:
            yield
        finally:
            self.release()

    async def acquire(self, owner: str) -> None:
        """Wait for a user's turn; the caller must release it."""
        if self._busy:
            await self._wait(owner)
        self._start_turn(owner)

    async def reacquire(self, owner: str) -> None:
        """Let waiting users who have used less go first, and take the turn again.

        If this is cancelled, the turn has been released already.
        """
        if self._waiting:
            await self._wait(owner, grant=True)
        self._start_turn(owner)

    def release(self) -> None:
        """Pass the turn to the next user, if anybody waits."""
        self._waiting = [one for one in self._waiting if not one[1].done()]
        if not self._waiting:
            self._busy = False
            # Users at or below the level would start at it anyway; forgetting them bounds the table.
            self._used_seconds = {owner: taken for owner, taken in self._used_seconds.items() if taken > self._level}
            return
        chosen = min(self._waiting, key=lambda one: self._used_seconds.get(one[0], 0.0))
        self._waiting.remove(chosen)
        chosen[1].set_result(None)

    def _start_turn(self, owner: str) -> None:
        self._busy = True
        self._level = max(self._level, self._used_seconds.get(owner, 0.0))

    async def _wait(self, owner: str, *, grant: bool = False) -> None:
        """Wait until the turn is passed to this user; with ``grant``, pass the own turn on first."""
        granted = asyncio.get_running_loop().create_future()
        self._waiting.append((owner, granted))
        if grant:
            self.release()
        try:
            await granted
        except asyncio.CancelledError:
            if granted.done() and not granted.cancelled():
                self.release()  # it was this one's turn already
            raise


class TimedPlanning:
    """The planning of one run; its subtasks may ask concurrently, and are served one at a time."""

    def __init__(self, turns: PlanningTurns, owner: str, clock: PlanningClock) -> None:
        self._turns = turns
        self._owner = owner
        self._lock = asyncio.Lock()
        self.clock = clock

    async def run_work(
        self, function: Callable[Concatenate[PlanningClock, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Run a function in a thread of its own, in this user's turn.

        If the caller is cancelled, the function ends at the next check of its clock.
        """
        async with self._lock:
            self._turns.runs += 1
            try:
                return await self._run_piece(partial(function, self.clock, *args, **kwargs))
            finally:
                self._turns.runs -= 1

    async def _run_piece(self, work: Callable[[], T]) -> T:
        """Run one piece of work in a thread, hold the turn meanwhile, and charge the user for its time."""
        loop, turns, clock = asyncio.get_running_loop(), self._turns, self.clock
        resumed, has_turn = threading.Event(), True
        reacquiring: asyncio.Task[None] | None = None
        measured_seconds: list[float] = []

        async def reacquire_turn(seconds: float) -> None:
            nonlocal has_turn
            turns.charge(self._owner, seconds)
            has_turn = False
            await turns.reacquire(self._owner)
            has_turn = True

        def start_reacquiring(seconds: float) -> None:
            nonlocal reacquiring
            if clock.is_stopped:  # the run was cancelled meanwhile, and who ended it does not know of this pause
                measured_seconds.append(seconds)
                resumed.set()
                return
            reacquiring = asyncio.ensure_future(reacquire_turn(seconds))
            reacquiring.add_done_callback(lambda _: resumed.set())

        def pause(seconds: float) -> None:
            if not turns.has_waiting:
                # This runs in the planning thread, and the turns belong to the event loop.
                loop.call_soon_threadsafe(turns.charge, self._owner, seconds)
                return
            resumed.clear()
            loop.call_soon_threadsafe(start_reacquiring, seconds)
            resumed.wait()

        def run_timed() -> T:
            clock.begin(pause)
            try:
                return work()
            finally:
                measured_seconds.append(clock.end())

        await turns.acquire(self._owner)
        # Not one of the loop's own threads: those that pause here would leave none to the rest of the server.
        thread = ThreadPoolExecutor(1, "planning")
        try:
            working = asyncio.ensure_future(loop.run_in_executor(thread, copy_context().run, run_timed))
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                clock.stop()
                if reacquiring is not None:
                    reacquiring.cancel()
                await asyncio.wait([working])  # the thread has the turn as long as it computes
                raise
        finally:
            thread.shutdown(wait=False)
            turns.charge(self._owner, sum(measured_seconds))
            if has_turn:
                turns.release()
