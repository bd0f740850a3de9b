"""Trust in similar requests: each trajectory is left out and compared with the most similar of the others."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.memory.long_term import LongTermMemory
from agent.memory.path_reuse import AGREED, agreed
from agent.memory.similarity import pattern
from domain.memory import Recalled, memory_id
from domain.tool import ToolId
from domain.trajectory import Solved
from graph.ingest import Ingest, Progress
from graph.sources import read_records
from graph.store import GraphStore

BOUNDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)
SHOWN = 8
"""Memories that a run is given."""
_RECALLED = 24


Paths = frozenset[tuple[ToolId, ...]]


@dataclass(frozen=True, slots=True)
class Recall:
    """Memories recalled for a request, and the paths that would be right for it."""

    recalled: tuple[Recalled, ...]
    right: Paths


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Results for one trajectory, left out in two ways."""

    alone: Recall
    """Only the trajectory itself was left out."""
    worded_otherwise: Recall
    """All trajectories worded alike but for values were left out; each path recorded for that wording is right."""


async def solved_requests(
    graph: GraphStore, tools: Sequence[Path], trajectories: Sequence[Path], progress: Progress
) -> list[Solved]:
    """Return the solved requests of trajectories after cleaning; the graph, which must be new, is built on the way.

    Raises:
        UsageError: a path does not exist.
    """
    found: list[Solved] = []

    async def remember(key: str, solved: Sequence[Solved]) -> None:
        del key
        found.extend(solved)

    ingest = Ingest(graph, None, progress, remember=remember)
    names = await ingest.tools(tools)
    for path in trajectories:
        await ingest.records(read_records(path, "trajectories"), names)
    return found


async def leave_one_out(solved: Sequence[Solved], memory: LongTermMemory, done: Callable[[], None]) -> list[LeftOut]:
    """Fill an empty memory, and return for each request what a run would recall if it had not been solved."""
    await memory.keep_shared(solved)
    await memory.embed()
    times = Counter(_id(one) for one in solved)
    paths: dict[str, set[tuple[ToolId, ...]]] = {}
    for one in solved:
        paths.setdefault(pattern(one.request), set()).add(one.path)
    found: list[LeftOut] = []
    for one in solved:
        asked, own = pattern(one.request), _id(one)
        recalled = await memory.recall(one.request, _RECALLED, _all_present)
        # A memory that was learnt twice would still be there without this trajectory.
        others = [other for other in recalled if other.memory.id != own or times[own] > 1]
        apart = [other for other in others if other.memory.pattern != asked]
        found.append(LeftOut(_recall(others, {one.path}), _recall(apart, paths[asked])))
        done()
    return found


def _id(solved: Solved) -> str:
    return memory_id("", pattern(solved.request), solved.path)


def _all_present(tools: Iterable[ToolId]) -> Awaitable[set[ToolId]]:
    async def there() -> set[ToolId]:
        return set(tools)

    return there()


def _recall(others: Sequence[Recalled], right: set[tuple[ToolId, ...]]) -> Recall:
    return Recall(tuple(others[:SHOWN]), frozenset(right))


def by_bound(found: Sequence[LeftOut], bounds: Sequence[float] = BOUNDS) -> list[dict[str, Any]]:
    """Return how often a memory is similar enough and its path right, for each bound and both ways to leave out.

    ``nearest`` goes by the most similar memory, ``agreed`` by what the memories agree on, as a run proposes it. Each has the number and
    share of requests with a proposal at least so similar, and the share of right paths among these.
    """
    rows: list[dict[str, Any]] = []
    for bound in bounds:
        row: dict[str, Any] = {"bound": bound}
        for name in ("alone", "worded_otherwise"):
            asked: list[Recall] = [getattr(one, name) for one in found]
            row[name] = {"nearest": _share(asked, bound, 0.0), "agreed": _share(asked, bound, AGREED)}
        rows.append(row)
    return rows


def _share(asked: Sequence[Recall], bound: float, share: float) -> dict[str, float | int | None]:
    """Return the figures for one bound; ``share`` 0: by the most similar memory alone."""
    right = 0
    proposed = 0
    for one in asked:
        taken = agreed(one.recalled if share else one.recalled[:1], bound, share)
        if taken is not None:
            proposed += 1
            right += taken.memory.path in one.right
    return {
        "n": proposed,
        "share": proposed / (len(asked) or 1),
        "same_path": right / proposed if proposed else None,
    }
