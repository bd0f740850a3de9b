"""What is said of one tool, and which tool a name means."""

import json

import pytest

from domain.errors import AmbiguousNameError, UsageError
from domain.tool import FINISH, Parameter, ToolDoc, make_tool_id
from graph.backends.in_memory import InMemoryGraph
from graph.tool_description import DescribedEdge, describe_tool, find_category, find_similar_ids, find_tool
from graph.weights import WeightParameters
from tests.support.graph_samples import LOST, A, B, C, batch, document, walked

DEFAULTS = WeightParameters()


@pytest.fixture
async def graph() -> InMemoryGraph:
    graph = InMemoryGraph()
    await graph.put_tools([document(A, "geocode_for_geo"), document(B, "now_for_meteo"), document(C, "now_for_meteo")])
    await graph.apply(batch("k", {(A, B): 3, (A, FINISH): 1, (LOST, B): 2, (B, FINISH): 5}, {A: 4}, {A: 3}))
    return graph


async def test_all_links_with_their_weights_heaviest_first(graph: InMemoryGraph) -> None:
    found = await describe_tool(graph, A, DEFAULTS)
    assert found.successors == [DescribedEdge(B, 0.75, 3, 0), DescribedEdge(FINISH, 0.25, 1, 0)]
    assert found.predecessors == []
    assert found.availability == (3 + 1) / (4 + 2)
    assert (await describe_tool(graph, B, DEFAULTS)).predecessors == [
        DescribedEdge(LOST, 1.0, 2, 0),
        DescribedEdge(A, 0.75, 3, 0),
    ]


async def test_weights_are_those_of_the_parameters(graph: InMemoryGraph) -> None:
    await graph.learn(walked("r", A, B))
    fixed = await describe_tool(graph, A, WeightParameters("thesis", beta=1.0))
    assert [link.weight for link in fixed.successors] == [0.75, 0.25]
    moved = await describe_tool(graph, A, DEFAULTS)
    assert [link.live for link in moved.successors] == [1, 0]
    assert moved.successors[0].weight != 0.75


async def test_the_keys_of_the_json(graph: InMemoryGraph) -> None:
    big = ToolDoc(
        id=A, category="c", toolset="t", api="a", function="f", parameters=(Parameter(name="n", default=2**70),)
    )
    await graph.put_tools([big])
    said = json.loads(json.dumps((await describe_tool(graph, "f", DEFAULTS)).to_json()))
    assert list(said) == ["id", "document", "side_effect", "availability", "evidence", "successors", "predecessors"]
    assert said["successors"][0] == {"id": B, "weight": 0.75, "imported": 3, "live": 0}
    assert (said["evidence"]["calls"], said["evidence"]["successes"]) == (4, 3)
    assert ToolDoc.model_validate(said["document"]) == big


@pytest.mark.parametrize("node", [FINISH, LOST])
async def test_nodes_without_a_document(graph: InMemoryGraph, node: str) -> None:
    found = await describe_tool(graph, node, DEFAULTS)
    assert (found.document, found.availability) == (None, None)
    assert found.predecessors or found.successors


@pytest.mark.parametrize("name", [A, "geocode_for_geo", "Geocode for GEO"])
async def test_a_tool_is_found_by_id_and_by_function(graph: InMemoryGraph, name: str) -> None:
    assert await find_tool(graph, name) == A


async def test_a_function_of_several_tools_lists_them(graph: InMemoryGraph) -> None:
    with pytest.raises(AmbiguousNameError) as caught:
        await find_tool(graph, "now_for_meteo")
    assert caught.value.candidates == tuple(sorted([B, C]))
    assert B in str(caught.value)


@pytest.mark.parametrize("name", ["geocod_for_geo", "geocode", make_tool_id("Maps", "geo", "Geokode")])
async def test_an_unknown_name_suggests_near_ones(graph: InMemoryGraph, name: str) -> None:
    with pytest.raises(UsageError, match=r"near names:\n.*(geocode_for_geo|Geocode)"):
        await find_tool(graph, name)


@pytest.mark.parametrize("name", ["", "zzzzqqqq", "☔" * 1000])
async def test_an_unknown_name_like_nothing(graph: InMemoryGraph, name: str) -> None:
    with pytest.raises(UsageError) as caught:
        await find_tool(graph, name)
    assert "near names" not in str(caught.value)


async def test_near_tools_are_told_by_their_ids_each_once(graph: InMemoryGraph) -> None:
    assert await find_similar_ids(graph, "geocod_for_geo") == [A]
    assert await find_similar_ids(graph, A.upper()) == [A]
    assert (await find_similar_ids(graph, "now_for_meteo"))[0] in (B, C)
    assert await find_similar_ids(graph, "zzzzqqqq") == []


async def test_a_tool_is_found_by_the_name_of_its_api(graph: InMemoryGraph) -> None:
    named = [document(A).model_copy(update={"api": "Geocode City"}), document(B, "b").model_copy(update={"api": "now"})]
    await graph.put_tools([*named, document(C, "c").model_copy(update={"api": "Now"})])
    assert await find_tool(graph, "Geocode City") == await find_tool(graph, "geocode_city") == A
    assert await find_tool(graph, "now") == B
    with pytest.raises(AmbiguousNameError) as refused:
        await find_tool(graph, "NOW")
    assert set(refused.value.candidates) == {B, C}


async def test_a_category_is_known_however_it_is_written(graph: InMemoryGraph) -> None:
    others = [document(A).model_copy(update={"category": name}) for name in ("Money",)]
    await graph.put_tools([*others, document(B).model_copy(update={"category": "MONEY"})])
    assert [await find_category(graph, name) for name in ("weather", "Money", "nope")] == ["Weather", "Money", "nope"]
    with pytest.raises(UsageError, match="MONEY, Money"):
        await find_category(graph, "money")
