"""Mine the combinations of a store, one tool set at a time, so that never more than one is in memory."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from domain.tool import ToolDoc
from graph.ground import Ground
from graph.walks import walks_over
from synthesis.combinations import MOST, Combination, combined


@dataclass
class Counts:
    """Counts of what was mined."""

    toolsets: int = 0
    tools: int = 0
    heads: int = 0
    walks: Counter[int] = field(default_factory=Counter[int])
    """Number of walks by their number of tools."""
    changing: int = 0
    """Number of walks whose last tool changes something."""
    combinations: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])
    """Number of walks and combinations beyond the limits, by kind."""

    def add(self, other: "Counts") -> None:
        """Add the counts of another."""
        self.toolsets += other.toolsets
        self.tools += other.tools
        self.heads += other.heads
        self.changing += other.changing
        self.combinations += other.combinations
        self.walks.update(other.walks)
        self.left_out.update(other.left_out)


@dataclass(frozen=True, slots=True)
class MinedSet:
    """The combinations of one tool set by walk, those of the shortest walks first."""

    place: str
    """Prefix of the ids of the set's tools; a store is ordered by it."""
    combinations: tuple[Combination, ...]
    counts: Counts


async def mined(documents: AsyncIterator[ToolDoc], after: str = "", toolset: str = "") -> AsyncIterator[MinedSet]:
    """Yield the combinations of each tool set, in the order of a store's documents.

    ``after``: id prefix of the last tool set that is done already. ``toolset``: only sets of this name.
    """
    async for place, tools in by_toolset(documents):
        if (not after or f"{place}/" > f"{after}/") and toolset in ("", tools[0].toolset):
            yield mined_set(place, tools)


def mined_set(place: str, tools: list[ToolDoc]) -> MinedSet:
    """Mine the combinations of one tool set."""
    ground = Ground(tools)
    counts = Counts(toolsets=1, tools=len(tools), heads=len(ground.heads()))
    found: list[Combination] = []
    for walk in walks_over(ground):
        if len(found) >= MOST:
            counts.left_out["walks"] += 1
            continue
        some = combined(walk, ground)
        taken = some.combinations[: MOST - len(found)]
        counts.left_out["combinations"] += some.left_out + len(some.combinations) - len(taken)
        counts.walks[len(walk.tools)] += bool(taken)
        counts.changing += bool(taken) and walk.changes
        found += taken
    counts.combinations = len(found)
    return MinedSet(place, tuple(found), counts)


async def by_toolset(documents: AsyncIterator[ToolDoc]) -> AsyncIterator[tuple[str, list[ToolDoc]]]:
    """Group documents by tool set, with the prefix of its tools' ids. The documents must be ordered by id."""
    place = ""
    held: list[ToolDoc] = []
    async for document in documents:
        here = document.id.rpartition("/")[0]
        if here != place and held:
            yield place, held
            held = []
        place = here
        held.append(document)
    if held:
        yield place, held
