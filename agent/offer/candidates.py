"""Candidate tools at a node of the search, with the evidence for each."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from domain.event import Feed
from domain.tool import ToolDoc

Origin = Literal["start", "graph", "retriever", "memory", "substitute"]
"""Origin of a candidate.

The retriever at the start, the graph's edges, the retriever later on, the path of a memory, or a link to a tool that
does the same as one whose call has failed.
"""


@dataclass(frozen=True, slots=True)
class ToolCandidate:
    """A tool that could come next, with the evidence for it."""

    tool: ToolDoc
    weight: float
    """Transition weight in [0, 1]; at the start, the retriever's normalised score."""
    availability: float | None
    """Share of calls that succeed; None if untested."""
    relevance: tuple[float, ...]
    """One value per clause of the request, each in [0, 1]."""
    origin: Origin
    missing: tuple[str, ...] = ()
    """Required parameters that neither the request nor earlier steps of the path seem able to fill."""
    feeds: tuple[Feed, ...] = ()
    """Parameters that a step of the path fills."""
    returning: bool = False
    """True if it failed recently and is due to be tried again."""
    standing_in: bool = False
    """True if it takes the place of a failing tool."""

    @property
    def feeds_from(self) -> tuple[int, ...]:
        """Positions in the path, from 0, of the steps that feed it."""
        return tuple(sorted({feed.step - 1 for feed in self.feeds}))


@dataclass(frozen=True, slots=True)
class ToolsetPrior:
    """Prior of a tool from its tool set, for nodes where past paths used few of the tools found.

    Each value is in [0, 1].
    """

    found: float
    """Retriever's score."""
    covers: float
    """Share of the request that the tools of its set cover together."""
    set_named: float
    """Share of the words of its set's name that the request has."""
    named: float
    """Share of the words of its own name that the request has."""
    behind: float = 0.0
    """How far its retriever's score is below the best one."""
    walked: float = 0.0
    """How often past paths went through it, on a logarithmic scale."""
    set_walked: float = 0.0
    """How often past paths went through the most used known tool of its set."""
    remembered: float = 0.0
    """How strongly similar requests that were served with it speak for it."""


@dataclass(frozen=True, slots=True)
class FollowingCandidate:
    """A tool that may come right after a candidate."""

    after: int
    """Index of that candidate."""
    candidate: ToolCandidate
    """The tool, judged as if the candidate had been called."""


MIN_COVERED_SHARE = 0.85
"""Share of the best relevance of any tool from which a tool covers a clause."""

Relevance = tuple[float, ...]
"""One value per clause, each in [0, 1]."""


def is_relevant_enough(value: float, best: float, floor: float) -> bool:
    """Return whether a relevance is high enough to cover a clause."""
    return value >= floor and value >= MIN_COVERED_SHARE * best


def find_answerable_clauses(best: Relevance, floor: float) -> tuple[int, ...]:
    """Return the clauses that some tool fits at all."""
    return tuple(i for i, value in enumerate(best) if value >= floor)


def has_unserved_clause(path: Sequence[Relevance], offered: Sequence[Relevance], best: Relevance, floor: float) -> bool:
    """Return whether an answerable clause is covered neither by the path nor by any tool on offer."""
    return any(
        not any(is_relevant_enough(relevance[i], best[i], floor) for relevance in (*path, *offered))
        for i in find_answerable_clauses(best, floor)
    )
