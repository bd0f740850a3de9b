"""What walks have shown of tools, as the search sees it: which were walked, and which stood beside each other on a path."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.tool import ToolId


@dataclass(frozen=True, slots=True)
class Walked:
    """How often accepted paths went from ``source`` to ``target``; the latter may be the end of the path."""

    source: ToolId
    target: ToolId
    count: int


class Experience(Protocol):
    """A graph, as far as the search reads it."""

    async def beside(self, tools: Iterable[ToolId]) -> Sequence[Walked]:
        """Every transition out of one of these tools or into one."""
        ...
