"""Comparison of an export with a store: the export may be imported if everything in the store is in it as well."""

from collections.abc import AsyncIterator

from domain.errors import UsageError
from domain.memory import Memory
from domain.solution import Solution
from domain.tool import ToolDoc
from graph.dataflow import FlowCount
from graph.facts import Edge, ToolFacts
from graph.recordings import Recordings
from graph.store import GraphStore
from graph.transfer.companion_stores import CompanionStores, FlowKey
from graph.transfer.lines import (
    SECTIONS,
    SOLUTIONS_SINCE,
    VERSION,
    Item,
    Key,
    Node,
    RecordedBatch,
    Taught,
    place,
)

Present = dict[type[Item], int]
"""Number of items of the export, counted from the first, that the store holds already, by kind."""


class Overlap:
    """Comparison of an export's items, added in order, with the store's.

    The store is read alongside; both are sorted, so nothing is kept in memory.
    """

    def __init__(self, graph: GraphStore, recordings: Recordings | None, companions: CompanionStores) -> None:
        self.present: Present = dict.fromkeys(SECTIONS, 0)
        self._seen: Present = dict.fromkeys(SECTIONS, 0)
        self._streams: dict[type[Item], AsyncIterator[Item]] = {
            ToolDoc: graph.documents(),
            Node: _nodes(graph),
            Edge: graph.edges(),
            Key: _keys(graph),
            Taught: _lessons(graph),
            Memory: companions.all_memories(),
            Solution: companions.all_solutions(),
            FlowKey: companions.flow_keys(),
            FlowCount: companions.flow_counts(),
            RecordedBatch: _batches(recordings),
        }
        self._next: dict[type[Item], Item | None] = {}

    async def add(self, item: Item) -> None:
        """Compare the next item of the export. ``UsageError`` if the store holds something else in its place."""
        kind = type(item)
        self._seen[kind] += 1
        mine = await self._mine(kind)
        if mine is None or place(mine) > place(item):
            return
        if mine != item and not _is_blank(mine, item):
            raise _other(mine)
        # Only an unbroken beginning counts: an import skips as many items as are present, from the first on.
        if mine == item and self.present[kind] == self._seen[kind] - 1:
            self.present[kind] += 1
        self._next[kind] = await anext(self._streams[kind], None)

    async def end(self, version: int = VERSION) -> None:
        """End the comparison; the export has this version. ``UsageError`` if the store holds more.

        Solutions made out of an earlier version's memories are allowed.
        """
        for kind in SECTIONS:
            if kind is Solution and version < SOLUTIONS_SINCE:
                continue
            if (mine := await self._mine(kind)) is not None:
                raise _other(mine)

    async def _mine(self, kind: type[Item]) -> Item | None:
        """Return the store's next item of a kind without consuming it."""
        if kind not in self._next:
            self._next[kind] = await anext(self._streams[kind], None)
        return self._next[kind]


def _is_blank(mine: Item, item: Item) -> bool:
    """Return whether the store holds a node that came with its document, before its facts."""
    return isinstance(mine, Node) and mine.id == getattr(item, "id", None) and mine.facts == ToolFacts()


def _other(mine: Item) -> UsageError:
    """Build the error for an item of the store that the export does not hold."""
    what = "recorded calls" if isinstance(mine, RecordedBatch) else " -> ".join(place(mine))
    return UsageError(
        f"the store holds something that the export does not, or holds otherwise ({type(mine).__name__} {what}). An export "
        "is imported into an empty store, or into one that an interrupted import of the same export has begun"
    )


async def _nodes(graph: GraphStore) -> AsyncIterator[Item]:
    async for tool, facts in graph.nodes():
        yield Node(tool, facts)


async def _keys(graph: GraphStore) -> AsyncIterator[Item]:
    async for key in graph.applied_keys():
        yield Key(key)


async def _lessons(graph: GraphStore) -> AsyncIterator[Item]:
    async for tool, lesson in graph.all_lessons():
        yield Taught(tool, lesson)


async def _batches(recordings: Recordings | None) -> AsyncIterator[Item]:
    if recordings is not None:
        async for key, calls in recordings.batches():
            yield RecordedBatch(key, tuple(calls))
