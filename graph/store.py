"""Protocols of the stores: the graph, recorded calls, and choices of response fields.

One contract test suite for each checks all implementations. :mod:`graph.links` and :mod:`graph.dataflow` hold the
protocols for links and flows.
"""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Protocol

from domain.tool import ToolDoc, ToolId
from graph.facts import Edge, GraphBatch, GraphState, GraphStatistics, LiveBatch, Mark, Neighbour, ToolFacts, ToolLesson

if TYPE_CHECKING:
    from graph.links import ToolNeighbourhood
    from graph.shapes import JsonShape


class NeighbourhoodReader(Protocol):
    """The part of a graph store that planning reads; see :class:`GraphStore`."""

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> "dict[ToolId, ToolNeighbourhood]": ...


class GraphStore(Protocol):
    """Storage of facts about tools and transitions.

    All methods may raise ``UnavailableError``. Writes are atomic: a call takes effect as a whole or not at all.
    """

    async def setup(self) -> None:
        """Create missing structure; idempotent, and the only method that defines structure.

        Raises ``StoreVersionError`` if another format is found.
        """
        ...

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        """Insert or replace documents by id.

        Facts of an existing node stay; an unresolved node of that id becomes resolved.
        """
        ...

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        """Remove the documents of these tools, with their links; tools without a document are ignored.

        Links of tools that depended on them become pending. The nodes become unresolved and keep their facts, lessons,
        edges and marks, so that a document that is put again has all of them.
        """
        ...

    async def get_removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        """Return the documents that were removed, as they were then; those put again since are left out."""
        ...

    async def reset_tools(self, tools: Iterable[ToolId]) -> None:
        """Forget what calls and runs taught about these tools, and their links, because they are different tools now.

        Ids that are not nodes are ignored. Walk counts and marks of edges stay, since they describe the requests rather
        than the tools.
        """
        ...

    async def apply(self, batch: GraphBatch) -> bool:
        """Add the counts of a batch, once per key, and mark its ``key`` and ``records`` as applied.

        Returns False, and changes nothing, if the key or one of the records was applied before.
        """
        ...

    async def learn(self, batch: LiveBatch) -> bool:
        """Add what a run taught, once per key: counts, ``q ← γq + Δ``, ``a ← γa ± 1``, and :mod:`graph.evidence`.

        The database computes the sums, so concurrent runs lose nothing of one another. Each tool keeps its last
        ``MAX_LESSONS`` lessons.
        """
        ...

    async def forget(self, tools: Iterable[ToolId]) -> None:
        """Delete the live evidence about these tools: calls, scores and lessons. Imported counts and walks stay."""
        ...

    async def learn_answers(self, seen: "Mapping[ToolId, Sequence[JsonShape]]") -> set[ToolId]:
        """Merge observed response shapes into the tools' documents, and return the tools whose documents changed.

        Their links become pending. Tools without a document are ignored.
        """
        ...

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        """Pin, mute or ban an edge, or remove its mark (None).

        An edge that was never walked exists only as long as its mark. Raises ``UsageError`` if one of the two tools is
        not a node.
        """
        ...

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        """Mark the edges from these tools into ``tool``, all or none, as :meth:`mark` does; no edges are created."""
        ...

    async def get_lessons(self, tool: ToolId) -> list[ToolLesson]:
        """Return what runs taught about a tool, newest first, at most ``MAX_LESSONS``; ties by key, the last first."""
        ...

    async def find_applied(self, keys: Iterable[str]) -> set[str]:
        """Return which of these batch keys were applied."""
        ...

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        """Return documents by id; ids without a document are left out."""
        ...

    def stream_documents(self) -> AsyncIterator[ToolDoc]:
        """Stream all documents, ordered by id."""
        ...

    async def find_function(self, function: str) -> list[ToolId]:
        """Return the ids of documents with this function name, ordered."""
        ...

    async def get_facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        """Return facts by id; ids that are not nodes are left out."""
        ...

    async def get_out_edges(self, tool: ToolId) -> list[Neighbour]:
        """Return all edges out of a tool, including those to ``FINISH`` and unresolved tools, by target id. One read."""
        ...

    async def get_in_edges(self, tool: ToolId) -> list[Edge]:
        """Return all edges into a tool, or into ``FINISH``, ordered by source id."""
        ...

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]:
        """Return all edges that begin or end at one of these tools, each once, by (source id, target id). One read."""
        ...

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> "dict[ToolId, ToolNeighbourhood]":
        """Return each tool with its document, facts, edges and links; ids that are not nodes are left out. One read."""
        ...

    def stream_nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        """Stream all nodes with their facts, with or without a document, ``FINISH`` included, ordered by id."""
        ...

    def stream_edges(self) -> AsyncIterator[Edge]:
        """Stream all edges, ordered by (source id, target id)."""
        ...

    def stream_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        """Stream all lessons, ordered by (tool, moment, key)."""
        ...

    def stream_applied_keys(self) -> AsyncIterator[str]:
        """Stream all applied keys, those of records included, in order."""
        ...

    async def restore(self, state: GraphState) -> None:
        """Set facts of nodes, and counts and marks of edges; add the lessons, and mark the keys as applied.

        Used to move a store; applying the same state twice equals applying it once. Ends of edges become nodes;
        documents stay.
        """
        ...

    async def compute_statistics(self) -> GraphStatistics:
        """Return the sizes of the graph."""
        ...

    async def close(self) -> None:
        """Release all resources; idempotent."""
        ...
