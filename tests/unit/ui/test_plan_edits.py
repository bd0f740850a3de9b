"""Plans that are edited: what a step takes from which other stays so, wherever they go."""

from hypothesis import given
from hypothesis import strategies as st

from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import ToolId, make_tool_id
from ui.plan_edits import added, filled, moved, removed

A, B, C, D = (make_tool_id("c", "s", name) for name in "abcd")


def plan() -> PlanDocument:
    """A, then B that takes from A, then C that takes from B and from A; after one step of an earlier subtask, from which A takes."""
    return PlanDocument(
        steps=(
            PlannedStep(tool=A, takes={"x": Take(step=1, field="given")}),
            PlannedStep(tool=B, arguments={"n": 1}, takes={"x": Take(step=2, field="a")}),
            PlannedStep(tool=C, takes={"x": Take(step=3, field="b"), "y": Take(step=2, field="a")}),
        )
    )


def sources(document: PlanDocument) -> dict[ToolId, dict[str, tuple[ToolId | str, str]]]:
    """What each tool takes from which, by their names."""
    names: list[ToolId | str] = ["given", *(step.tool for step in document.steps)]
    return {
        step.tool: {name: (names[take.step - 1], take.field) for name, take in step.takes.items()}
        for step in document.steps
    }


def test_a_step_that_is_moved_keeps_what_it_takes() -> None:
    turned = moved(plan(), 1, 1, given=1)
    assert [step.tool for step in turned.steps] == [B, A, C]
    assert sources(turned) == sources(plan())
    assert moved(turned, 1, 1, given=1) == plan()


def test_no_step_is_moved_off_the_plan() -> None:
    assert moved(plan(), 1, -1, given=1) == plan()
    assert moved(plan(), 3, 1, given=1) == plan()


def test_what_was_taken_from_a_removed_step_is_left_open() -> None:
    rest = removed(plan(), 1, given=1)
    assert sources(rest) == {B: {}, C: {"x": (B, "b")}}


def test_a_step_comes_between_others_and_takes_from_those_before() -> None:
    more = added(plan(), D, 1, {"z": Take(step=2, field="a")}, given=1)
    assert [step.tool for step in more.steps] == [A, D, B, C]
    assert sources(more) == sources(plan()) | {D: {"z": (A, "a")}}


def test_a_parameter_has_one_source() -> None:
    taken = filled(plan(), 2, "n", Take(step=2, field="m"))
    assert (taken.steps[1].arguments, taken.steps[1].takes["n"]) == ({}, Take(step=2, field="m"))
    assert filled(taken, 2, "n", 5).steps[1] == PlannedStep(
        tool=B, arguments={"n": 5}, takes={"x": Take(step=2, field="a")}
    )
    left_open = filled(plan(), 2, "n", None).steps[1]
    assert left_open.arguments == {}


@given(st.lists(st.tuples(st.integers(1, 3), st.sampled_from([-1, 1])), max_size=12))
def test_however_steps_are_moved_they_take_the_same(moves: list[tuple[int, int]]) -> None:
    document = plan()
    for step, by in moves:
        document = moved(document, step, by, given=1)
    assert sources(document) == sources(plan())
