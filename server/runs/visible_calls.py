"""Before each call: whether the tool is one that its user may use, as the rows have it now."""

from collections.abc import Awaitable, Callable

from agent.execution.executor import CallResult, Executor, ExecutorLayer
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId

_TOLD = "this tool is not offered to you any more: its source was withdrawn, or is for others; choose another tool"


class VisibleExecutor(ExecutorLayer):
    """One run's. A tool that was withdrawn, or kept from its user, while the run was under way is not called, whoever named it."""

    def __init__(self, executor: Executor, hidden: Callable[[], Awaitable[frozenset[ToolId]]]) -> None:
        super().__init__(executor)
        self._hidden = hidden

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The call's result; one that says why, where it was not made."""
        if tool.id in await self._hidden():
            return CallResult("refused", "", note=_TOLD, reached=False)
        return await self._executor.call(tool, arguments, identity)
