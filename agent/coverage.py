"""Which clauses of a request a path serves: pure judgements over relevance."""

from collections.abc import Sequence

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
