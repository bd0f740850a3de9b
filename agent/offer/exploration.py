"""Failing tools: now and then a safe one is tried again (exploration), and others stand in for them.

If no link of the graph names a stand-in, the likeliest tool of the same shape is taken. A tool that does the same takes
the same values: as many, of the same types. Words do not reveal it, or the retriever would have found both alike, and
one of the two fails. So the tool of that shape that fits the request best is as good a choice as the other was.
"""

from collections.abc import Callable, Sequence

from agent.offer.candidates import Candidate
from domain.tool import ToolId
from graph.exploration import is_explored
from graph.weights import UNTESTED_AVAILABILITY

RIVAL_SHARE = 0.75
"""Share of a tool's relevance from which another one could take its place."""


def is_working(availability: float | None) -> bool:
    """Return whether a tool is more likely to answer than not; untested tools may be."""
    return availability is None or availability >= UNTESTED_AVAILABILITY


def select_returning(
    offered: Sequence[ToolId],
    is_failing: Callable[[ToolId], bool],
    is_safe: Callable[[ToolId], bool],
    seed: str,
) -> ToolId | None:
    """Return the candidate to try although it failed recently, if any, drawn from the run's seed and the tool's id.

    Tools whose availability is poor only in imported data are not drawn: nobody here has avoided them yet.
    """
    return next((tool for tool in offered if is_failing(tool) and is_safe(tool) and is_explored(seed, tool)), None)


def has_rival(candidates: Sequence[Candidate], tool: ToolId) -> bool:
    """Return whether a tool that is tried again, or that stands in for a failing one, could take this tool's place."""
    best = max((max(c.relevance, default=0.0) for c in candidates if c.tool.id == tool), default=0.0)
    return any(
        (c.returning or c.standing_in) and c.tool.id != tool and max(c.relevance, default=0.0) >= RIVAL_SHARE * best
        for c in candidates
    )
