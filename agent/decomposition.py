"""What a request's split into subtasks is asked with and answered by."""

from dataclasses import dataclass

from agent.tool_text import clean
from domain.tool import ToolId

NAMED = 80
"""Characters of a subtask's name."""


@dataclass(frozen=True, slots=True)
class AskedPart:
    """One thing that a request asks. ``found``: the tools nearest to it with their scores in [0, 1], best first."""

    text: str
    found: tuple[tuple[ToolId, float], ...]


@dataclass(frozen=True, slots=True)
class DecomposeQuestion:
    """What ``decompose`` sees: the request, and what it asks as far as rules can tell."""

    request: str
    parts: tuple[AskedPart, ...]


@dataclass(frozen=True, slots=True)
class Subtask:
    """``number`` counts from 1. ``description`` stands alone: every value that it needs is in it, and no other than the request's.

    ``depends_on``: numbers of earlier subtasks whose results it needs. ``category``: of the tools that it calls for, where known.
    """

    number: int
    name: str
    description: str
    category: str = ""
    depends_on: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Decomposition:
    """At least one subtask; a request that needs no split is its own, in its own words."""

    subtasks: tuple[Subtask, ...]
    reason: str


def whole(request: str, reason: str) -> Decomposition:
    """A request that is not split."""
    return Decomposition((Subtask(1, clean(request, NAMED), request),), reason)
