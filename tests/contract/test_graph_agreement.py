"""Generated sequences of operations leave every back end in the state of the one in memory.

``FOOTPATH_TEST_EXAMPLES`` sets how many sequences are tried on each (default 40).
"""

import asyncio
import os
import tempfile
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain.errors import UsageError
from domain.tool import FINISH, ToolDoc, ToolId
from graph.backends.memory import MemoryGraph
from graph.facts import Edge, GraphBatch, GraphState, LiveBatch, ToolFacts
from graph.store import GraphStore
from tests.contract.graph_backends import BACKENDS
from tests.contract.graph_samples import LOST, A, B, C, batch, document

EXAMPLES = int(os.environ.get("FOOTPATH_TEST_EXAMPLES", "40"))
TOOLS = (A, B, C, LOST)
KEYS = ("k1", "k2", "k3", "run")
RECORDS = ("k1", "r1", "r2")
FUNCTIONS = ("f", "g", "")

Operation = ToolDoc | GraphBatch | LiveBatch | GraphState

tools = st.sampled_from(TOOLS)
documents = st.builds(document, st.sampled_from((A, B, C)), st.sampled_from(FUNCTIONS), st.text(max_size=4))
transitions = st.dictionaries(st.tuples(tools, st.sampled_from((*TOOLS, FINISH))), st.integers(0, 3), max_size=4)
counts = st.dictionaries(tools, st.integers(0, 3), max_size=3)
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
)
facts = st.builds(ToolFacts, *[st.integers(0, 3)] * 5, *[st.floats(-2, 2).map(lambda x: x + 0.0)] * 2)
edges = st.builds(Edge, tools, st.sampled_from((*TOOLS, FINISH)), st.integers(0, 2), st.integers(0, 2))
states = st.builds(
    GraphState,
    st.dictionaries(st.sampled_from((*TOOLS, FINISH)), facts, max_size=3),
    st.lists(edges, max_size=3).map(tuple),
    st.lists(st.sampled_from(KEYS), max_size=2).map(tuple),
)
operations: st.SearchStrategy[list[Operation]] = st.lists(documents | batches | runs | states, max_size=12)


async def perform(graph: GraphStore, operation: Operation) -> object:
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
    except UsageError as error:
        return str(error)


async def state(graph: GraphStore) -> dict[str, object]:
    """Everything that can be read from a store."""
    everything: tuple[ToolId, ...] = (*TOOLS, FINISH)
    return {
        "documents": [tool async for tool in graph.documents()],
        "some": await graph.get_tools([A, LOST]),
        "facts": {tool: asdict(facts) for tool, facts in sorted((await graph.facts(everything)).items())},
        "out": {tool: await graph.out_edges(tool) for tool in everything},
        "in": {tool: await graph.in_edges(tool) for tool in everything},
        "functions": {name: await graph.find_function(name) for name in FUNCTIONS},
        "nodes": [node async for node in graph.nodes()],
        "edges": [edge async for edge in graph.edges()],
        "keys": [key async for key in graph.applied_keys()],
        "applied": await graph.applied({*KEYS, *RECORDS}),
        "statistics": await graph.statistics(),
    }


async def compare(backend: str, sequence: list[Operation]) -> None:
    oracle = MemoryGraph()
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
