"""Calls of tools whose source lends its keys: made with those, by an executor that sends nothing else."""

from collections.abc import Awaitable, Callable

from agent.execution.executor import CallResult, Executor
from domain.model import JsonObject
from domain.source import KeysOf, source_id_of
from domain.tool import ToolDoc


class SourceKeysExecutor:
    """``own``: with the caller's keys. ``keys_of``: whose keys a source's calls send; ``of_source``: a new executor with the source's.

    A key is chosen by the source that a tool is from, never by its name alone: another source cannot have it sent by naming it.
    """

    def __init__(
        self,
        own: Executor,
        keys_of: Callable[[str], Awaitable[KeysOf | None]],
        of_source: Callable[[str], Awaitable[Executor]],
    ) -> None:
        self.name = own.name
        self._own = own
        self._keys_of = keys_of
        self._of_source = of_source
        self._made: dict[str, Executor] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        """The result of the call, with whose keys its source says."""
        source = source_id_of(tool.source)
        if source is None or await self._keys_of(source) != "source":
            return await self._own.call(tool, arguments, identity)
        if source not in self._made:
            made = await self._of_source(source)
            if source in self._made:  # made meanwhile for another call
                await made.close()
            else:
                self._made[source] = made
        return await self._made[source].call(tool, arguments, identity)

    async def close(self) -> None:
        """Close all of them; idempotent."""
        await self._own.close()
        for one in self._made.values():
            await one.close()
