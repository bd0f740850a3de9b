"""Ranks search results alike for every back end: by score, and by id if scores differ only by rounding.

A memory with two paths has the same vector twice, and so do copies of a tool. Back ends add up a cosine in different orders, so equal
similarities differ in their last digits; without this rule embedded stores and servers would return different tools.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

TIED = 1e-6
"""Cosines that differ by less are equal: about ten times the effect of summing 32-bit numbers in another order."""
_DIGITS = 6
_EXTRA_RESULTS = 16
"""Results beyond the limit that a server is asked for in the first attempt."""

Result = TypeVar("Result")


def rank_results(
    results: Iterable[Result], limit: int, score: Callable[[Result], float], name: Callable[[Result], Any]
) -> list[Result]:
    """Return the ``limit`` best results, best first. ``name`` returns the key that orders results of equal score."""
    return sorted(results, key=lambda one: (-round(score(one), _DIGITS), name(one)))[: max(limit, 0)]


async def find_with_ties(
    find: Callable[[int], Awaitable[list[Result]]], limit: int, score: Callable[[Result], float]
) -> list[Result]:
    """Return at least the ``limit`` best results and all that tie with the last of them, for :func:`rank_results` to order.

    ``find`` returns as many results as it is asked for, best first, if there are so many.
    """
    requested = limit + _EXTRA_RESULTS
    while True:
        results = await find(requested)
        # Done if there are no more results, or the last one is worse than the tie at the limit.
        if len(results) < requested or score(results[-1]) < score(results[limit - 1]) - TIED:
            return results
        requested *= 2
