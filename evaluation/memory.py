"""Trust in similar requests: each trajectory is left out and compared with the most similar of the others."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent.memory.long_term import LongTermMemory
from agent.memory.path_reuse import MIN_VOTE_SHARE, find_agreed_memory
from agent.memory.request_patterns import build_pattern
from domain.memory import RecalledMemory, make_memory_id
from domain.tool import ToolId
from domain.trajectory import SolvedRequest
from graph.ingest import GraphImporter, ImportProgress
from graph.input_files import read_records
from graph.store import GraphStore

BOUNDS = (0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 0.98)
"""Similarities from which a memory may be trusted, in turn."""
MAX_MEMORIES = 8
"""Memories that a run is given."""
_RECALL_LIMIT = 24
"""Memories recalled for a request, so that enough remain without its own."""


Paths = frozenset[tuple[ToolId, ...]]


@dataclass(frozen=True, slots=True)
class RecalledMemories:
    """Memories recalled for a request, and the paths that would be right for it."""

    recalled: tuple[RecalledMemory, ...]
    right: Paths


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Results for one trajectory, left out in two ways."""

    alone: RecalledMemories
    """Only the trajectory itself was left out."""
    worded_otherwise: RecalledMemories
    """All trajectories worded alike but for values were left out; each path recorded for that wording is right."""


async def collect_solved_requests(
    graph: GraphStore, tools: Sequence[Path], trajectories: Sequence[Path], progress: ImportProgress
) -> list[SolvedRequest]:
    """Return the solved requests of trajectories after cleaning; the graph, which must be new, is built on the way.

    Raises:
        UsageError: a path does not exist.
    """
    collected: list[SolvedRequest] = []

    async def remember(key: str, solved: Sequence[SolvedRequest]) -> None:
        del key
        collected.extend(solved)

    ingest = GraphImporter(graph, None, progress, remember=remember)
    names = await ingest.import_tools(tools)
    for path in trajectories:
        await ingest.import_records(read_records(path, "trajectories"), names)
    return collected


async def leave_one_out(
    solved: Sequence[SolvedRequest], memory: LongTermMemory, done: Callable[[], None]
) -> list[LeftOut]:
    """Fill an empty memory, and return for each request what a run would recall if it had not been solved."""
    await memory.keep_shared(solved)
    await memory.embed()
    times = Counter(_get_memory_id(solution) for solution in solved)
    paths: dict[str, set[tuple[ToolId, ...]]] = {}
    for solution in solved:
        paths.setdefault(build_pattern(solution.request), set()).add(solution.path)
    results: list[LeftOut] = []
    for solution in solved:
        wording, own = build_pattern(solution.request), _get_memory_id(solution)
        recalled = await memory.recall(solution.request, _RECALL_LIMIT, _find_all_present)
        # A memory that was learnt twice would still be there without this trajectory.
        others = [other for other in recalled if other.memory.id != own or times[own] > 1]
        apart = [other for other in others if other.memory.pattern != wording]
        results.append(LeftOut(_build_recall(others, {solution.path}), _build_recall(apart, paths[wording])))
        done()
    return results


def _get_memory_id(solved: SolvedRequest) -> str:
    return make_memory_id("", build_pattern(solved.request), solved.path)


def _find_all_present(tools: Iterable[ToolId]) -> Awaitable[set[ToolId]]:
    async def find_all() -> set[ToolId]:
        return set(tools)

    return find_all()


def _build_recall(others: Sequence[RecalledMemory], right: set[tuple[ToolId, ...]]) -> RecalledMemories:
    return RecalledMemories(tuple(others[:MAX_MEMORIES]), frozenset(right))


def tabulate_by_bound(results: Sequence[LeftOut], bounds: Sequence[float] = BOUNDS) -> list[dict[str, Any]]:
    """Return how often a memory is similar enough and its path right, for each bound and both ways to leave out.

    ``nearest`` goes by the most similar memory, ``agreed`` by what the memories agree on, as a run proposes it. Each has the number and
    share of requests with a proposal at least so similar, and the share of right paths among these.
    """
    rows: list[dict[str, Any]] = []
    for bound in bounds:
        row: dict[str, Any] = {"bound": bound}
        for name in ("alone", "worded_otherwise"):
            recalls: list[RecalledMemories] = [getattr(one, name) for one in results]
            row[name] = {
                "nearest": _compute_share(recalls, bound, 0.0),
                "agreed": _compute_share(recalls, bound, MIN_VOTE_SHARE),
            }
        rows.append(row)
    return rows


def _compute_share(recalls: Sequence[RecalledMemories], bound: float, share: float) -> dict[str, float | int | None]:
    """Return the figures for one bound; ``share`` 0: by the most similar memory alone."""
    right = 0
    proposed = 0
    for recall in recalls:
        agreement = find_agreed_memory(recall.recalled if share else recall.recalled[:1], bound, share)
        if agreement is not None:
            proposed += 1
            right += agreement.memory.path in recall.right
    return {
        "n": proposed,
        "share": proposed / (len(recalls) or 1),
        "same_path": right / proposed if proposed else None,
    }
