"""Which fields of a tool's long responses are worth showing: decided once per tool, kept."""

from dataclasses import dataclass
from typing import Protocol

from domain.tool import ToolId


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """``kept`` out of ``known``, by path; nothing kept: such responses are shown as they are, up to the limit."""

    kept: tuple[str, ...]
    known: tuple[str, ...]


class KeptFields(Protocol):
    """The choices of all tools. ``basis`` is a digest of what a choice rests on; another basis is another choice."""

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None: ...

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        """Keep a choice in place of an earlier one; of several at once the last one stays, whole."""
        ...

    async def close(self) -> None: ...
