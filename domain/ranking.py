"""Ranking of search results, the same for every back end: by score, and by id if scores are equal up to rounding.

Copies of a tool have the same vector, and so has a memory with two paths. Back ends add up a cosine in different
orders, so that equal similarities differ in their last digits; without this rule, embedded stores and servers would
return different results.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

TIE_TOLERANCE = 1e-6
"""Cosines that differ by less are equal; it is about ten times the effect of another order of summation."""
_DIGITS = 6
"""Decimals to which scores are rounded before they are compared."""
_EXTRA_RESULTS = 16
"""Results beyond the limit that a server is asked for in the first attempt."""

Result = TypeVar("Result")


def rank_results(
    results: Iterable[Result], limit: int, get_score: Callable[[Result], float], get_key: Callable[[Result], Any]
) -> list[Result]:
    """Return the ``limit`` best results, best first; results of equal score are ordered by ``get_key``."""
    return sorted(results, key=lambda one: (-round(get_score(one), _DIGITS), get_key(one)))[: max(limit, 0)]


async def find_with_ties(
    find: Callable[[int], Awaitable[list[Result]]], limit: int, get_score: Callable[[Result], float]
) -> list[Result]:
    """Return at least the ``limit`` best results and all that tie with the last of them.

    :func:`rank_results` then orders them.

    Args:
        find: returns as many results as it is asked for, best first, if there are so many.
        limit: number of results that are needed.
        get_score: returns the score of a result.
    """
    requested = limit + _EXTRA_RESULTS
    while True:
        results = await find(requested)
        # Done if there are no more results, or the last one is worse than the tie at the limit.
        if len(results) < requested or get_score(results[-1]) < get_score(results[limit - 1]) - TIE_TOLERANCE:
            return results
        requested *= 2
