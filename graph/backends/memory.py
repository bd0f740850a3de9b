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


class MemoryLinks:
    """``LinkStore`` in dictionaries. ``nodes``: the graph's nodes, as a live view."""

    def __init__(self, nodes: Collection[ToolId]) -> None:
        self._nodes = nodes
        self._states: dict[ToolId, LinkState] = {}
        self._feeds: dict[ToolId, dict[tuple[ToolId, str, str], FeedLink]] = {}
        self._substitutes: dict[ToolId, dict[ToolId, SubstituteLink]] = {}

    async def expect_links(self, digests: Mapping[ToolId, str], also: Iterable[ToolId] = ()) -> None:
        further = set(also)
        check_tools_exist({*digests, *further}, self._nodes)
        for tool in further:
            self._states[tool] = LinkState(self._digest(tool), pending=True)
        self._states |= {tool: LinkState(digest, pending=True) for tool, digest in digests.items()}

    async def put_links(self, links: Sequence[ToolLinks]) -> None:
        check_links(links, self._nodes)
        for one in links:
            self._feeds[one.tool] = {(feed.source, feed.parameter, feed.field): feed for feed in one.feeds}
            self._substitutes[one.tool] = {pair.other: pair for pair in one.substitutes}
            self._states[one.tool] = LinkState(self._digest(one.tool), pending=False)

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

    def _digest(self, tool: ToolId) -> str:
        known = self._states.get(tool)
        return known.digest if known else ""

    async def link_states(self) -> dict[ToolId, LinkState]:
        return dict(self._states)

    async def linked_to(self, tools: Iterable[ToolId]) -> set[ToolId]:
        wanted = set(tools)
        fed = {tool for tool, feeds in self._feeds.items() if any(source in wanted for source, _, _ in feeds)}
        return fed | {tool for tool, pairs in self._substitutes.items() if not wanted.isdisjoint(pairs)}

    async def feeds_out(self, tool: ToolId) -> list[FeedLink]:
        found = [feed for feeds in self._feeds.values() for feed in feeds.values() if feed.source == tool]
        return sorted(found, key=lambda feed: (-feed.score, feed.target, feed.parameter, feed.field))

    async def feeds_into(self, tool: ToolId) -> list[FeedLink]:
        found = self._feeds.get(tool, {}).values()
        return sorted(found, key=lambda feed: (-feed.score, feed.source, feed.parameter, feed.field))

    async def substitutes(self, tool: ToolId) -> list[SubstituteLink]:
        return sorted(self._substitutes.get(tool, {}).values(), key=lambda pair: (-pair.score, pair.other))

    async def link_counts(self) -> LinkCounts:
        return LinkCounts(
            sum(map(len, self._feeds.values())),
            sum(map(len, self._substitutes.values())),
            sum(state.pending for state in self._states.values()),
        )


class MemoryGraph(MemoryLinks):
    """``GraphStore`` and ``LinkStore`` for one event loop.

    All checks of a write come before its first change, so a rejected write changes nothing.
    """

    def __init__(self) -> None:
        self._documents: dict[ToolId, ToolDoc] = {}
        self._removed: dict[ToolId, ToolDoc] = {}
        self._facts: dict[ToolId, ToolFacts] = {}
        self._out: dict[ToolId, dict[ToolId, Edge]] = {}
        super().__init__(self._facts)
        self._in: dict[ToolId, set[ToolId]] = {}
        self._keys: set[str] = set()
        self._lessons: dict[ToolId, dict[str, ToolLesson]] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def put_tools(self, tools: Sequence[ToolDoc]) -> None:
        check_documents(tools)
        for tool in tools:
            self._removed.pop(tool.id, None)
            self._documents[tool.id] = tool
            self._facts.setdefault(tool.id, ToolFacts())

    async def begin_anew(self, tools: Iterable[ToolId]) -> None:
        others = self._facts.keys() & set(tools)
        self._facts.update(dict.fromkeys(others, ToolFacts()))
        for tool in others:
            self._lessons.pop(tool, None)
        self.drop_links(others)

    async def apply(self, batch: GraphBatch) -> bool:
        check_batch(batch)
        if not self._keys.isdisjoint({batch.key, *batch.records}):
            return False
        self._keys |= {batch.key, *batch.records}
        self._add_imported(batch.transitions)
        for tool in {*batch.nodes, *batch.calls, *batch.successes}:
            old = self._facts.get(tool, ToolFacts())
            self._facts[tool] = replace(
                old, calls=old.calls + batch.calls[tool], successes=old.successes + batch.successes[tool]
            )
        return True

    async def learn(self, batch: LiveBatch) -> bool:
        check_live_batch(batch)
        if not self._claim(batch.key):
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
        self._keep(batch.build_lessons().items())
        return True

    def _keep(self, lessons: Iterable[tuple[ToolId, ToolLesson]]) -> None:
        for tool, lesson in lessons:
            self._facts.setdefault(tool, ToolFacts())
            self._lessons.setdefault(tool, {})[lesson.run] = lesson
        for tool in {tool for tool, _ in lessons}:  # keep only the newest lessons of each tool
            newest = sorted(self._lessons[tool].values(), key=_moment)[-MAX_LESSONS:]
            self._lessons[tool] = {lesson.run: lesson for lesson in newest}

    async def lessons(self, tool: ToolId) -> list[ToolLesson]:
        return sorted(self._lessons.get(tool, {}).values(), key=_moment, reverse=True)

    async def forget(self, tools: Iterable[ToolId]) -> None:
        for tool in self._facts.keys() & set(tools):
            known = self._facts[tool]
            self._facts[tool] = ToolFacts(known.calls, known.successes)
            self._lessons.pop(tool, None)

    async def mark(self, source: ToolId, target: ToolId, mark: Mark | None) -> None:
        check_mark(source, target, mark, self._facts)
        edge = replace(self._out.get(source, {}).get(target, Edge(source, target)), mark=mark)
        if edge == Edge(source, target):
            self._out.get(source, {}).pop(target, None)
            self._in.get(target, set()).discard(source)
        else:
            self._put_edge(edge)

    async def mark_into(self, tool: ToolId, sources: Iterable[ToolId], mark: Mark | None) -> None:
        check_mark_name(mark)
        for source in set(sources) & self._in.get(tool, set()):
            await self.mark(source, tool, mark)

    def _claim(self, key: str) -> bool:
        """Mark a batch key as applied; return False if it was applied before."""
        if key in self._keys:
            return False
        self._keys.add(key)
        return True

    def _add_imported(self, counts: Mapping[tuple[ToolId, ToolId], int]) -> None:
        for (source, target), count in counts.items():
            self._facts.setdefault(source, ToolFacts())
            self._facts.setdefault(target, ToolFacts())
            if count:
                old = self._out.get(source, {}).get(target, Edge(source, target))
                self._put_edge(replace(old, imported=old.imported + count))

    def _add_walks(self, batch: LiveBatch) -> None:
        for end in (end for pair in batch.transitions for end in pair):
            self._facts.setdefault(end, ToolFacts())
        for source, walks in fold_walks(batch).items():
            for edge in apply_walks(self._out.get(source, {}), source, walks).values():
                self._put_edge(edge)

    def _put_edge(self, edge: Edge) -> None:
        self._out.setdefault(edge.source, {})[edge.target] = edge
        self._in.setdefault(edge.target, set()).add(edge.source)

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

    async def edges_beside(self, tools: Iterable[ToolId]) -> list[Edge]:
        asked = set(tools)
        out = {(tool, target) for tool in asked for target in self._out.get(tool, ())}
        into = {(source, tool) for tool in asked for source in self._in.get(tool, ())}
        return [self._out[source][target] for source, target in sorted(out | into)]

    async def around(self, tools: Iterable[ToolId]) -> dict[ToolId, ToolNeighbourhood]:
        return {
            tool: ToolNeighbourhood(
                facts=self._facts[tool],
                document=self._documents.get(tool),
                out=await self.out_edges(tool),
                into=await self.in_edges(tool),
                feeds=await self.feeds_into(tool),
                substitutes=await self.substitutes(tool),
            )
            for tool in tools
            if tool in self._facts
        }

    async def nodes(self) -> AsyncIterator[tuple[ToolId, ToolFacts]]:
        for tool in sorted(self._facts):
            yield tool, self._facts[tool]

    async def edges(self) -> AsyncIterator[Edge]:
        for source in sorted(self._out):
            for target in sorted(self._out[source]):
                yield self._out[source][target]

    async def all_lessons(self) -> AsyncIterator[tuple[ToolId, ToolLesson]]:
        for tool in sorted(self._lessons):
            for lesson in sorted(self._lessons[tool].values(), key=_moment):
                yield tool, lesson

    async def applied_keys(self) -> AsyncIterator[str]:
        for key in sorted(self._keys):
            yield key

    async def restore(self, state: GraphState) -> None:
        check_state(state)
        self._facts.update(state.nodes)
        for edge in state.edges:
            self._facts.setdefault(edge.source, ToolFacts())
            self._facts.setdefault(edge.target, ToolFacts())
            self._put_edge(edge)
        self._keep(state.lessons)
        self._keys.update(state.keys)

    async def statistics(self) -> GraphStatistics:
        finish = len(self._in.get(FINISH, ()))
        nodes = len(self._facts) - (FINISH in self._facts)  # FINISH is a node internally, but not a tool
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

    async def learn_answers(self, seen: Mapping[ToolId, Sequence[JsonShape]]) -> set[ToolId]:
        known = [self._documents[tool] for tool in seen if tool in self._documents]
        changed = [new for old in known if (new := update_learnt_response(old, seen[old.id])) is not old]
        self._documents.update({one.id: one for one in changed})
        await self.expect_links({}, (one.id for one in changed))
        return {one.id for one in changed}

    async def remove_tools(self, tools: Iterable[ToolId]) -> None:
        going = self._documents.keys() & set(tools)
        await self.expect_links({}, await self.linked_to(going) - going)
        self.drop_links(going)
        self._removed.update({tool: self._documents.pop(tool) for tool in going})

    async def removed_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        return {tool: self._removed[tool] for tool in ids if tool in self._removed}


def _moment(lesson: ToolLesson) -> tuple[datetime, str]:
    """Return the sort key of a lesson: its time, then its run."""
    return lesson.at, lesson.run


class MemorySolutions:
    """``SolutionStore`` in a dictionary, for one event loop."""

    def __init__(self) -> None:
        self._kept: dict[str, Solution] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def put(self, solutions: Sequence[Solution]) -> None:
        self._kept |= {one.id: one for one in solutions}

    async def get(self, ids: Iterable[str]) -> dict[str, Solution]:
        return {one: self._kept[one] for one in ids if one in self._kept}

    async def change(self, ids: Sequence[str], change: SolutionChange) -> dict[str, Solution]:
        made = {one: change(one, self._kept.get(one)) for one in ids}
        written = {one: solution for one, solution in made.items() if solution is not None}
        self._kept |= written
        return written

    async def list_by_program(self, program: str) -> list[Solution]:
        return [self._kept[one] for one in sorted(self._kept) if get_program_id(one) == program]

    async def list_by_tools(self, tools: Iterable[ToolId]) -> list[Solution]:
        wanted = set(tools)
        return [self._kept[one] for one in sorted(self._kept) if not wanted.isdisjoint(self._kept[one].path)]

    async def all(self) -> AsyncIterator[Solution]:
        for one in sorted(self._kept):
            yield self._kept[one]

    async def remove(self, solutions: Iterable[str]) -> None:
        for one in solutions:
            self._kept.pop(one, None)

    async def count(self) -> int:
        return len(self._kept)

    async def close(self) -> None:
        """Nothing to release."""


class MemoryPatterns:
    """``PatternIndex`` in a dictionary, for one event loop; vectors by (encoder, solution)."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], tuple[str, list[list[float]]]] = {}

    async def setup(self) -> None:
        """Nothing to create."""

    async def count_patterns(self, solutions: Iterable[str], identity: str) -> dict[str, int]:
        found = {one: self._kept.get((identity, one)) for one in solutions}
        return {one: len(kept[1]) for one, kept in found.items() if kept is not None}

    async def put(self, identity: str, owner: str, solution: str, vectors: Sequence[Sequence[float]]) -> None:
        self._kept[identity, solution] = (owner, [list(vector) for vector in vectors])

    async def find_similar(self, vector: Sequence[float], identity: str, owner: str, limit: int) -> list[NearPattern]:
        found = [
            NearPattern(solution=solution, number=number, similarity=min(1.0, float(np.dot(vector, one))))
            for (encoder, solution), (whose, vectors) in self._kept.items()
            if encoder == identity and whose in ("", owner)
            for number, one in enumerate(vectors)
        ]
        return sorted(found, key=lambda one: (-one.similarity, one.solution, one.number))[:limit]

    async def remove(self, solutions: Iterable[str]) -> None:
        gone = set(solutions)
        self._kept = {key: kept for key, kept in self._kept.items() if key[1] not in gone}

    async def close(self) -> None:
        """Nothing to release."""
