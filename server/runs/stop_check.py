"""Before each call: whether the run may still go on, as the rows have it now."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from agent.execution.executor import CallResult, Executor, ExecutorLayer
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from server.runs.visible_calls import Hidden, refuse_hidden
from server.storage.database import run_to_completion


async def _nothing_hidden() -> frozenset[ToolId]:
    return frozenset()


class StopCheckExecutor(ExecutorLayer):
    """One run's. ``stopped``: why the run is to be ended, None while it is not; ``stop``: has it ended, with that.

    ``hidden``: the tools that its user may not call now; before a call that changes nothing both are looked up at once. Before a change it is
    looked up by itself once the call is in the ledger, as late as can be.

    A worker is told of ends once a second; until then a call could be made in the name of an account that was disabled.
    """

    def __init__(
        self,
        executor: Executor,
        stopped: Callable[[], Coroutine[Any, Any, str | None]],
        stop: Callable[[str], None],
        hidden: Hidden = _nothing_hidden,
    ) -> None:
        super().__init__(executor)
        self._stopped = stopped
        self._stop = stop
        self._hidden = hidden

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The call's result; where the run is to be ended, it is not made, and this ends by being cancelled."""
        looks = self._hidden() if tool.safe else _nothing_hidden()
        why, hidden = await asyncio.gather(run_to_completion(self._stopped()), looks)
        if why is not None:
            self._stop(why)
            await asyncio.Event().wait()
        if tool.id in hidden:
            return refuse_hidden()
        return await self._executor.call(tool, arguments, identity)
