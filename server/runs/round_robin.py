"""Round-robin scheduling of runs on the event loop that also answers requests.

Planning keeps the processor busy and never waits by itself, so it would otherwise delay every request.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from typing import Any


class RoundRobin:
    """Lets one run proceed in each iteration of the event loop, until it next awaits something.

    Runs that are ready take turns in order. Without this, an iteration would include a step of every run, and a
    request, which takes dozens of iterations, would wait for all of them.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._granting = False

    async def run(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run ``work``; each of its steps waits for its turn."""
        await _TurnAwaitable(work(), self)

    async def wait_for_turn(self) -> None:
        """Return when it is the caller's turn."""
        loop = asyncio.get_running_loop()
        turn = loop.create_future()
        self._waiting.append(turn)
        if not self._granting:
            self._granting = True
            loop.call_soon(self._grant)
        await turn

    def _grant(self) -> None:
        """Wake the first waiter, and schedule the next one for the following iteration."""
        while self._waiting and self._waiting[0].done():  # the waiter was cancelled
            self._waiting.popleft()
        self._granting = bool(self._waiting)
        if self._granting:
            self._waiting.popleft().set_result(None)
            # call_soon runs it in the next iteration of the loop: one run proceeds in each.
            asyncio.get_running_loop().call_soon(self._grant)


class _TurnAwaitable:
    """Awaitable whose every step waits for its turn.

    Futures that the work awaits are passed on to the task unchanged.
    """

    def __init__(self, work: Any, turns: RoundRobin) -> None:
        self._work = work
        self._turns = turns

    def __await__(self) -> Generator[Any, Any, Any]:
        work = self._work.__await__()
        raised: BaseException | None = None
        while True:
            try:
                yield from self._turns.wait_for_turn().__await__()
            except asyncio.CancelledError as error:
                raised = raised or error
            try:
                awaited = next(work) if raised is None else work.throw(raised)
            except StopIteration as end:
                return end.value
            raised = None
            try:
                yield awaited
            except GeneratorExit:
                work.close()
                raise
            except BaseException as error:  # noqa: BLE001  # a cancellation of the task is thrown into the work
                raised = error
