"""Running services that a run has to itself, so that no change of one run is seen by another."""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

from agent.execution.executor import CallResult, Executor
from agent.run import RunDeps
from domain.model import JsonObject
from domain.tool import ToolDoc
from evaluation.expected import Change


class Place(Protocol):
    """One running service, lent to one run at a time."""

    async def reset(self) -> None:
        """Undo every change, and count all calls anew."""
        ...

    async def made(self) -> Sequence[Change]:
        """What was changed since the reset, the oldest first."""
        ...

    async def deps(self) -> RunDeps:
        """What a run here works with."""
        ...


class Elsewhere:
    """Makes the calls to one address at another: of several services that are alike, a store's documents name one."""

    def __init__(self, executor: Executor, named: str, address: str) -> None:
        self.name = executor.name
        self._executor, self._named, self._address = executor, named, address

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        return await self._executor.call(self._there(tool), arguments, identity)

    async def close(self) -> None:
        """The executor is another's to close."""

    def _there(self, tool: ToolDoc) -> ToolDoc:
        parts = urlsplit(tool.url)
        if f"{parts.scheme}://{parts.netloc}" != self._named:
            return tool
        return tool.model_copy(update={"url": self._address + tool.url.removeprefix(self._named)})
