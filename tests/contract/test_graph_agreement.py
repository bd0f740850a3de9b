"""Generated sequences of operations leave every back end in the state of the one in memory.

``FOOTPATH_TEST_EXAMPLES`` sets how many sequences are tried on each (default 40).
"""

import asyncio
import os
import tempfile
from dataclasses import asdict, dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import UsageError
from domain.tool import FINISH, ToolDoc, ToolId
from graph.backends.in_memory import InMemoryGraph
from graph.facts import Edge, GraphBatch, GraphState, LiveBatch, Mark, ToolFacts, ToolLesson
from graph.links import FeedLink, LinkedGraph, SubstituteLink, ToolLinks
from graph.shapes import JsonShape, infer_shape
from tests.support.graph_backends import BACKENDS
from tests.support.graph_samples import LOST, NOON, A, B, C, batch, document

EXAMPLES = int(os.environ.get("FOOTPATH_TEST_EXAMPLES", "40"))
TOOLS = (A, B, C, LOST)
KEYS = ("k1", "k2", "k3", "run")
RECORDS = ("k1", "r1", "r2")
FUNCTIONS = ("f", "g", "")


@dataclass(frozen=True)
class Marking:
    source: ToolId
    target: ToolId
    mark: Mark | None


@dataclass(frozen=True)
class Expecting:
    digests: dict[ToolId, str]
    also: frozenset[ToolId]


@dataclass(frozen=True)
class Beginning:
    """Tools that begin anew."""

    tools: frozenset[ToolId]


@dataclass(frozen=True)
class Removing:
    """Tools whose documents are taken away."""

    tools: frozenset[ToolId]


@dataclass(frozen=True)
class Answering:
    """What answers of tools looked like."""

    seen: dict[ToolId, list[JsonShape]]


@dataclass(frozen=True)
class Forgetting:
    """Tools of which runs are forgotten."""

    tools: frozenset[ToolId]


Operation = (
    Answering
    | Beginning
    | Forgetting
    | Removing
    | ToolDoc
    | GraphBatch
    | LiveBatch
    | GraphState
    | Marking
    | Expecting
    | list[ToolLinks]
)

tools = st.sampled_from(TOOLS)
documents = st.builds(document, st.sampled_from((A, B, C)), st.sampled_from(FUNCTIONS), st.text(max_size=4))
transitions = st.dictionaries(st.tuples(tools, st.sampled_from((*TOOLS, FINISH))), st.integers(0, 3), max_size=4)
counts = st.dictionaries(tools, st.integers(0, 3), max_size=3)
moments = st.integers(0, 3).map(lambda days: NOON + timedelta(days=days, hours=days))
marks = st.sampled_from((None, "pin", "mute", "ban"))
batches = st.builds(
    batch,
    st.sampled_from(KEYS),
    transitions,
    counts,
    counts | st.builds(dict[ToolId, int]),
    st.sets(tools, max_size=2),
    st.sets(st.sampled_from(RECORDS), max_size=2),
)
runs = st.builds(
    LiveBatch,
    st.sampled_from(KEYS),
    transitions,
    st.lists(st.tuples(tools, st.floats(-1, 1)), max_size=4).map(tuple),
    st.lists(st.tuples(tools, st.sampled_from(("ok", "transient", "gone"))), max_size=4).map(tuple),
    st.sampled_from((0.5, 0.8, 1.0)),
    moments,
    st.just(1.0),
)
facts = st.builds(
    ToolFacts,
    *[st.integers(0, 3)] * 5,
    *[st.floats(-2, 2).map(lambda x: x + 0.0)] * 2,
    *[st.floats(0, 5)] * 3,
    moments.map(lambda at: at.timestamp()) | st.just(0.0),
)
edges = st.builds(
    Edge, tools, st.sampled_from((*TOOLS, FINISH)), st.integers(0, 2), st.integers(0, 2), marks, st.floats(0, 5)
)
outcomes = st.lists(st.sampled_from(("ok", "transient", "gone")), max_size=2).map(tuple)
lessons = st.builds(ToolLesson, st.sampled_from((*KEYS, "old")), moments, st.none() | st.floats(0.1, 1), outcomes)
states = st.builds(
    GraphState,
    st.dictionaries(st.sampled_from((*TOOLS, FINISH)), facts, max_size=3),
    st.lists(edges, max_size=3).map(tuple),
    st.lists(st.sampled_from(KEYS), max_size=2).map(tuple),
    st.lists(st.tuples(tools, lessons), max_size=3).map(tuple),
)
markings = st.builds(Marking, st.sampled_from((*TOOLS, FINISH)), st.sampled_from((*TOOLS, FINISH)), marks)
expectations = st.builds(
    Expecting, st.dictionaries(tools, st.sampled_from(("d1", "d2")), max_size=3), st.frozensets(tools, max_size=2)
)
answered: st.SearchStrategy[Any] = st.dictionaries(
    st.sampled_from(("id", "name", "12")), st.sampled_from((1, 1.5, "x", [{"y": None}])), min_size=1
)
answerings = st.builds(Answering, st.dictionaries(tools, st.lists(answered.map(infer_shape), max_size=2), max_size=2))
beginnings = st.builds(Beginning, st.frozensets(tools, max_size=2))
forgettings = st.builds(Forgetting, st.frozensets(tools, max_size=2))
removals = st.builds(Removing, st.frozensets(tools, max_size=2))
scores = st.sampled_from((0.6, 0.9, 1.0))
feeds = st.builds(FeedLink, tools, st.just(A), st.sampled_from(("f", "g[].h")), st.sampled_from(("p", "q")), scores)
pairs = st.builds(SubstituteLink, st.just(A), tools, scores, st.dictionaries(st.sampled_from(("p", "ü")), st.just("q")))


def of_tool(tool: ToolId, into: list[FeedLink], others: list[SubstituteLink]) -> ToolLinks:
    return ToolLinks(tool, [replace(f, target=tool) for f in into], [replace(s, one=tool) for s in others])


links = st.lists(
    st.builds(of_tool, tools, st.lists(feeds, max_size=3), st.lists(pairs, max_size=2)),
    max_size=3,
    unique_by=lambda one: one.tool,
)
operations: st.SearchStrategy[list[Operation]] = st.lists(
    answerings
    | beginnings
    | forgettings
    | removals
    | documents
    | batches
    | runs
    | states
    | markings
    | expectations
    | links,
    max_size=12,
)


async def perform(graph: LinkedGraph, operation: Operation) -> object:
    """The answer of the store to one operation, a refusal included."""
    try:
        match operation:
            case ToolDoc():
                return await graph.put_tools([operation])
            case GraphBatch():
                return await graph.apply(operation)
            case LiveBatch():
                return await graph.learn(operation)
            case GraphState():
                return await graph.restore(operation)
            case Marking():
                return await graph.mark(operation.source, operation.target, operation.mark)
            case Answering():
                return await graph.learn_answers(operation.seen)
            case Beginning() | Forgetting() | Removing():
                return await lose(graph, operation)
            case Expecting():
                return await graph.expect_links(operation.digests, operation.also)
            case list():
                return await graph.put_links(operation)
    except UsageError as error:
        return str(error)


async def lose(graph: LinkedGraph, operation: Beginning | Forgetting | Removing) -> None:
    match operation:
        case Beginning():
            await graph.reset_tools(operation.tools)
        case Forgetting():
            await graph.forget(operation.tools)
        case Removing():
            await graph.remove_tools(operation.tools)


async def state(graph: LinkedGraph) -> dict[str, object]:
    """Everything that can be read from a store."""
    everything: tuple[ToolId, ...] = (*TOOLS, FINISH)
    return {
        "documents": [tool async for tool in graph.stream_documents()],
        "some": await graph.get_tools([A, LOST]),
        "removed": await graph.get_removed_tools(TOOLS),
        "facts": {tool: asdict(facts) for tool, facts in sorted((await graph.get_facts(everything)).items())},
        "out": {tool: await graph.get_out_edges(tool) for tool in everything},
        "in": {tool: await graph.get_in_edges(tool) for tool in everything},
        "around": sorted((await graph.load_neighbourhoods(everything)).items()),
        "functions": {name: await graph.find_function(name) for name in FUNCTIONS},
        "nodes": [node async for node in graph.stream_nodes()],
        "edges": [edge async for edge in graph.stream_edges()],
        "lessons": {tool: await graph.get_lessons(tool) for tool in everything},
        "all lessons": [lesson async for lesson in graph.stream_lessons()],
        "feeds out": {tool: await graph.get_feeds_out(tool) for tool in everything},
        "feeds into": {tool: await graph.get_feeds_into(tool) for tool in everything},
        "substitutes": {tool: await graph.get_substitutes(tool) for tool in everything},
        "links": (await graph.get_link_states(), await graph.count_links()),
        "linked": [await graph.find_linked_tools(some) for some in ([], [A], [A, B], [LOST])],
        "keys": [key async for key in graph.stream_applied_keys()],
        "applied": await graph.find_applied({*KEYS, *RECORDS}),
        "statistics": await graph.compute_statistics(),
    }


async def compare(backend: str, sequence: list[Operation]) -> None:
    oracle = InMemoryGraph()
    with tempfile.TemporaryDirectory() as folder:
        async with BACKENDS[backend](Path(folder)) as graph:
            for operation in sequence:
                assert await perform(graph, operation) == await perform(oracle, operation), operation
            assert await state(graph) == await state(oracle)


@pytest.mark.parametrize("backend", sorted(set(BACKENDS) - {"memory"}))
@given(sequence=operations)
@settings(max_examples=EXAMPLES)
def test_a_store_agrees_with_the_one_in_memory(backend: str, sequence: list[Operation]) -> None:
    asyncio.run(compare(backend, sequence))
