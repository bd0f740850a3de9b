"""Check before each call whether the run's user may use the tool, by the database rows as they are now."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from agent.execution.executor import CallResult, Executor, ExecutorLayer
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from server.storage.database import run_to_completion

_HIDDEN_NOTE = (
    "this tool is not offered to you any more: its source was withdrawn, or is for others; choose another tool"
)


HiddenToolsLookup = Callable[[], Awaitable[frozenset[ToolId]]]
"""Returns the tools that a user may not call just now."""


def refuse_hidden() -> CallResult:
    """Return the result of a call that was not made because its tool is hidden."""
    return CallResult("refused", "", note=_HIDDEN_NOTE, reached=False)


class VisibleExecutor(ExecutorLayer):
    """Executor of one run that refuses hidden tools.

    A tool that was withdrawn, or hidden from its user, while the run was under way is not called, whoever named it.
    ``changes_only``: the caller has already checked calls that change nothing.
    """

    def __init__(self, executor: Executor, hidden: HiddenToolsLookup, *, changes_only: bool = False) -> None:
        super().__init__(executor)
        self._hidden = hidden
        self._changes_only = changes_only

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; return a refusal with its reason where the tool is hidden."""
        if not (tool.safe and self._changes_only) and tool.id in await self._hidden():
            return refuse_hidden()
        return await self._executor.call(tool, arguments, identity)


async def _hide_nothing() -> frozenset[ToolId]:
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
        hidden: HiddenToolsLookup = _hide_nothing,
    ) -> None:
        super().__init__(executor)
        self._stopped = stopped
        self._stop = stop
        self._hidden = hidden

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call, unless the run is to be ended: then the call is not made, and this is cancelled."""
        looks = self._hidden() if tool.safe else _hide_nothing()
        why, hidden = await asyncio.gather(run_to_completion(self._stopped()), looks)
        if why is not None:
            self._stop(why)
            await asyncio.Event().wait()
        if tool.id in hidden:
            return refuse_hidden()
        return await self._executor.call(tool, arguments, identity)
