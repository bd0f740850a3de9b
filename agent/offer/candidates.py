"""A tool that is offered at a node of the walk, with what speaks for it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from domain.event import Feed
from domain.tool import ToolDoc

Origin = Literal["start", "graph", "retriever", "memory", "substitute"]
"""Who brought a candidate: the retriever at the start, the graph's edges, the retriever later on, a memory's path, or a link to a
tool that does the same as one whose call has failed.
"""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A tool that could come next, with the evidence for it.

    ``weight``: transition weight in [0, 1] (at the start, the retriever's normalised score). ``availability`` None:
    untested. ``relevance``: one value per clause of the request, each in [0, 1]. ``missing``: required parameters that
    neither the request nor earlier steps of the path seem able to fill. ``feeds``: those that a step of the path fills.
    ``returning``: it has failed of late, and it is its turn to be tried again. ``standing_in``: it takes the place of one that fails.
    """

    tool: ToolDoc
    weight: float
    availability: float | None
    relevance: tuple[float, ...]
    origin: Origin
    missing: tuple[str, ...] = ()
    feeds: tuple[Feed, ...] = ()
    returning: bool = False
    standing_in: bool = False

    @property
    def feeds_from(self) -> tuple[int, ...]:
        """Positions in the path, from 0, of the steps that feed it."""
        return tuple(sorted({feed.step - 1 for feed in self.feeds}))


@dataclass(frozen=True, slots=True)
class Kin:
    """What speaks for a tool where paths went through few of those found, each in [0, 1].

    ``found``: the retriever's score; ``behind``: how far the best score is above it. ``covers``: how much of the request the tools of
    its set cover together. ``set_named``, ``named``: the share of the words of its set's and its own name that are said. ``walked``,
    ``set_walked``: how often paths went through it, and through any tool of its set that is known. ``remembered``: whether similar
    requests were served with it.
    """

    found: float
    covers: float
    set_named: float
    named: float
    behind: float = 0.0
    walked: float = 0.0
    set_walked: float = 0.0
    remembered: float = 0.0


@dataclass(frozen=True, slots=True)
class Follower:
    """A tool that may come right after a candidate. ``after``: that candidate's place; ``candidate``: judged as if it had been called."""

    after: int
    candidate: Candidate


COVERED = 0.85
"""A tool covers a clause where its relevance reaches this share of the best that any tool reached."""

Relevance = tuple[float, ...]
"""One value per clause, each in [0, 1]."""


def fits(value: float, best: float, floor: float) -> bool:
    """Whether a relevance is good enough to count as covering a clause."""
    return value >= floor and value >= COVERED * best


def answerable(best: Relevance, floor: float) -> tuple[int, ...]:
    """The clauses that any tool fits at all."""
    return tuple(i for i, value in enumerate(best) if value >= floor)


def unserved(path: Sequence[Relevance], offered: Sequence[Relevance], best: Relevance, floor: float) -> bool:
    """Whether an answerable clause is covered neither by the path nor by anything offered."""
    return any(not any(fits(r[i], best[i], floor) for r in (*path, *offered)) for i in answerable(best, floor))
