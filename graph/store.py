"""The protocol of a graph store, in words. One contract suite tests every implementation against it."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from domain.tool import ToolDoc, ToolId
from graph.facts import Edge, GraphBatch, GraphState, GraphStatistics, Lesson, LiveBatch, Mark, Neighbour, ToolFacts

if TYPE_CHECKING:
    from graph.links import Neighbourhood
    from graph.shapes import Shape


class GraphReads(Protocol):
    """What planning reads of a graph; see :class:`GraphStore`."""

    async def around(self, tools: Iterable[ToolId]) -> "dict[ToolId, Neighbourhood]": ...


class GraphStore(Protocol):
    """Facts about tools and transitions.

    All methods may raise ``UnavailableError``. Writes are atomic: all of a call takes effect, or nothing.
    """

    async def setup(self) -> None:
        """Create what is missing; idempotent; the only place that defines structure. ``StoreVersionError`` otherwise."""
        ...

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        """Insert or replace documents by id. Facts of an existing node stay; an unresolved node of that id becomes resolved."""
        ...

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        """Take the documents of these tools away, with their links; tools that rested on them have theirs pending. Others are ignored.

        Their nodes, unresolved from now on, keep their facts, lessons, edges and marks: a document put again has all of it.
        """
        ...

    async def removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        """The documents that were taken away, as they then were; those that were put again since are left out."""
        ...

    async def begin_anew(self, tools: Iterable[ToolId]) -> None:
        """Forget what calls and runs said of these tools, and their links: they are others from now on. Ids that are no node are ignored.

        How often they were walked stays, with the marks of edges: that speaks of the requests.
        """
        ...

    async def apply(self, batch: GraphBatch) -> bool:
        """Add the counts of a batch, once per key, and mark its ``key`` and ``records`` as applied.

        False: the key, or one of the records, was applied before, and nothing changed.
        """
        ...

    async def learn(self, batch: LiveBatch) -> bool:
        """Add what a run taught, once per key, in the database: counts, ``q ← γq + Δ``, ``a ← γa ± 1``, and :mod:`graph.evidence`.

        Runs that are learnt from at once lose nothing of one another. Each tool keeps its lesson; of more than ``LESSONS`` the oldest go.
        """
        ...

    async def forget(self, tools: Iterable[ToolId]) -> None:
        """Forget what runs said of these tools: their live calls, scores and lessons. What was imported stays, and so do walks."""
        ...

    async def learn_answers(self, seen: "Mapping[ToolId, Sequence[Shape]]") -> set[ToolId]:
        """Take what answers of tools looked like into their documents, where that is news; those that have changed.

        Their links become pending. Tools without a document are ignored.
        """
        ...

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        """Pin, mute or ban an edge, or take its mark away (None). An edge that was never walked begins, and ends, with its mark.

        ``UsageError`` where one of the two is no node.
        """
        ...

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        """The same of the edges from these into a tool, all of them or none; between which there is no edge, there is none afterwards."""
        ...

    async def lessons(self, tool: ToolId) -> list[Lesson]:
        """What runs taught about a tool, the newest first (of one moment: by key, the last first), at most ``LESSONS``."""
        ...

    async def applied(self, keys: Iterable[str]) -> set[str]:
        """Which of these batch keys were applied."""
        ...

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        """Documents by id; ids without a document are left out."""
        ...

    def documents(self) -> AsyncIterator[ToolDoc]:
        """All documents, ordered by id, streamed."""
        ...

    async def find_function(self, function: str) -> list[ToolId]:
        """Ids of the documents with that function name, ordered."""
        ...

    async def facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        """Facts by id; ids that are no node are left out."""
        ...

    async def out_edges(self, tool: ToolId) -> list[Neighbour]:
        """All edges out of a tool, ``FINISH`` and unresolved targets included, ordered by target id. One read."""
        ...

    async def in_edges(self, tool: ToolId) -> list[Edge]:
        """All edges into a tool (or into ``FINISH``), ordered by source id."""
        ...

    async def edges_beside(self, tools: Iterable[ToolId]) -> list[Edge]:
        """All edges out of one of these tools or into one, each once, ordered by (source id, target id). One read."""
        ...

    async def around(self, tools: Iterable[ToolId]) -> "dict[ToolId, Neighbourhood]":
        """Each of these tools with its document, its facts, its edges and its links; ids that are no node are left out. One read."""
        ...

    def nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        """All nodes with their facts, with and without documents, ``FINISH`` if it is one; ordered by id, streamed."""
        ...

    def edges(self) -> AsyncIterator[Edge]:
        """All edges, ordered by (source id, target id), streamed."""
        ...

    def all_lessons(self) -> AsyncIterator[tuple[ToolId, Lesson]]:
        """All lessons, ordered by (tool, moment, key), streamed."""
        ...

    def applied_keys(self) -> AsyncIterator[str]:
        """All applied keys, those of records among them, ordered, streamed."""
        ...

    async def restore(self, state: GraphState) -> None:
        """Set facts of nodes, and counts and marks of edges, to these values; add the lessons, and mark the keys as applied.

        What a moved store is made of: setting the same twice equals once. Ends of edges become nodes; documents stay.
        """
        ...

    async def statistics(self) -> GraphStatistics:
        """Sizes of the graph."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...
