"""A tool that has failed of late gets its turn again: now and then, a safe one, and one at most at a node."""

from collections.abc import Callable, Sequence

from agent.offer.candidates import Candidate
from domain.tool import ToolId
from graph.exploration import is_explored
from graph.weights import UNTESTED

ALIKE = 0.75
"""The share of a tool's relevance from which another could stand in its place."""


def working(availability: float | None) -> bool:
    """Whether a tool is more likely to answer than not; the untested may."""
    return availability is None or availability >= UNTESTED


def returning(
    offered: Sequence[ToolId],
    failing: Callable[[ToolId], bool],
    safe: Callable[[ToolId], bool],
    seed: str,
) -> ToolId | None:
    """Which of the tools that are offered is to be tried though it failed of late, if any: by a draw from the run's seed and its id.

    A tool of poor availability in what was imported alone is not meant: nobody here has avoided it yet.
    """
    return next((tool for tool in offered if failing(tool) and safe(tool) and is_explored(seed, tool)), None)


def rivalled(candidates: Sequence[Candidate], tool: ToolId) -> bool:
    """Whether a tool that is to be tried again, or that stands in for one that fails, could be in the place of this one."""
    best = max((max(c.relevance, default=0.0) for c in candidates if c.tool.id == tool), default=0.0)
    return any(
        (c.returning or c.standing_in) and c.tool.id != tool and max(c.relevance, default=0.0) >= ALIKE * best
        for c in candidates
    )
