"""In-memory stores of the graph and of solutions: the reference for the other back ends. Nothing is persisted."""

from collections.abc import AsyncIterator, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from domain.solution import NearPattern, Solution, SolutionChange, get_program_id
from domain.tool import FINISH, ToolDoc, ToolId
from graph.answer_shapes import update_learnt_response
from graph.evidence import apply_calls, apply_walks, fold_calls, fold_walks, to_timestamp
from graph.facts import (
    MAX_LESSONS,
    Edge,
    GraphBatch,
    GraphState,
    GraphStatistics,
    LiveBatch,
    Mark,
    Neighbour,
    ToolFacts,
    ToolLesson,
)
from graph.links import (
    FeedLink,
    LinkCounts,
    LinkState,
    SubstituteLink,
    ToolLinks,
    ToolNeighbourhood,
    check_links,
    check_tools_exist,
)
from graph.shapes import JsonShape
from graph.validation import check_batch, check_documents, check_live_batch, check_mark, check_mark_name, check_state


class InMemoryLinks:
    """``LinkStore`` in dictionaries. ``nodes``: the graph's nodes, as a live view."""

    def __init__(self, nodes: Collection[ToolId]) -> None:
        self._nodes = nodes
        self._states: dict[ToolId, LinkState] = {}
        self._feeds: dict[ToolId, dict[tuple[ToolId, str, str], FeedLink]] = {}
        self._substitutes: dict[ToolId, dict[ToolId, SubstituteLink]] = {}

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        other_tools = set(also)
        check_tools_exist({*digests, *other_tools}, self._nodes)
        for tool in other_tools:
            self._states[tool] = LinkState(self._get_digest(tool), pending=True)
        self._states |= {tool: LinkState(digest, pending=True) for tool, digest in digests.items()}

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        check_links(links, self._nodes)
        for tool_links in links:
            self._feeds[tool_links.tool] = {
                (feed.source, feed.parameter, feed.field): feed for feed in tool_links.feeds
            }
            self._substitutes[tool_links.tool] = {pair.other: pair for pair in tool_links.substitutes}
            self._states[tool_links.tool] = LinkState(self._get_digest(tool_links.tool), pending=False)

    def drop_links(self, tools: Collection[ToolId]) -> None:
        """Drop all links from and into these tools, and their link states."""
        for tool in tools:
            self._states.pop(tool, None)
        for feeds in self._feeds.values():
            for key in [key for key, feed in feeds.items() if feed.source in tools or feed.target in tools]:
                del feeds[key]
        for pairs in self._substitutes.values():
            for other in [other for other, pair in pairs.items() if pair.one in tools or other in tools]:
                del pairs[other]

    def _get_digest(self, tool: ToolId) -> str:
        state = self._states.get(tool)
        return state.digest if state else ""

    async def get_link_states(self) -> dict[ToolId, LinkState]:
        return dict(self._states)

    async def find_linked_tools(self, tools: Iterable[ToolId]) -> set[ToolId]:
        tool_ids = set(tools)
        fed_tools = {tool for tool, feeds in self._feeds.items() if any(source in tool_ids for source, _, _ in feeds)}
        return fed_tools | {tool for tool, pairs in self._substitutes.items() if not tool_ids.isdisjoint(pairs)}

    async def get_feeds_out(self, tool: ToolId) -> list[FeedLink]:
        matching = [feed for feeds in self._feeds.values() for feed in feeds.values() if feed.source == tool]
        return sorted(matching, key=lambda feed: (-feed.score, feed.target, feed.parameter, feed.field))

    async def get_feeds_into(self, tool: ToolId) -> list[FeedLink]:
        feeds = self._feeds.get(tool, {}).values()
        return sorted(feeds, key=lambda feed: (-feed.score, feed.source, feed.parameter, feed.field))

    async def get_substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        return sorted(self._substitutes.get(tool, {}).values(), key=lambda pair: (-pair.score, pair.other))

    async def count_links(self) -> LinkCounts:
        return LinkCounts(
            sum(map(len, self._feeds.values())),
            sum(map(len, self._substitutes.values())),
            sum(state.pending for state in self._states.values()),
        )


class InMemoryGraph(InMemoryLinks):
    """``GraphStore`` and ``LinkStore`` for one event loop.

    All checks of a write come before its first change, so a rejected write changes nothing.
    """

    def __init__(self) -> None:
        self._documents: dict[ToolId, ToolDoc] = {}
        self._removed: dict[ToolId, ToolDoc] = {}
        self._facts: dict[ToolId, ToolFacts] = {}
        self._edges_by_source: dict[ToolId, dict[ToolId, Edge]] = {}
        super().__init__(self._facts)
        self._sources_by_target: dict[ToolId, set[ToolId]] = {}
        self._applied_keys: set[str] = set()
        self._lessons: dict[ToolId, dict[str, ToolLesson]] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        check_documents(tools)
        for tool in tools:
            self._removed.pop(tool.id, None)
            self._documents[tool.id] = tool
            self._facts.setdefault(tool.id, ToolFacts())

    async def reset_tools(self, tools: Iterable[ToolId]) -> None:
        known_tools = self._facts.keys() & set(tools)
        self._facts.update(dict.fromkeys(known_tools, ToolFacts()))
        for tool in known_tools:
            self._lessons.pop(tool, None)
        self.drop_links(known_tools)

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)
        if not self._applied_keys.isdisjoint({batch.key, *batch.records}):
            return False
        self._applied_keys |= {batch.key, *batch.records}
        self._add_imported(batch.transitions)
        for tool in {*batch.nodes, *batch.calls, *batch.successes}:
            old = self._facts.get(tool, ToolFacts())
            self._facts[tool] = replace(
                old, calls=old.calls + batch.calls[tool], successes=old.successes + batch.successes[tool]
            )
        return True

    async def learn(self, batch: LiveBatch) -> bool:
        check_live_batch(batch)
        if not self._claim_key(batch.key):
            return False
        self._add_walks(batch)
        for tool, score in batch.scores:
            old = self._facts.get(tool, ToolFacts())
            self._facts[tool] = replace(old, quality=batch.decay * old.quality + score)
        for tool, outcome in batch.outcomes:
            old, sign = self._facts.get(tool, ToolFacts()), 1.0 if outcome == "ok" else -1.0
            self._facts[tool] = replace(old, reliability=batch.decay * old.reliability + sign)
        for tool, calls in fold_calls(batch).items():
            self._facts[tool] = apply_calls(self._facts[tool], calls, to_timestamp(batch.at), batch.half_life)
        self._store_lessons(batch.build_lessons().items())
        return True

    def _store_lessons(self, lessons: Iterable[tuple[ToolId, ToolLesson]]) -> None:
        for tool, lesson in lessons:
            self._facts.setdefault(tool, ToolFacts())
            self._lessons.setdefault(tool, {})[lesson.run] = lesson
        for tool in {tool for tool, _ in lessons}:  # keep only the newest lessons of each tool
            newest = sorted(self._lessons[tool].values(), key=_get_lesson_order)[-MAX_LESSONS:]
            self._lessons[tool] = {lesson.run: lesson for lesson in newest}

    async def get_lessons(self, tool: ToolId) -> list[ToolLesson]:
        return sorted(self._lessons.get(tool, {}).values(), key=_get_lesson_order, reverse=True)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        for tool in self._facts.keys() & set(tools):
            facts = self._facts[tool]
            self._facts[tool] = ToolFacts(facts.calls, facts.successes)
            self._lessons.pop(tool, None)

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        check_mark(source, target, mark, self._facts)
        edge = replace(self._edges_by_source.get(source, {}).get(target, Edge(source, target)), mark=mark)
        if edge == Edge(source, target):
            self._edges_by_source.get(source, {}).pop(target, None)
            self._sources_by_target.get(target, set()).discard(source)
        else:
            self._put_edge(edge)

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_mark_name(mark)
        for source in set(sources) & self._sources_by_target.get(tool, set()):
            await self.mark(source, tool, mark)

    def _claim_key(self, key: str) -> bool:
        """Mark a batch key as applied; return False if it was applied before."""
        if key in self._applied_keys:
            return False
        self._applied_keys.add(key)
        return True

    def _add_imported(self, counts: Mapping[tuple[ToolId, ToolId], int]) -> None:
        for (source, target), count in counts.items():
            self._facts.setdefault(source, ToolFacts())
            self._facts.setdefault(target, ToolFacts())
            if count:
                old = self._edges_by_source.get(source, {}).get(target, Edge(source, target))
                self._put_edge(replace(old, imported=old.imported + count))

    def _add_walks(self, batch: LiveBatch) -> None:
        for tool in (tool for pair in batch.transitions for tool in pair):
            self._facts.setdefault(tool, ToolFacts())
        for source, walks in fold_walks(batch).items():
            for edge in apply_walks(self._edges_by_source.get(source, {}), source, walks).values():
                self._put_edge(edge)

    def _put_edge(self, edge: Edge) -> None:
        self._edges_by_source.setdefault(edge.source, {})[edge.target] = edge
        self._sources_by_target.setdefault(edge.target, set()).add(edge.source)

    async def find_applied(self, keys: Iterable[str]) -> set[str]:
        return self._applied_keys.intersection(keys)

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return {tool: self._documents[tool] for tool in ids if tool in self._documents}

    async def stream_documents(self) -> AsyncIterator[ToolDoc]:
        for tool in sorted(self._documents):
            yield self._documents[tool]

    async def find_function(self, function: str) -> list[ToolId]:
        return sorted(tool for tool, document in self._documents.items() if document.function == function)

    async def get_facts(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolFacts]:
        return {tool: self._facts[tool] for tool in ids if tool in self._facts}

    async def get_out_edges(self, tool: ToolId) -> list[Neighbour]:
        edges = self._edges_by_source.get(tool, {})
        return [Neighbour(edges[target], self._facts[target], target in self._documents) for target in sorted(edges)]

    async def get_in_edges(self, tool: ToolId) -> list[Edge]:
        return [self._edges_by_source[source][tool] for source in sorted(self._sources_by_target.get(tool, ()))]

    async def find_adjacent_edges(self, tools: Iterable[ToolId]) -> list[Edge]:
        tool_ids = set(tools)
        outgoing = {(tool, target) for tool in tool_ids for target in self._edges_by_source.get(tool, ())}
        incoming = {(source, tool) for tool in tool_ids for source in self._sources_by_target.get(tool, ())}
        return [self._edges_by_source[source][target] for source, target in sorted(outgoing | incoming)]

    async def load_neighbourhoods(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        return {
            tool: ToolNeighbourhood(
                facts=self._facts[tool],
                document=self._documents.get(tool),
                out=await self.get_out_edges(tool),
                into=await self.get_in_edges(tool),
                feeds=await self.get_feeds_into(tool),
                substitutes=await self.get_substitutes(tool),
            )
            for tool in tools
            if tool in self._facts
        }

    async def stream_nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        for tool in sorted(self._facts):
            yield tool, self._facts[tool]

    async def stream_edges(self) -> AsyncIterator[Edge]:
        for source in sorted(self._edges_by_source):
            for target in sorted(self._edges_by_source[source]):
                yield self._edges_by_source[source][target]

    async def stream_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        for tool in sorted(self._lessons):
            for lesson in sorted(self._lessons[tool].values(), key=_get_lesson_order):
                yield tool, lesson

    async def stream_applied_keys(self) -> AsyncIterator[str]:
        for key in sorted(self._applied_keys):
            yield key

    async def restore(self, state: GraphState) -> None:
        check_state(state)
        self._facts.update(state.nodes)
        for edge in state.edges:
            self._facts.setdefault(edge.source, ToolFacts())
            self._facts.setdefault(edge.target, ToolFacts())
            self._put_edge(edge)
        self._store_lessons(state.lessons)
        self._applied_keys.update(state.keys)

    async def compute_statistics(self) -> GraphStatistics:
        finish = len(self._sources_by_target.get(FINISH, ()))
        nodes = len(self._facts) - (FINISH in self._facts)  # FINISH is a node internally, but not a tool
        return GraphStatistics(
            documents=len(self._documents),
            nodes=nodes,
            unresolved=nodes - len(self._documents),
            transitions=sum(map(len, self._edges_by_source.values())) - finish,
            finish_transitions=finish,
            batches=len(self._applied_keys),
        )

    async def close(self) -> None:
        """Nothing to release."""

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[JsonShape]]) -> set[ToolId]:
        documents = [self._documents[tool] for tool in seen if tool in self._documents]
        changed = [new for old in documents if (new := update_learnt_response(old, seen[old.id])) is not old]
        self._documents.update({document.id: document for document in changed})
        await self.expect_links({}, (document.id for document in changed))
        return {document.id for document in changed}

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        removed = self._documents.keys() & set(tools)
        await self.expect_links({}, await self.find_linked_tools(removed) - removed)
        self.drop_links(removed)
        self._removed.update({tool: self._documents.pop(tool) for tool in removed})

    async def get_removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return {tool: self._removed[tool] for tool in ids if tool in self._removed}


def _get_lesson_order(lesson: ToolLesson) -> tuple[datetime, str]:
    """Return the sort key of a lesson: its time, then its run."""
    return lesson.at, lesson.run


class InMemorySolutions:
    """``SolutionStore`` in a dictionary, for one event loop."""

    def __init__(self) -> None:
        self._solutions: dict[str, Solution] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def put(self, solutions: Sequence[Solution]) -> None:
        self._solutions |= {solution.id: solution for solution in solutions}

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        return {solution_id: self._solutions[solution_id] for solution_id in ids if solution_id in self._solutions}

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        changed = {solution_id: change(solution_id, self._solutions.get(solution_id)) for solution_id in ids}
        written = {solution_id: solution for solution_id, solution in changed.items() if solution is not None}
        self._solutions |= written
        return written

    async def list_by_program(self, program: str) -> list[Solution]:
        return [
            self._solutions[solution_id]
            for solution_id in sorted(self._solutions)
            if get_program_id(solution_id) == program
        ]

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        tool_ids = set(tools)
        return [
            self._solutions[solution_id]
            for solution_id in sorted(self._solutions)
            if not tool_ids.isdisjoint(self._solutions[solution_id].path)
        ]

    async def stream_all(self) -> AsyncIterator[Solution]:
        for solution_id in sorted(self._solutions):
            yield self._solutions[solution_id]

    async def remove(self, solutions: Iterable[str]) -> None:
        for solution_id in solutions:
            self._solutions.pop(solution_id, None)

    async def count(self) -> int:
        return len(self._solutions)

    async def close(self) -> None:
        """Nothing to release."""


class InMemoryPatterns:
    """``PatternIndex`` in a dictionary, for one event loop; vectors by (encoder, solution)."""

    def __init__(self) -> None:
        self._vectors_by_key: dict[tuple[str, str], tuple[str, list[list[float]]]] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def count_patterns(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        entries = {solution: self._vectors_by_key.get((identity, solution)) for solution in solutions}
        return {solution: len(entry[1]) for solution, entry in entries.items() if entry is not None}

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        self._vectors_by_key[identity, solution] = (owner, [list(vector) for vector in vectors])

    async def find_similar(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        patterns = [
            NearPattern(solution=solution, number=number, similarity=min(1.0, float(np.dot(vector, one))))
            for (encoder, solution), (pattern_owner, vectors) in self._vectors_by_key.items()
            if encoder == identity and pattern_owner in ("", owner)
            for number, one in enumerate(vectors)
        ]
        return sorted(patterns, key=lambda one: (-one.similarity, one.solution, one.number))[:limit]

    async def remove(self, solutions: Iterable[str]) -> None:
        removed = set(solutions)
        self._vectors_by_key = {key: entry for key, entry in self._vectors_by_key.items() if key[1] not in removed}

    async def close(self) -> None:
        """Nothing to release."""
