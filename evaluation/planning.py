"""Match of planned paths with the relevant APIs: precision, recall and F1 of the tools of all paths."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from domain.tool import ToolId
from evaluation.api_keys import Key, key_of
from evaluation.intervals import interval
from evaluation.queries import Query

Row = dict[str, float | list[float]]
Planned = Callable[[str, frozenset[Key]], Awaitable[Sequence[ToolId]]]
"""Maps a request, and the APIs relevant to it (for an oracle only), to the tools of its paths, in order."""


@dataclass(frozen=True, slots=True)
class PlannedQuery:
    """A query with the distinct APIs of its planned paths."""

    query: Query
    predicted: tuple[Key, ...]
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
    queries: Sequence[Query], planned: Planned, progress: Callable[[int], None] | None = None
) -> list[PlannedQuery]:
    """Plan every query. ``progress`` gets the number of queries done."""
    done: list[PlannedQuery] = []
    for query in queries:
        began = time.perf_counter()
        tools = await planned(query.query, query.relevant)
        keys = tuple(dict.fromkeys(key_of(tool) for tool in tools))
        done.append(PlannedQuery(query, keys, time.perf_counter() - began))
        if progress:
            progress(len(done))
    return done


def table(done: Iterable[PlannedQuery]) -> dict[str, Row]:
    """Return the figures of each group, in the order of the names."""
    parts: dict[str, list[PlannedQuery]] = {}
    for one in done:
        parts.setdefault(one.query.group, []).append(one)
    return {group: means(parts[group]) for group in sorted(parts)}


def means(part: Sequence[PlannedQuery]) -> Row:
    """Return macro averages over requests, 0 to 1, with the 95 % bootstrap interval of F1; ``path_length`` in tools."""
    rows = max(1, len(part))
    return {
        "n": len(part),
        "precision": sum(one.precision for one in part) / rows,
        "recall": sum(one.recall for one in part) / rows,
        "f1": sum(one.f1 for one in part) / rows,
        "f1_interval": list(interval([one.f1 for one in part])),
        "path_length": sum(len(one.predicted) for one in part) / rows,
    }


def seconds_p50(done: Sequence[PlannedQuery]) -> float:
    """Return the median wall time of planning one request, in seconds."""
    return median(one.seconds for one in done) if done else 0.0
