"""Calls of tools whose source provides its own keys, made by an executor that sends no other keys."""

from collections.abc import Awaitable, Callable

from agent.execution.executor import CallResult, Executor
from domain.model import JsonObject
from domain.tool import ToolDoc
from domain.tool_source import KeyOwner, parse_source_id


class SourceKeysExecutor:
    """Executor that sends the caller's keys or those of the tool's source, as the source demands.

    Keys are chosen by the source of a tool, never by their name alone: another source cannot obtain a key by using its
    name. ``own`` sends the caller's keys; ``keys_of`` returns whose keys the calls of a source send; ``of_source``
    creates an executor with a source's keys.
    """

    def __init__(
        self,
        own: Executor,
        keys_of: Callable[[str], Awaitable[KeyOwner | None]],
        of_source: Callable[[str], Awaitable[Executor]],
    ) -> None:
        self.name = own.name
        self._own = own
        self._keys_of = keys_of
        self._of_source = of_source
        self._source_executors: dict[str, Executor] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """Make the call with the keys that its source asks for."""
        source = parse_source_id(tool.source)
        if source is None or await self._keys_of(source) != "source":
            return await self._own.call(tool, arguments, identity)
        if source not in self._source_executors:
            executor = await self._of_source(source)
            if source in self._source_executors:  # another call has created it meanwhile
                await executor.close()
            else:
                self._source_executors[source] = executor
        return await self._source_executors[source].call(tool, arguments, identity)

    async def close(self) -> None:
        """Close all executors. Idempotent."""
        await self._own.close()
        for one in self._source_executors.values():
            await one.close()
