"""The protocol of the store of recorded calls, which the replay executor answers from."""

from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Protocol

from domain.tool import ToolId
from domain.trajectory import RecordedCall


class RecordingStore(Protocol):
    """Recorded calls with their responses, by tool. All methods may raise ``UnavailableError``; writes are atomic."""

    async def setup(self) -> None:
        """Create missing structure; idempotent. Raises ``StoreVersionError`` if another format is found."""
        ...

    async def add(self, key: str, calls: Sequence[tuple[ToolId, RecordedCall]]) -> bool:
        """Add calls, once per key. Return False, and change nothing, if the key was added before."""
        ...

    async def forget(self, tools: Iterable[ToolId]) -> None:
        """Delete the calls of these tools. The keys stay, so that their batches are not added again."""
        ...

    async def list_calls(self, tool: ToolId) -> list[RecordedCall]:
        """Return the calls of a tool, in the order in which they were added."""
        ...

    def iterate_batches(self) -> AsyncIterator[tuple[str, list[tuple[ToolId, RecordedCall]]]]:
        """Stream all batches with their keys, in the order in which they were added.

        Adding them in this order to an empty store makes an equal store.
        """
        ...

    async def count(self) -> int:
        """Return the number of stored calls."""
        ...

    async def close(self) -> None:
        """Release all resources; idempotent."""
        ...
