"""The contract of the graph store, and its agreement with the one in memory, on a real Neo4j."""

import asyncio

import pytest
from hypothesis import given, settings

from graph.backends.in_memory import InMemoryGraph
from graph.backends.neo4j_graph import Neo4jGraph
from graph.links import LinkedGraph
from tests.contract.entity_marks import EntityMarkContract
from tests.contract.feed_marks import FeedMarkContract
from tests.contract.graph_answers import GraphAnswers
from tests.contract.graph_around import GraphAround
from tests.contract.graph_at_once import GraphAtOnce
from tests.contract.graph_documents import GraphDocuments
from tests.contract.graph_evidence import GraphEvidence
from tests.contract.graph_moving import GraphMoving
from tests.contract.graph_refusals import GraphRefusals
from tests.contract.graph_removal import GraphRemoval
from tests.contract.graph_store import GraphStoreContract
from tests.contract.link_store import LinkStoreContract
from tests.contract.test_graph_agreement import EXAMPLES, Operation, operations, perform, state
from tests.servers.neo4j.server import Neo4jServer


class TestNeo4jGraph(
    GraphStoreContract,
    GraphAnswers,
    GraphAround,
    GraphDocuments,
    GraphMoving,
    GraphRefusals,
    GraphRemoval,
    GraphEvidence,
    GraphAtOnce,
    LinkStoreContract,
    EntityMarkContract,
    FeedMarkContract,
):
    @pytest.fixture
    def graph(self, neo4j_graph: Neo4jGraph) -> LinkedGraph:
        return neo4j_graph


async def compare(graph: LinkedGraph, sequence: list[Operation]) -> None:
    oracle = InMemoryGraph()
    await graph.setup()
    for operation in sequence:
        assert await perform(graph, operation) == await perform(oracle, operation), operation
    assert await state(graph) == await state(oracle)


def test_a_real_neo4j_agrees_with_the_store_in_memory(neo4j_server: Neo4jServer) -> None:
    graph = Neo4jGraph(neo4j_server.url, neo4j_server.user, neo4j_server.password)
    # One connection for all sequences: signing in takes longer than a sequence.
    with neo4j_server.driver() as driver, asyncio.Runner() as runner:

        @given(sequence=operations)
        @settings(max_examples=EXAMPLES)
        def agree(sequence: list[Operation]) -> None:
            driver.execute_query("MATCH (n) DETACH DELETE n", database_="neo4j")
            runner.run(compare(graph, sequence))

        try:
            agree()
        finally:
            runner.run(graph.close())
