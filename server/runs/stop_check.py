"""Before each call: whether the run may still go on, as the rows have it now."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from agent.execution.executor import CallResult, Executor, ExecutorLayer
from domain.model import JsonObject
from domain.tool import ToolDoc
from server.storage.shielded import shielded


class StopCheckExecutor(ExecutorLayer):
    """One run's. ``stopped``: why the run is to be ended, None while it is not; ``stop``: has it ended, with that.

    A worker is told of ends once a second; until then a call could be made in the name of an account that was disabled.
    """

    def __init__(
        self,
        executor: Executor,
        stopped: Callable[[], Coroutine[Any, Any, str | None]],
        stop: Callable[[str], None],
    ) -> None:
        super().__init__(executor)
        self._stopped = stopped
        self._stop = stop

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The call's result; where the run is to be ended, it is not made, and this ends by being cancelled."""
        if (why := await shielded(self._stopped())) is not None:
            self._stop(why)
            await asyncio.Event().wait()
        return await self._executor.call(tool, arguments, identity)
