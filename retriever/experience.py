"""What walks have shown of tools, as the search sees it: which were walked, which stood beside each other, and what served requests alike."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId

SHARPNESS = 8
"""How much more the requests most alike count where several are asked: a vote is similarity to this power."""


@dataclass(frozen=True, slots=True)
class Walked:
    """How often accepted paths went from ``source`` to ``target``; the latter may be the end of the path."""

    source: ToolId
    target: ToolId
    count: int


@dataclass(frozen=True, slots=True)
class Precedent:
    """A request that these tools have served, with its similarity (cosine) to the one that is asked."""

    tools: tuple[ToolId, ...]
    similarity: float


class Experience(Protocol):
    """Graph and long-term memory, as far as the search reads them."""

    async def beside(self, tools: Iterable[ToolId]) -> Sequence[Walked]:
        """Every transition out of one of these tools or into one."""
        ...

    async def precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """The requests most like the one with this vector, of unit length; best first."""
        ...
