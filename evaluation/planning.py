"""Compare planned paths with what they should call: relevant APIs, or the gold chain of a benchmark.

It also has the oracle that knows the relevant APIs, and groups of requests by what the graph knows of them.
"""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from domain.tool import ToolId
from evaluation.api_names import ApiName, get_api_name
from evaluation.intervals import bootstrap_interval
from evaluation.queries import RetrievalQuery

Row = dict[str, float | list[float]]
PlannerCallable = Callable[[str, frozenset[ApiName]], Awaitable[Sequence[ToolId]]]
"""Maps a request, and the APIs relevant to it (used by an oracle alone), to the tools of its paths, in order."""


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with the distinct APIs of its planned paths."""

    query: RetrievalQuery
    predicted: tuple[ApiName, ...]
    """Keys of the planned APIs, each once, in order."""
    seconds: float
    """Wall time of the planning."""

    @property
    def right(self) -> int:
        """Number of planned APIs that are relevant."""
        return len(self.query.relevant & set(self.predicted))

    @property
    def precision(self) -> float:
        """Share of the planned APIs that are relevant; 0 for no path."""
        return self.right / len(self.predicted) if self.predicted else 0.0

    @property
    def recall(self) -> float:
        """Share of the relevant APIs that are planned."""
        return self.right / len(self.query.relevant)

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall; 0 for no path."""
        return 2 * self.right / (len(self.predicted) + len(self.query.relevant))


async def plan_all(
    queries: Sequence[RetrievalQuery], plan: PlannerCallable, progress: Callable[[int], None] | None = None
) -> list[PlannedQuery]:
    """Plan every query. ``progress`` gets the number of queries done."""
    results: list[PlannedQuery] = []
    for query in queries:
        began = time.perf_counter()
        tools = await plan(query.query, query.relevant)
        keys = tuple(dict.fromkeys(get_api_name(tool) for tool in tools))
        results.append(PlannedQuery(query, keys, time.perf_counter() - began))
        if progress:
            progress(len(results))
    return results


def tabulate_by_group(results: Iterable[PlannedQuery]) -> dict[str, Row]:
    """Return the figures of each group, in the order of the names."""
    parts: dict[str, list[PlannedQuery]] = {}
    for result in results:
        parts.setdefault(result.query.group, []).append(result)
    return {group: compute_means(parts[group]) for group in sorted(parts)}


def compute_means(part: Sequence[PlannedQuery]) -> Row:
    """Return macro averages over requests, 0 to 1, with the 95 % bootstrap interval of F1; ``path_length`` in tools."""
    rows = max(1, len(part))
    return {
        "n": len(part),
        "precision": sum(one.precision for one in part) / rows,
        "recall": sum(one.recall for one in part) / rows,
        "f1": sum(one.f1 for one in part) / rows,
        "f1_interval": list(bootstrap_interval([one.f1 for one in part])),
        "path_length": sum(len(one.predicted) for one in part) / rows,
    }


def compute_median_seconds(results: Sequence[PlannedQuery]) -> float:
    """Return the median wall time of planning one request, in seconds."""
    return median(one.seconds for one in results) if results else 0.0
