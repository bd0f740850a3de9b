"""An executor that routes each tool to the executor of its method."""

from collections.abc import Callable, Mapping

from agent.execution.executor import CallResult, Executor
from domain.model import JsonObject
from domain.tool import ToolDoc


class RoutedExecutor:
    """Routes calls by method.

    ``usual`` serves every method not in ``others``, whose executors are built at their first call.
    """

    def __init__(self, usual: Executor, others: Mapping[str, Callable[[], Executor]]) -> None:
        self.name = usual.name
        self._usual = usual
        self._others = others
        self._made: dict[str, Executor] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Return the result of the call by the executor of the tool's method."""
        return await self._of(tool.method).call(tool, arguments, identity)

    def _of(self, method: str) -> Executor:
        if method not in self._others:
            return self._usual
        if method not in self._made:
            self._made[method] = self._others[method]()
        return self._made[method]

    async def close(self) -> None:
        """Close the default executor and those that were built; idempotent."""
        await self._usual.close()
        for one in self._made.values():
            await one.close()
