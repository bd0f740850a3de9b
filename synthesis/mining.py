"""Combinations of a whole store, tool set by tool set: never more than one of them is held."""

from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from domain.tool import ToolDoc
from graph.ground import Ground
from graph.walks import walks_over
from synthesis.combinations import MOST, Combination, combined


@dataclass
class Counts:
    """What was found. ``walks``: by their number of tools. ``left_out``: what is beyond the caps, by what it is."""

    toolsets: int = 0
    tools: int = 0
    heads: int = 0
    walks: Counter[int] = field(default_factory=Counter[int])
    changing: int = 0
    combinations: int = 0
    left_out: Counter[str] = field(default_factory=Counter[str])

    def add(self, other: "Counts") -> None:
        """Count what another has."""
        self.toolsets += other.toolsets
        self.tools += other.tools
        self.heads += other.heads
        self.changing += other.changing
        self.combinations += other.combinations
        self.walks.update(other.walks)
        self.left_out.update(other.left_out)


@dataclass(frozen=True, slots=True)
class MinedSet:
    """The combinations of one tool set by walk, those of the shortest first. ``place``: of the tool set, by which a store's order goes."""

    place: str
    combinations: tuple[Combination, ...]
    counts: Counts


async def mined(documents: AsyncIterator[ToolDoc], after: str = "", toolset: str = "") -> AsyncIterator[MinedSet]:
    """The combinations of tools by tool set, in the order of a store's documents. ``after``: the place up to which all is done.

    ``toolset``: only sets of this name.
    """
    async for place, tools in by_toolset(documents):
        if (not after or f"{place}/" > f"{after}/") and toolset in ("", tools[0].toolset):
            yield mined_set(place, tools)


def mined_set(place: str, tools: list[ToolDoc]) -> MinedSet:
    """The combinations of the tools of one set."""
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
    """Documents by tool set, with its place: what the ids of its tools begin with. They come ordered by id."""
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
