from agent.step_numbers import ExecutedSteps, find_prior_steps, number_steps_consecutively, translate_step_references
from domain.plan import Binding, StepResult
from domain.tool import make_tool_id

TOOL = make_tool_id("c", "s", "a")
OK = StepResult(tool=TOOL, status="ok")
FAILED = StepResult(tool=TOOL, status="failed")

FIRST = ExecutedSteps(1, (), {1: OK, 2: OK})
SECOND = ExecutedSteps(2, (), {1: OK, 2: FAILED})
THIRD = ExecutedSteps(3, (1,), {3: OK})
FOURTH = ExecutedSteps(4, (2, 3), {5: OK})
ALL = {one.subtask: one for one in (FIRST, SECOND, THIRD, FOURTH)}


def test_a_subtask_is_given_what_succeeded_in_all_that_it_builds_on() -> None:
    assert find_prior_steps((), ALL) == []
    assert find_prior_steps((1,), ALL) == [(1, 1), (1, 2)]
    assert find_prior_steps((2, 3), ALL) == [(1, 1), (1, 2), (2, 1), (3, 3)]


def test_steps_are_counted_through_the_subtasks_in_order() -> None:
    numbers = number_steps_consecutively([FIRST, SECOND, THIRD, FOURTH])
    assert numbers[1] == {1: 1, 2: 2}
    assert numbers[2] == {1: 3, 2: 4}
    assert numbers[3] == {1: 1, 2: 2, 3: 5}
    assert numbers[4] == {1: 1, 2: 2, 3: 3, 4: 5, 5: 6}


def test_references_to_steps_follow_and_others_stay() -> None:
    bindings = (
        Binding(parameter="a", origin="step", reference="4.items[0].id"), Binding(parameter="b", origin="step", reference="9"),
        Binding(parameter="c", origin="request", reference="4.5 km"),
    )  # fmt: skip
    made = translate_step_references(OK.model_copy(update={"provenance": bindings}), {4: 5})
    assert [binding.reference for binding in made.provenance] == ["5.items[0].id", "9", "4.5 km"]
    assert translate_step_references(OK, {4: 5}) is OK
