"""An offer under a budget: the first tools whole, the rest by name and parameters, the last not at all."""

import ast

from hypothesis import given
from hypothesis import strategies as st

from agent.programs.signatures import render_offer
from domain.tool import Parameter, ToolDoc, make_tool_id
from graph.shapes import infer_shape

TOOLS = [
    ToolDoc(
        id=make_tool_id("c", f"Set {n}", "search"), category="c", toolset=f"Set {n}", api="search", function=f"search_for_set_{n}",
        description=f"Searches what number {n} has to offer.", parameters=(Parameter(name="query", required=True),),
        example_response='[{"id": "a", "title": "b"}]',
    )
    for n in range(6)
]  # fmt: skip


def test_without_a_budget_all_are_whole() -> None:
    offer = render_offer(TOOLS)
    assert offer.text == "\n".join(one.text for one in offer.signatures)
    assert (offer.complete_count, offer.omitted) == (6, ())
    assert offer.tokens == len(offer.text) // 4 + 1


def test_the_first_are_whole_and_the_rest_by_name_and_parameters() -> None:
    offer = render_offer(TOOLS, render_offer(TOOLS).tokens // 2)
    assert 0 < offer.complete_count < 6 == len(offer.signatures)
    assert offer.text.count("# Searches") == offer.complete_count
    assert offer.text.endswith("async def search_Set_5(query: str): ...")


def test_what_has_no_place_is_named() -> None:
    offer = render_offer(TOOLS, 25)
    assert [one.name for one in offer.signatures] == ["search", "search_Set_1"]
    assert offer.omitted == tuple(tool.id for tool in TOOLS[2:])


def test_what_is_known_of_a_response_is_shown() -> None:
    shapes = {TOOLS[1].id: infer_shape({"hits": [{"page": 3}]})}
    assert "{'hits':list[{'page':int}]}" in render_offer(TOOLS, shapes=shapes).text


@given(st.integers(min_value=-5, max_value=400), st.integers(min_value=0, max_value=6))
def test_no_budget_is_passed(budget: int, tools: int) -> None:
    offer = render_offer(TOOLS[:tools], budget)
    assert offer.tokens <= max(budget, 0)
    assert len(ast.parse(offer.text).body) == len(offer.signatures)
    assert len(offer.signatures) + len(offer.omitted) == tools
    assert offer.complete_count <= len(offer.signatures)
    more = render_offer(TOOLS[:tools], budget + 10)
    assert more.complete_count >= offer.complete_count or len(more.signatures) > len(offer.signatures)
