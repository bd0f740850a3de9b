"""The graph in dictionaries: the reference that every other back end is compared with. Nothing outlives the process."""

from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from dataclasses import replace

from domain.tool import FINISH, ToolDoc, ToolId
from graph.checks import check_batch, check_documents, check_live, check_state
from graph.facts import Edge, GraphBatch, GraphState, GraphStatistics, LiveBatch, LiveOutcome, Neighbour, ToolFacts


class MemoryGraph:
    """A ``GraphStore`` for one event loop. Checks come before the first change, so a refused write changes nothing."""

    def __init__(self) -> None:
        self._documents: dict[ToolId, ToolDoc] = {}
        self._facts: dict[ToolId, ToolFacts] = {}
        self._out: dict[ToolId, dict[ToolId, Edge]] = {}
        self._in: dict[ToolId, set[ToolId]] = {}
        self._keys: set[str] = set()

    async def setup(self) -> None:
        """Nothing to create."""

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        check_documents(tools)
        for tool in tools:
            self._documents[tool.id] = tool
            self._facts.setdefault(tool.id, ToolFacts())

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)
        if not self._keys.isdisjoint({batch.key, *batch.records}):
            return False
        self._keys |= {batch.key, *batch.records}
        self._add_edges(batch.transitions, live=False)
        for tool in {*batch.nodes, *batch.calls, *batch.successes}:
            old = self._facts.get(tool, ToolFacts())
            self._facts[tool] = replace(
                old, calls=old.calls + batch.calls[tool], successes=old.successes + batch.successes[tool]
            )
        return True

    async def learn(self, batch: LiveBatch) -> bool:
        check_live(batch)
        if not self._claim(batch.key):
            return False
        self._add_edges(batch.transitions, live=True)
        for tool, score in batch.scores:
            old = self._facts.get(tool, ToolFacts())
            self._facts[tool] = replace(old, quality=batch.decay * old.quality + score)
        for tool, outcome in batch.outcomes:
            self._facts[tool] = _after_call(self._facts.get(tool, ToolFacts()), outcome, batch.decay)
        return True

    def _claim(self, key: str) -> bool:
        if key in self._keys:
            return False
        self._keys.add(key)
        return True

    def _add_edges(self, counts: Mapping[tuple[ToolId, ToolId], int], *, live: bool) -> None:
        for (source, target), count in counts.items():
            self._facts.setdefault(source, ToolFacts())
            self._facts.setdefault(target, ToolFacts())
            if not count:
                continue
            targets = self._out.setdefault(source, {})
            old = targets.get(target, Edge(source, target))
            targets[target] = (
                replace(old, live=old.live + count) if live else replace(old, imported=old.imported + count)
            )
            self._in.setdefault(target, set()).add(source)

    async def applied(self, keys: Iterable[str]) -> set[str]:
        return self._keys.intersection(keys)

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return {tool: self._documents[tool] for tool in ids if tool in self._documents}

    async def documents(self) -> AsyncIterator[ToolDoc]:
        for tool in sorted(self._documents):
            yield self._documents[tool]

    async def find_function(self, function: str) -> list[ToolId]:
        return sorted(tool for tool, document in self._documents.items() if document.function == function)

    async def facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        return {tool: self._facts[tool] for tool in ids if tool in self._facts}

    async def out_edges(self, tool: ToolId) -> list[Neighbour]:
        edges = self._out.get(tool, {})
        return [Neighbour(edges[target], self._facts[target], target in self._documents) for target in sorted(edges)]

    async def in_edges(self, tool: ToolId) -> list[Edge]:
        return [self._out[source][tool] for source in sorted(self._in.get(tool, ()))]

    async def nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        for tool in sorted(self._facts):
            yield tool, self._facts[tool]

    async def edges(self) -> AsyncIterator[Edge]:
        for source in sorted(self._out):
            for target in sorted(self._out[source]):
                yield self._out[source][target]

    async def applied_keys(self) -> AsyncIterator[str]:
        for key in sorted(self._keys):
            yield key

    async def restore(self, state: GraphState) -> None:
        check_state(state)
        self._facts.update(state.nodes)
        for edge in state.edges:
            self._facts.setdefault(edge.source, ToolFacts())
            self._facts.setdefault(edge.target, ToolFacts())
            self._out.setdefault(edge.source, {})[edge.target] = edge
            self._in.setdefault(edge.target, set()).add(edge.source)
        self._keys.update(state.keys)

    async def statistics(self) -> GraphStatistics:
        finish = len(self._in.get(FINISH, ()))
        nodes = len(self._facts) - (FINISH in self._facts)
        return GraphStatistics(
            documents=len(self._documents),
            nodes=nodes,
            unresolved=nodes - len(self._documents),
            transitions=sum(map(len, self._out.values())) - finish,
            finish_transitions=finish,
            batches=len(self._keys),
        )

    async def close(self) -> None:
        """Nothing to release."""


def _after_call(old: ToolFacts, outcome: LiveOutcome, decay: float) -> ToolFacts:
    """The facts after one live call: the class counted, and a ← γa + 1 for ok, γa - 1 otherwise."""
    sign = 1.0 if outcome == "ok" else -1.0
    return replace(
        old,
        ok=old.ok + (outcome == "ok"),
        transient=old.transient + (outcome == "transient"),
        gone=old.gone + (outcome == "gone"),
        reliability=decay * old.reliability + sign,
    )
