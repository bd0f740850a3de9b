"""Past experience with tools that the search reads: transitions and precedents."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from domain.tool import ToolId

VOTE_EXPONENT = 8
"""Exponent of similarity in votes: a similar request's vote is its similarity to this power."""


@dataclass(frozen=True, slots=True)
class TransitionCount:
    """Number of times that accepted paths went from one tool to another."""

    source: ToolId
    target: ToolId
    """Next tool of the path, or ``FINISH`` for its end."""
    count: int


@dataclass(frozen=True, slots=True)
class Precedent:
    """A past request, by the tools that served it and its similarity to the current request."""

    tools: tuple[ToolId, ...]
    similarity: float
    """Cosine with the current request."""


class ToolExperience(Protocol):
    """The part of graph and long-term memory that the search reads."""

    async def find_transitions(self, tools: Iterable[ToolId]) -> Sequence[TransitionCount]:
        """Return every transition out of or into one of these tools."""
        ...

    async def find_precedents(self, request: NDArray[np.float32], limit: int) -> Sequence[Precedent]:
        """Return the past requests most similar to this vector (of unit length), best first."""
        ...
