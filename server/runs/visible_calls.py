"""Check before each call whether the run's user may use the tool, by the database rows as they are now."""

from collections.abc import Awaitable, Callable

from agent.execution.executor import CallResult, Executor, ExecutorLayer
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

_TOLD = "this tool is not offered to you any more: its source was withdrawn, or is for others; choose another tool"


Hidden = Callable[[], Awaitable[frozenset[ToolId]]]
"""Returns the tools that a user may not call just now."""


def refuse_hidden() -> CallResult:
    """Return the result of a call that was not made because its tool is hidden."""
    return CallResult("refused", "", note=_TOLD, reached=False)


class VisibleExecutor(ExecutorLayer):
    """Executor of one run that refuses hidden tools.

    A tool that was withdrawn, or hidden from its user, while the run was under way is not called, whoever named it.
    ``changes_only``: the caller has already checked calls that change nothing.
    """

    def __init__(self, executor: Executor, hidden: Hidden, *, changes_only: bool = False) -> None:
        super().__init__(executor)
        self._hidden = hidden
        self._changes_only = changes_only

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call; return a refusal with its reason where the tool is hidden."""
        if not (tool.safe and self._changes_only) and tool.id in await self._hidden():
            return refuse_hidden()
        return await self._executor.call(tool, arguments, identity)
