"""The move where paths went through few tools: a tool set first, then the tools in it."""

from dataclasses import replace
from datetime import UTC, datetime

from agent.offer.candidates import ToolCandidate, ToolsetPrior
from agent.policy.protocol import MoveQuestion
from domain.memory import Memory, RecalledMemory
from domain.tool import ToolDoc, ToolId, make_tool_id
from offline.toolset_prior import choose_by_toolset
from tests.support.small_world import REMOVE


def doc(toolset: str, api: str, method: str = "GET") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("c", toolset, api), category="c", toolset=toolset, api=api, function=api, method=method
    )


CLIPS, DETAILS, LINKS, TUBE = doc("kick", "clips"), doc("kick", "details"), doc("kick", "links"), doc("tube", "clips")
WHOLE = {
    CLIPS.id: ToolsetPrior(0.9, 1.0, 1.0, 1.0),
    DETAILS.id: ToolsetPrior(0.8, 1.0, 1.0, 1.0, behind=0.1),
    LINKS.id: ToolsetPrior(0.3, 1.0, 1.0, 0.0, behind=0.6),
    TUBE.id: ToolsetPrior(0.88, 0.5, 0.0, 1.0, behind=0.02),
}


def nothing(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
    del tool, path
    return frozenset()


def situation(*path: ToolDoc, kin: dict[ToolId, ToolsetPrior] | None = None) -> MoveQuestion:
    tools = [tool for tool in (TUBE, CLIPS, DETAILS, LINKS) if tool not in path]
    return MoveQuestion(
        request="The clips and details of a channel", clauses=("q",), path=path, path_relevance=((0.5,),) * len(path),
        best_relevance=(0.8,), candidates=tuple(ToolCandidate(t, 0.0, None, (0.5,), "retriever") for t in tools),
        finish_weight=0.0, toolset_priors=WHOLE if kin is None else kin, recalled=(served_with(2),),
    )  # fmt: skip


def served_with(tools: int) -> RecalledMemory:
    """A memory of a request that so many tools served."""
    path = tuple(make_tool_id("other", "set", f"t{number}") for number in range(tools))
    memory = Memory(id=f"m{tools}", owner="", request="r", pattern="r", path=path, at=datetime(2026, 1, 1, tzinfo=UTC))
    return RecalledMemory(memory=memory, similarity=0.5)


def taken(asked: MoveQuestion) -> str:
    move = choose_by_toolset(asked, nothing)
    assert move is not None
    return asked.candidates[move.index].tool.api if move.index is not None else move.action


def test_without_kinship_it_has_no_say() -> None:
    assert choose_by_toolset(situation(kin={}), nothing) is None


def test_the_likeliest_goes_first_then_what_goes_with_it_and_no_third_that_is_less_likely_than_not() -> None:
    first = choose_by_toolset(situation(), nothing)
    assert first is not None
    assert first.index == 1
    assert "covers 100%" in first.reason
    assert taken(situation(CLIPS)) == "details"
    assert taken(situation(CLIPS, DETAILS)) == "finish"
    known = {**WHOLE, LINKS.id: replace(WHOLE[LINKS.id], walked=1.0, set_walked=1.0, remembered=0.8)}
    assert taken(situation(CLIPS, DETAILS, kin=known)) == "links"
    assert taken(situation(CLIPS, DETAILS, LINKS, kin=known)) == "finish"


def test_a_tool_that_past_paths_went_through_is_preferred_to_its_equal() -> None:
    equal = dict.fromkeys(WHOLE, ToolsetPrior(0.8, 0.5, 0.0, 0.0))
    for known in ("walked", "set_walked", "remembered"):
        assert taken(situation(kin={**equal, LINKS.id: replace(equal[LINKS.id], **{known: 0.5})})) == "links"


def test_where_past_paths_went_on_to_is_preferred_to_another_set() -> None:
    asked = situation(CLIPS)
    fair = replace(WHOLE[TUBE.id], found=0.75, behind=0.15)
    far = {**WHOLE, DETAILS.id: WHOLE[LINKS.id], TUBE.id: fair}
    assert taken(replace(asked, toolset_priors=far)) == "clips"  # of the other set
    walked = tuple(replace(one, weight=0.9, origin="graph") if one.tool == LINKS else one for one in asked.candidates)
    move = choose_by_toolset(replace(asked, toolset_priors=far, candidates=walked), nothing)
    assert move is not None
    assert move.index is not None
    assert walked[move.index].tool == LINKS
    assert "90% of past paths" in move.reason


def test_what_would_change_something_or_lacks_an_input_is_not_taken() -> None:
    asked = situation(CLIPS)
    barred = replace(asked, candidates=(replace(asked.candidates[1], tool=REMOVE),))
    assert taken(barred) == "finish"

    def lacks(tool: ToolDoc, path: tuple[ToolDoc, ...]) -> frozenset[str]:
        del path
        return frozenset({"id"}) if tool == CLIPS else frozenset()

    move = choose_by_toolset(situation(), lacks)
    assert move is not None
    assert situation().candidates[move.index or 0].tool == TUBE


def test_a_path_gets_as_long_as_those_of_similar_requests_and_one_step_long_where_none_is_known() -> None:
    unsure = {tool: replace(kin, found=0.5, behind=0.3) for tool, kin in WHOLE.items()}
    for lengths, second in (((), "finish"), ((1, 1, 3), "finish"), ((1, 2, 3), "details"), ((6, 6), "details")):
        asked = replace(situation(CLIPS, kin=unsure), recalled=tuple(served_with(length) for length in lengths))
        assert (taken(asked) == "finish") == (second == "finish"), lengths


def test_with_nothing_on_offer_it_ends_or_leaves_the_move_to_others() -> None:
    assert taken(replace(situation(CLIPS), candidates=())) == "finish"
    assert choose_by_toolset(replace(situation(), candidates=()), nothing) is None
