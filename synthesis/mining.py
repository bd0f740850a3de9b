"""Mining of the combinations of a store, one tool set at a time."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from domain.tool import ToolDoc
from graph.feed_graph import FeedGraph
from graph.walks import find_walks_over
from synthesis.combinations import MOST, Combination, combine_walk


@dataclass
class MiningCounts:
    """Counts of what was mined."""

    toolsets: int = 0
    tools: int = 0
    heads: int = 0
    """Number of tools that a walk can begin with."""
    walks: Counter[int] = field(default_factory=Counter[int])
    """Number of walks by their number of tools."""
    changing: int = 0
    """Number of walks whose last tool changes something."""
    combinations: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    """Number of walks and combinations beyond the limits, by kind."""

    def add(self, other: "MiningCounts") -> None:
        """Add the counts of another."""
        self.toolsets += other.toolsets
        self.tools += other.tools
        self.heads += other.heads
        self.changing += other.changing
        self.combinations += other.combinations
        self.walks.update(other.walks)
        self.left_out.update(other.left_out)


@dataclass(frozen=True, slots=True)
class MinedToolset:
    """The combinations of one tool set, those of the shortest walks first."""

    id_prefix: str
    """Prefix of the ids of the set's tools; a store is ordered by it."""
    combinations: tuple[Combination, ...]
    counts: MiningCounts


async def mine_toolsets(
    documents: AsyncIterator[ToolDoc], after: str = "", toolset: str = ""
) -> AsyncIterator[MinedToolset]:
    """Yield the combinations of each tool set, in the order of a store's documents.

    Args:
        documents: documents ordered by id.
        after: id prefix of the last tool set to skip, because it is done already.
        toolset: name of the only tool sets to mine; empty for all.
    """
    async for id_prefix, tools in group_by_toolset(documents):
        if (not after or f"{id_prefix}/" > f"{after}/") and toolset in ("", tools[0].toolset):
            yield mine_toolset(id_prefix, tools)


def mine_toolset(id_prefix: str, tools: list[ToolDoc]) -> MinedToolset:
    """Mine the combinations of one tool set."""
    ground = FeedGraph(tools)
    counts = MiningCounts(toolsets=1, tools=len(tools), heads=len(ground.find_fuzzy_tools()))
    collected: list[Combination] = []
    for walk in find_walks_over(ground):
        if len(collected) >= MOST:
            counts.left_out["walks"] += 1
            continue
        walk_combinations = combine_walk(walk, ground)
        accepted = walk_combinations.combinations[: MOST - len(collected)]
        counts.left_out["combinations"] += (
            walk_combinations.left_out + len(walk_combinations.combinations) - len(accepted)
        )
        counts.walks[len(walk.tools)] += bool(accepted)
        counts.changing += bool(accepted) and walk.changes
        collected += accepted
    counts.combinations = len(collected)
    return MinedToolset(id_prefix, tuple(collected), counts)


async def group_by_toolset(documents: AsyncIterator[ToolDoc]) -> AsyncIterator[tuple[str, list[ToolDoc]]]:
    """Yield the id prefix and the documents of each tool set. ``documents`` must be ordered by id."""
    id_prefix = ""
    group: list[ToolDoc] = []
    async for document in documents:
        own_prefix = document.id.rpartition("/")[0]
        if own_prefix != id_prefix and group:
            yield id_prefix, group
            group = []
        id_prefix = own_prefix
        group.append(document)
    if group:
        yield id_prefix, group
