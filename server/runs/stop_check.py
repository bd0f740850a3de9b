"""Check before each call whether the run may still go on, by the database rows as they are now."""

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
    """Executor of one run that checks for a stop before each call.

    ``stopped`` returns why the run is to be ended, or None; ``stop`` ends it with that reason. ``hidden`` returns the
    tools that the user may not call now: before a call that changes nothing, both are looked up at the same time.
    Before a change, the hidden tools are looked up separately once the call is in the ledger, as late as possible.

    A worker learns of stops only once a second; without this check, a call could be made for an account that was just
    disabled.
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
        """Make the call, unless the run is to be ended: then the call is not made, and this is cancelled."""
        looks = self._hidden() if tool.safe else _nothing_hidden()
        why, hidden = await asyncio.gather(run_to_completion(self._stopped()), looks)
        if why is not None:
            self._stop(why)
            await asyncio.Event().wait()
        if tool.id in hidden:
            return refuse_hidden()
        return await self._executor.call(tool, arguments, identity)
