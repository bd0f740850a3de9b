"""Round robin among runs, whose planning keeps the processor busy and would otherwise delay all requests.

Runs take turns with the event loop that also answers requests: planning never waits by itself.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from typing import Any


class RoundRobin:
    """Lets one run go on in each round of the event loop, until it next waits for something.

    Runs that are ready take turns in order. Without this, a round lasts as long as one piece of work of every run, and
    a request, which takes dozens of rounds, waits for each.
    """

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._granting = False

    async def do(self, work: Callable[[], Awaitable[None]]) -> None:
        """Run some work; each of its steps waits for its turn."""
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
        while self._waiting and self._waiting[0].done():  # the waiter was cancelled
            self._waiting.popleft()
        self._granting = bool(self._waiting)
        if self._granting:
            self._waiting.popleft().set_result(None)
            # Called in the next round of the loop: one run goes on in each.
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
            except BaseException as error:  # noqa: BLE001  # what the task is told (that it is cancelled) is the work's to hear
                raised = error
