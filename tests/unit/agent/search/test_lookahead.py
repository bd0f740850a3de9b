"""What a decision named beyond its next step is taken only where it is safe."""

from dataclasses import replace

import pytest

from agent.offer.candidates import ToolCandidate
from agent.policy.protocol import NextMove
from agent.search.dfs import Lookahead
from domain.event import Feed
from domain.tool import ToolDoc, make_tool_id


def candidate(name: str, weight: float = 0.2) -> ToolCandidate:
    tool = ToolDoc(id=make_tool_id("c", "s", name), category="c", toolset="s", api=name, function=name)
    return ToolCandidate(tool, weight, None, (0.5,), "graph")


A, B = candidate("a"), candidate("b", 0.3)


def foreseen(*then: ToolCandidate, last: bool = False) -> Lookahead:
    foresight = Lookahead()
    foresight.replace_steps(
        NextMove("advance", "why", 0, next_tools=tuple(c.tool.id for c in then), completes_path=last)
    )
    return foresight


def test_steps_are_taken_in_order_and_then_the_path_ends() -> None:
    foresight = foreseen(A, B, last=True)
    assert foresight.take_move((A, B)) == NextMove("advance", "why", 0)
    assert foresight.take_move((B,)) == NextMove("advance", "why", 0)
    assert foresight.take_move((A,)) == NextMove("finish", "why")
    assert foresight.take_move((A,)) is None


def test_without_a_word_of_the_end_it_is_asked_for() -> None:
    foresight = foreseen(A)
    assert foresight.take_move((A,)) is not None
    assert foresight.take_move((B,)) is None


@pytest.mark.parametrize(
    "here",
    [
        (B,),
        (replace(A, missing=("city",)), B),
        (A, replace(B, weight=0.8)),
    ],
    ids=["not on offer", "an input is missing", "past paths go elsewhere"],
)
def test_what_is_not_safe_is_asked_for_and_the_rest_is_forgotten(here: tuple[ToolCandidate, ...]) -> None:
    foresight = foreseen(A, B, last=True)
    assert foresight.take_move(here) is None
    assert foresight.take_move((A, B)) is None


def test_a_tool_that_the_path_feeds_is_safe_whatever_past_paths_did() -> None:
    fed = replace(A, feeds=(Feed(parameter="id", step=1, field="id", score=0.9),))
    assert foreseen(A).take_move((fed, replace(B, weight=0.8))) == NextMove("advance", "why", 0)


def test_any_other_move_forgets_what_was_foreseen() -> None:
    foresight = foreseen(A, last=True)
    foresight.replace_steps(NextMove("backtrack", "a mistake"))
    assert foresight.take_move((A,)) is None
