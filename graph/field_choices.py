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
    """All fields that the choice was made from."""


class FieldChoiceStore(Protocol):
    """Storage of the field choices of all tools.

    ``basis`` is a digest of the inputs of a choice; a choice made on another basis does not apply.
    """

    async def recall(self, tool: ToolId, basis: str) -> FieldChoice | None: ...

    async def keep(self, tool: ToolId, basis: str, choice: FieldChoice) -> None:
        """Store a choice in place of an earlier one; with concurrent writers the last one wins as a whole."""
        ...

    async def close(self) -> None: ...
