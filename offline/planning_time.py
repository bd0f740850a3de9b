"""Processor time that the rules may take to write programs: bounded for each run, one run at a time, users in turn."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import Concatenate, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")

SECONDS = 10.0
"""What a run may take where nothing else is said."""


class OutOfPlanningTimeError(Exception):
    """A run has taken all its planning time, or was cancelled while it planned."""


class PlanningClock:
    """Planning time of one run: :meth:`check` is called at each step of the work, in whatever thread that is done."""

    def __init__(self, seconds: float = SECONDS, now: Callable[[], float] = time.thread_time) -> None:
        self.seconds = seconds
        self.taken = 0.0
        self._now = now
        self._begun = now()
        self._stopped = False

    def begin(self) -> None:
        """Count from here, in the thread that works."""
        self._begun, self._stopped = self._now(), False

    def end(self) -> float:
        """Count no further, and return what was taken since :meth:`begin`."""
        took = self._now() - self._begun
        self.taken += took
        return took

    def stop(self) -> None:
        """Have the work end at its next step."""
        self._stopped = True

    def check(self) -> None:
        """Raise :class:`OutOfPlanningTimeError` where the work is to end."""
        if self._stopped or self.taken + self._now() - self._begun > self.seconds:
            raise OutOfPlanningTimeError


class PlanningTurns:
    """Turns to plan in one process.

    Python computes in one thread at a time, so that more of them would only delay the loop that answers requests. Of those that wait, whose user has
    taken the least is next; who comes anew begins at what is usual by then, so that nobody saves up.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self._seconds = seconds
        self._taken: dict[str, float] = {}
        self._level = 0.0
        self._busy = False
        self._waiting: list[tuple[str, asyncio.Future[None]]] = []

    def of(self, owner: str) -> "RunPlanning":
        """The planning of one run of a user."""
        return RunPlanning(self, owner, PlanningClock(self._seconds))

    def charge(self, owner: str, seconds: float) -> None:
        """Count what a user has taken."""
        self._taken[owner] = max(self._taken.get(owner, 0.0), self._level) + seconds

    @asynccontextmanager
    async def turn(self, owner: str) -> AsyncGenerator[None]:
        """Wait for a user's turn, and have it for the time of the block."""
        if self._busy:
            granted = asyncio.get_running_loop().create_future()
            self._waiting.append((owner, granted))
            try:
                await granted
            except asyncio.CancelledError:
                if granted.done() and not granted.cancelled():
                    self._grant()  # it was this one's turn already
                raise
        self._busy = True
        self._level = max(self._level, self._taken.get(owner, 0.0))
        try:
            yield
        finally:
            self._grant()

    def _grant(self) -> None:
        self._waiting = [one for one in self._waiting if not one[1].done()]
        if not self._waiting:
            self._busy = False
            self._taken = {owner: taken for owner, taken in self._taken.items() if taken > self._level}
            return
        chosen = min(self._waiting, key=lambda one: self._taken.get(one[0], 0.0))
        self._waiting.remove(chosen)
        chosen[1].set_result(None)


class RunPlanning:
    """The planning of one run."""

    def __init__(self, turns: PlanningTurns, owner: str, clock: PlanningClock) -> None:
        self._turns = turns
        self._owner = owner
        self.clock = clock

    async def work(self, function: Callable[Concatenate[PlanningClock, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Do work in a thread of its own, when it is this user's turn; where the run is cancelled, it ends at its next step."""

        def timed() -> T:
            self.clock.begin()
            try:
                return function(self.clock, *args, **kwargs)
            finally:
                took.append(self.clock.end())

        took: list[float] = []
        async with self._turns.turn(self._owner):
            working = asyncio.ensure_future(asyncio.to_thread(timed))
            try:
                return await asyncio.shield(working)
            except asyncio.CancelledError:
                self.clock.stop()
                await asyncio.wait([working])  # the thread has the turn as long as it computes
                raise
            finally:
                self._turns.charge(self._owner, sum(took))
