"""Round robin among runs: they take turns with the loop that also answers requests: their thinking is work for the processor and never waits by itself."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from typing import Any


class RoundRobin:
    """In each round of the loop one run goes on, to where it next waits for something; those that could, in order.

    Without this, a round lasts as long as a piece of work of every run, and a request, which takes dozens of rounds, waits for each.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._granting = False

    async def do(self, work: Callable[[], Awaitable[None]]) -> None:
        """Do some work; each piece of it is done when it is its turn."""
        await _InTurn(work(), self)

    async def turn(self) -> None:
        """Return when it is the caller's turn."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        if not self._granting:
            self._granting = True
            loop.call_soon(self._grant)
        await turn

    def _grant(self) -> None:
        while self._waiting and self._waiting[0].done():  # who waited was cancelled
            self._waiting.popleft()
        self._granting = bool(self._waiting)
        if self._granting:
            self._waiting.popleft().set_result(None)
            asyncio.get_running_loop().call_soon(self._grant)


class _InTurn:
    """Something awaited whose every step waits for its turn. What it awaits itself is passed on to the task, as it is."""

    def __init__(self, work: Any, turns: RoundRobin) -> None:
        self._work = work
        self._turns = turns

    def __await__(self) -> Generator[Any, Any, Any]:
        work = self._work.__await__()
        broken: BaseException | None = None
        while True:
            try:
                yield from self._turns.turn().__await__()
            except asyncio.CancelledError as error:
                broken = broken or error
            try:
                awaited = next(work) if broken is None else work.throw(broken)
            except StopIteration as end:
                return end.value
            broken = None
            try:
                yield awaited
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001  # what the task is told (that it is cancelled) is the work's to hear
                broken = error
