"""The protocol of recorded calls: what the replay executor answers from."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Protocol

from domain.tool import ToolId
from domain.trajectory import RecordedCall


class Recordings(Protocol):
    """Calls with their responses, by tool. All methods may raise ``UnavailableError``; writes are atomic."""

    async def setup(self) -> None:
        """Create what is missing; idempotent. ``StoreVersionError`` where something else is there."""
        ...

    async def add(self, key: str, calls: Sequence[tuple[ToolId, RecordedCall]]) -> bool:
        """Keep these calls, once per key. False: that key was added before and nothing changed."""
        ...

    async def forget(self, tools: Iterable[ToolId]) -> None:
        """Drop the calls of these tools. Keys stay: what was added under them is not added again."""
        ...

    async def of_tool(self, tool: ToolId) -> list[RecordedCall]:
        """The calls of a tool, in the order in which they were added; none for a tool that has none."""
        ...

    def batches(self) -> AsyncIterator[tuple[str, list[tuple[ToolId, RecordedCall]]]]:
        """All batches with their keys, in the order in which they were added, streamed.

        Added in this order to an empty store, they make an equal one.
        """
        ...

    async def count(self) -> int:
        """How many calls are kept."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
