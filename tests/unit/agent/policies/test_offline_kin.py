"""The move where paths went through few tools: a tool set first, then the tools in it."""

from dataclasses import replace
from datetime import UTC, datetime

from agent.candidate import Candidate, Kin
from agent.policies.offline_kin import kindred
from agent.policy import Situation
from domain.memory import Memory, Recalled
from domain.tool import ToolDoc, ToolId, tool_id
from tests.flows.small_world import REMOVE


def doc(toolset: str, api: str, method: str = "GET") -> ToolDoc:
    return ToolDoc(id=tool_id("c", toolset, api), category="c", toolset=toolset, api=api, function=api, method=method)


CLIPS, DETAILS, LINKS, TUBE = doc("kick", "clips"), doc("kick", "details"), doc("kick", "links"), doc("tube", "clips")
WHOLE = {
    CLIPS.id: Kin(0.8, 1.0, 1.0, 1.0),
    DETAILS.id: Kin(0.6, 1.0, 1.0, 1.0),
    LINKS.id: Kin(0.3, 1.0, 1.0, 0.0),
    TUBE.id: Kin(0.82, 0.5, 0.0, 1.0),
}


def nothing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
    del tool, path
    return frozenset()


def situation(*path: ToolDoc, kin: dict[ToolId, Kin] | None = None) -> Situation:
    tools = [tool for tool in (TUBE, CLIPS, DETAILS, LINKS) if tool not in path]
    return Situation(
        request="The clips and details of a channel", clauses=("q",), path=path, path_relevance=((0.5,),) * len(path),
        best_relevance=(0.8,), candidates=tuple(Candidate(t, 0.0, None, (0.5,), "retriever") for t in tools),
        finish_weight=0.0, kin=WHOLE if kin is None else kin,
    )  # fmt: skip


def taken(asked: Situation) -> str:
    move = kindred(asked, nothing)
    assert move is not None
    return asked.candidates[move.index].tool.api if move.index is not None else move.action


def test_without_kinship_it_has_no_say() -> None:
    assert kindred(situation(kin={}), nothing) is None


def test_the_set_that_covers_most_goes_before_a_better_name_elsewhere() -> None:
    first = kindred(situation(), nothing)
    assert first is not None
    assert first.index == 1
    assert "covers 100%" in first.reason


def test_a_covering_set_is_stayed_in_and_the_path_ends_where_the_third_is_worse() -> None:
    assert taken(situation(CLIPS)) == "details"
    assert taken(situation(CLIPS, DETAILS)) == "finish"
    better = {**WHOLE, LINKS.id: Kin(0.7, 1.0, 1.0, 0.0)}
    assert taken(situation(CLIPS, DETAILS, kin=better)) == "links"


def test_a_set_that_covers_little_is_left_for_a_clearly_better_tool() -> None:
    little = {tool: replace(one, covers=0.5) for tool, one in WHOLE.items()}
    found = situation(CLIPS, kin=little)
    move = kindred(found, nothing)
    assert move is not None
    assert move.index is not None
    assert found.candidates[move.index].tool == TUBE


def test_what_cannot_be_called_or_would_change_something_is_not_taken() -> None:
    asked = situation(CLIPS)
    barred = replace(asked, candidates=(replace(asked.candidates[1], tool=REMOVE),))
    assert taken(barred) == "finish"
    assert kindred(asked, lambda tool, path: frozenset({tool.api, *(p.api for p in path)})) is not None
    assert kindred(situation(), lambda tool, path: frozenset({tool.api, *(p.api for p in path)})) is None


def test_a_memory_of_the_same_request_outweighs_the_retriever() -> None:
    memory = Memory(id="m", request="r", pattern="r", path=(LINKS.id,), at=datetime.now(UTC))
    asked = replace(situation(CLIPS), recalled=(Recalled(memory=memory, similarity=0.99),))
    assert taken(asked) == "links"
