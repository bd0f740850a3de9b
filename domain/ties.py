"""One order of search results for every back end: by score, and by id where scores are the same but for rounding.

The same memory kept with two paths has the same vector twice, and so have copies of a tool. Back ends add up a cosine in different orders, so
that the same one differs in its last digits; without this rule embedded stores and servers would find different tools.
"""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar

TIED = 1e-6
"""Cosines that differ by less are the same: about ten times what the order of a sum of 32-bit numbers moves one."""
_DIGITS = 6
_MORE = 16
"""Results beyond the limit that a server is asked for at first."""

Found = TypeVar("Found")


def rank(
    found: Iterable[Found], limit: int, score: Callable[[Found], float], name: Callable[[Found], Any]
) -> list[Found]:
    """Return the ``limit`` best, best first. ``name``: what orders those with the same score."""
    return sorted(found, key=lambda one: (-round(score(one), _DIGITS), name(one)))[: max(limit, 0)]


async def find_with_ties(
    find: Callable[[int], Awaitable[list[Found]]], limit: int, score: Callable[[Found], float]
) -> list[Found]:
    """Return the ``limit`` best and all that have the score of the last of them, so that :func:`rank` can choose among these.

    ``find`` returns as many as it is asked for, best first, where there are so many.
    """
    asked = limit + _MORE
    while True:
        found = await find(asked)
        if len(found) < asked or score(found[-1]) < score(found[limit - 1]) - TIED:
            return found
        asked *= 2
