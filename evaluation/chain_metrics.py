"""Match of planned paths with gold chains: node F1, link F1 (TaskBench, 2023), exact match."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from domain.tool import ToolId
from evaluation.intervals import bootstrap_interval

Row = dict[str, float | list[float]]


@dataclass(frozen=True, slots=True)
class PlannedChain:
    """A path that was planned for a request, and the gold chain; F1 of nodes and links as in TaskBench (2023)."""

    gold: tuple[ToolId, ...]
    path: tuple[ToolId, ...]

    @property
    def nodes(self) -> float:
        """F1 of the distinct tools."""
        return compute_f1(set(self.gold), set(self.path))

    @property
    def links(self) -> float:
        """F1 of the pairs of successive tools; 1 where both are a single tool, or none."""
        return compute_f1(set(pairwise(self.gold)), set(pairwise(self.path)))

    @property
    def exact(self) -> float:
        """1 if the path is the chain, else 0."""
        return float(self.gold == self.path)


def compute_f1(
    gold: set[ToolId] | set[tuple[ToolId, ToolId]], predicted: set[ToolId] | set[tuple[ToolId, ToolId]]
) -> float:
    """Return the harmonic mean of precision and recall of two sets; 1 where both are empty."""
    return 2 * len(gold & predicted) / (len(gold) + len(predicted)) if gold or predicted else 1.0


def find_best_k(planned: Sequence[PlannedChain], most: int) -> int:
    """Return the number of top tools with the best node F1, the fewest of equals.

    ``planned`` holds the best ``most`` tools of each request.
    """
    worth = [sum(PlannedChain(one.gold, one.path[:k]).nodes for one in planned) for k in range(1, most + 1)]
    return 1 + max(range(most), key=lambda at: (worth[at], -at))


def compute_means(part: Sequence[PlannedChain]) -> Row:
    """Return macro averages, 0 to 1, with the 95 % interval of node F1; lengths of gold and path in tools."""
    rows = max(1, len(part))
    return {
        "n": len(part),
        "node_f1": sum(one.nodes for one in part) / rows,
        "node_f1_interval": list(bootstrap_interval([one.nodes for one in part])),
        "link_f1": sum(one.links for one in part) / rows,
        "exact": sum(one.exact for one in part) / rows,
        "gold_length": sum(len(one.gold) for one in part) / rows,
        "path_length": sum(len(one.path) for one in part) / rows,
    }
