"""Which fields of a tool's long responses are worth showing; chosen once per tool and stored."""

from dataclasses import dataclass
from typing import Protocol

from domain.tool import ToolId


@dataclass(frozen=True, slots=True)
class FieldChoice:
    """A selection of response fields, by path."""

    kept: tuple[str, ...]
    """The fields to show; if empty, responses are shown unfiltered, up to the length limit."""
    known: tuple[str, ...]
    """All fields from which these were chosen."""


class FieldChoiceStore(Protocol):
    """Storage of the field choice of each tool.

    ``basis`` is a digest of everything that a choice depends on. A choice stored under another basis is outdated and
    not returned.
    """

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None:
        """Return the choice stored for this basis, or None."""
        ...

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        """Store a choice in place of an earlier one; with concurrent writers the last one wins as a whole."""
        ...

    async def close(self) -> None: ...
