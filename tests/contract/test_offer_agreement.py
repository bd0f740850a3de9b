"""Every back end of the graph gives the same offers: same tools, same order, same reasons."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.offer.offer_maker import OfferMaker
from agent.offer.tool_offer import ToolOffer
from evaluation.evaluation_cases import read_evaluation_cases
from graph.backends.in_memory import InMemoryGraph
from graph.backends.neo4j_graph import Neo4jGraph
from graph.facts import GraphState
from graph.links import LinkedGraph, ToolLinks
from wiring.container import Container, open_container
from wiring.measured_searches import PerRequestExperience
from wiring.store_build import BuildOptions, build

PLAYGROUND = Path(__file__).resolve().parents[2] / "playground"
EACH = 7
"""Every so many of the playground's requests are asked."""
LIMIT = 24


def quiet(stage: str, done: int, total: int | None) -> None:
    """It takes two seconds."""
    del stage, done, total


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("agreement") / "store"
    data = PLAYGROUND / "data"
    options = BuildOptions(tools=(data / "openapi.json",), trajectories=(data / "answer",), store=folder)
    asyncio.run(build(options, quiet))
    return folder


@pytest.fixture
async def container(store: Path) -> AsyncIterator[Container]:
    async with open_container(store=store) as container:
        yield container


async def copied(source: LinkedGraph, target: LinkedGraph) -> None:
    """Documents, counts and links, as moving a store would take them along."""
    documents = [document async for document in source.stream_documents()]
    await target.put_tools(documents)
    edges = [edge async for edge in source.stream_edges()]
    await target.restore(GraphState({tool: facts async for tool, facts in source.stream_nodes()}, edges))
    tools = [document.id for document in documents]
    await target.put_links(
        [ToolLinks(tool, await source.get_feeds_into(tool), await source.get_substitutes(tool)) for tool in tools]
    )


async def offers(container: Container, graph: LinkedGraph) -> Sequence[ToolOffer]:
    asked = PerRequestExperience(graph, await container.memories(), await container.embedder())
    search = await container.open_search(asked)
    maker = OfferMaker(search, graph, search, container.weights)
    requests = [one.request for one in read_evaluation_cases(sorted((PLAYGROUND / "requests").glob("*.jsonl")))[::EACH]]
    return [await maker.offer(request, LIMIT) for request in requests]


@asynccontextmanager
async def in_memory() -> AsyncGenerator[InMemoryGraph]:
    graph = InMemoryGraph()
    await graph.setup()
    yield graph
    await graph.close()


async def test_sqlite_and_memory_agree(container: Container) -> None:
    async with in_memory() as graph:
        await copied(container.graph, graph)
        found = await offers(container, container.graph)
        assert found == await offers(container, graph)
    assert all(len(offer.tools) == LIMIT for offer in found)
    kinds = {reason.kind for offer in found for tool in offer.tools for reason in tool.reasons}
    assert {"found", "supplies", "follows", "served"} <= kinds, "links, transitions and memories all had a say"


async def test_sqlite_and_neo4j_agree(container: Container, neo4j_graph: Neo4jGraph) -> None:
    await copied(container.graph, neo4j_graph)
    assert await offers(container, container.graph) == await offers(container, neo4j_graph)
