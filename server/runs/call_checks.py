"""Executor layers around each call of a run on a server.

Before a call they check that the run may go on and that its user may use the tool, by the database as it is now. A call
that changes something is entered in the ledger first, so that a resumed run repeats none; where its outcome stays
unknown, the user is asked. Keys are chosen by the source of the tool.
"""

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
    """Build the result of a call that was not made because its tool is hidden from the user."""
    return CallResult("refused", "", note=_HIDDEN_NOTE, reached=False)


class VisibleExecutor(ExecutorLayer):
    """Executor of one run that refuses tools which are hidden from its user.

    This includes tools that were withdrawn or hidden while the run was under way. ``changes_only``: check only calls
    that change something; another layer has checked the rest.
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
    """Executor of one run that checks before each call whether the run must stop.

    A worker polls for stops only once a second: without this check, a call could be made for an account that was just
    disabled.

    ``stopped`` returns the reason to end the run, or None; ``stop`` ends it with that reason. ``hidden`` returns the
    tools that the user may not call now. Both are queried together before a call that changes nothing. For a change,
    :class:`VisibleExecutor` checks hidden tools, as late as possible: once the call is in the ledger.
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
        """Make the call. If the run must stop, end it instead, and wait to be cancelled with it."""
        looks = self._hidden() if tool.safe else _hide_nothing()
        why, hidden = await asyncio.gather(run_to_completion(self._stopped()), looks)
        if why is not None:
            self._stop(why)
            await asyncio.Event().wait()  # ends by the cancellation that ``stop`` causes
        if tool.id in hidden:
            return refuse_hidden()
        return await self._executor.call(tool, arguments, identity)
