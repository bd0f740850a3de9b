"""A tool that failed gets its turn again: now and then, a safe one, one at most; and it takes memory's place only where it could."""

import pytest

from agent.offer.candidates import ToolCandidate
from agent.offer.failing_tools import RIVAL_SHARE, has_rival, is_working, select_returning_tool
from domain.tool import ToolDoc, ToolId, make_tool_id

TOOLS = [make_tool_id("c", "s", f"t{n}") for n in range(4)]


def candidate(tool: ToolId, relevance: float, *, back: bool = False) -> ToolCandidate:
    doc = ToolDoc(id=tool, category="c", toolset="s", api=tool[-2:], function="f")
    return ToolCandidate(doc, 0.5, None, (0.1, relevance), "graph", returning=back)


@pytest.mark.parametrize(
    ("availability", "works"), [(None, True), (0.5, True), (0.49, False), (1.0, True), (0.0, False)]
)
def test_the_untested_may_work(availability: float | None, works: bool) -> None:
    assert is_working(availability) is works


def test_one_run_in_five_tries_a_failing_tool() -> None:
    tried = sum(
        select_returning_tool(TOOLS, lambda t: t == TOOLS[1], lambda _: True, f"run {n}") == TOOLS[1]
        for n in range(500)
    )
    assert 70 <= tried <= 130


def test_the_same_run_tries_the_same() -> None:
    for n in range(20):
        first, again = (select_returning_tool(TOOLS, lambda _: True, lambda _: True, f"run {n}") for _ in range(2))
        assert first == again


def test_what_works_or_is_not_safe_is_not_tried_again() -> None:
    assert all(select_returning_tool(TOOLS, lambda _: False, lambda _: True, f"{n}") is None for n in range(50))
    assert all(select_returning_tool(TOOLS, lambda _: True, lambda _: False, f"{n}") is None for n in range(50))


def test_a_rival_is_to_be_tried_and_about_as_relevant() -> None:
    own = candidate(TOOLS[0], 0.8)
    near, far = 0.8 * RIVAL_SHARE + 0.01, 0.8 * RIVAL_SHARE - 0.01
    assert has_rival([own, candidate(TOOLS[1], near, back=True)], TOOLS[0])
    assert not has_rival([own, candidate(TOOLS[1], near)], TOOLS[0])
    assert not has_rival([own, candidate(TOOLS[1], far, back=True)], TOOLS[0])
    assert not has_rival([candidate(TOOLS[0], 0.8, back=True)], TOOLS[0])
