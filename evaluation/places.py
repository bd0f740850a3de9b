"""Running services that one run has to itself, so that no run sees another's changes."""

from collections.abc import Sequence
from typing import Protocol
from urllib.parse import urlsplit

from agent.execution.executor import CallResult, Executor
from agent.run import RunDeps
from domain.model import JsonObject
from domain.tool import ToolDoc
from evaluation.expected import Change


class Place(Protocol):
    """One running service, used by one run at a time."""

    async def reset(self) -> None:
        """Undo every change, and reset the counts of calls."""
        ...

    async def made(self) -> Sequence[Change]:
        """Return the changes since the reset, oldest first."""
        ...

    async def deps(self) -> RunDeps:
        """Return the dependencies of a run against this service."""
        ...


class Elsewhere:
    """Redirects the calls for one address to another.

    A store's documents name one address, while the evaluation runs several equal services.
    """

    def __init__(self, executor: Executor, named: str, address: str) -> None:
        self.name = executor.name
        self._executor, self._named, self._address = executor, named, address

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        return await self._executor.call(self._there(tool), arguments, identity)

    async def close(self) -> None:
        """Do nothing: the executor is closed by its owner."""

    def _there(self, tool: ToolDoc) -> ToolDoc:
        parts = urlsplit(tool.url)
        if f"{parts.scheme}://{parts.netloc}" != self._named:
            return tool
        return tool.model_copy(update={"url": self._address + tool.url.removeprefix(self._named)})
