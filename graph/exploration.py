"""Exploration: now and then an avoided tool is offered first.

Otherwise it would get no calls, and its evidence would never change.
"""

import hashlib
from bisect import bisect_left
from collections.abc import Callable, Sequence

from domain.errors import UsageError
from domain.tool import ToolId
from graph.weights import UNTESTED_AVAILABILITY, WeightedEdge, rank_candidates

PERIOD = 5
"""Average number of seeds (runs) of which one explores a given tool."""


def select_with_exploration(
    weighted: Sequence[WeightedEdge], k: int, safe: Callable[[ToolId], bool], *, seed: str, period: int = PERIOD
) -> list[WeightedEdge]:
    """Return :func:`graph.weights.select_top_candidates`, now and then with an avoided tool put first.

    A tool is avoided if it would rank higher, and among the ``k`` best, without the evidence on its availability. One
    such tool that is ``safe`` to call is moved to the front, behind pinned ones only. A draw from seed and id decides,
    true for one seed in ``period`` on average, so that no counter is kept and one run always sees the same list.
    """
    if period < 1:
        raise UsageError(f"period {period}: must be 1 (always) or more")
    ranked = rank_candidates(weighted)
    untested_places = {tool.target: _find_untested_place(tool, ranked) for tool in ranked}
    demoted = [
        tool
        for place, tool in enumerate(ranked)
        if untested_places[tool.target] < min(place, k) and not _is_pinned(tool)
    ]
    for tool in sorted(demoted, key=lambda w: untested_places[w.target]):
        if _is_drawn(seed, tool.target, period) and safe(tool.target):
            pinned = [w for w in ranked if _is_pinned(w)]
            return [*pinned, tool, *(w for w in ranked[len(pinned) :] if w is not tool)][:k]
    return ranked[:k]


def _find_untested_place(tool: WeightedEdge, ranked: list[WeightedEdge]) -> int:
    """Return the place that ``tool`` would take among the others without any evidence on itself."""
    place = (not _is_pinned(tool), -tool.weight * UNTESTED_AVAILABILITY, tool.target)
    return bisect_left(ranked, place, key=lambda w: (not _is_pinned(w), -w.rank_score, w.target))


def _is_pinned(tool: WeightedEdge) -> bool:
    return tool.edge.mark == "pin"


def _is_drawn(seed: str, tool: ToolId, period: int) -> bool:
    """Draw from seed and id: True for one seed in ``period``, always the same for the same seed."""
    digest = hashlib.blake2b(f"{seed}\0{tool}".encode(), digest_size=8).digest()
    return int.from_bytes(digest) % period == 0


def is_explored(seed: str, tool: ToolId, period: int = PERIOD) -> bool:
    """Return whether an avoided tool gets its turn with this seed: one seed in ``period`` on average."""
    return _is_drawn(seed, tool, period)
