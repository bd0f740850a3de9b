"""A plan's own parameters: filled in, left to their defaults, refused."""

import pytest

from agent.plans.plan_inputs import fill_parameters, find_undeclared_names, find_value_faults
from domain.errors import InvalidArgumentsError
from domain.plan import PlanDocument, PlannedStep, Take
from domain.tool import ToolId

STEP = PlannedStep(
    tool=ToolId("a/b/c"), arguments={"unit": "km"}, takes={"at": Take(step=1, field="x")}, named={"city": "where", "days": "n"}
)  # fmt: skip
PLAN = PlanDocument(
    steps=(STEP,),
    parameters={"where": {"type": "string", "minLength": 2}, "n": {"type": "integer", "maximum": 7, "default": 3}},
)


def test_values_take_the_places_that_steps_name() -> None:
    made = fill_parameters(PLAN, {"where": "Paris", "n": "5"})
    assert made.parameters == {}
    assert made.steps[0].arguments == {"unit": "km", "city": "Paris", "days": 5}
    assert (made.steps[0].named, made.steps[0].takes) == ({}, STEP.takes)
    assert PLAN.steps[0].named, "the plan itself stays"


def test_a_parameter_with_a_default_may_be_left_out() -> None:
    assert fill_parameters(PLAN, {"where": "Paris"}).steps[0].arguments["days"] == 3


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({}, ["where"]),
        ({"where": "P", "n": 9}, ["where must be at least 2", "n must be at most 7"]),
        ({"where": "Paris", "why": 1}, ["why"]),
        ({"where": ["Paris"]}, ["where must be of type string"]),
    ],
)
def test_all_that_is_wrong_is_told(given: dict[str, object], words: list[str]) -> None:
    found = [said for _, said in find_value_faults(PLAN, given)]  # pyright: ignore[reportArgumentType]
    assert len(found) == len(words)
    assert all(any(word in said for said in found) for word in words), found
    with pytest.raises(InvalidArgumentsError) as caught:
        fill_parameters(PLAN, given)  # pyright: ignore[reportArgumentType]
    assert all(said in str(caught.value) for said in found)


def test_a_name_that_is_no_parameter_is_told() -> None:
    plan = PlanDocument(steps=(STEP,))
    assert find_undeclared_names(plan) == ["where", "n"]
    assert len(find_value_faults(plan, {})) == 2
    with pytest.raises(InvalidArgumentsError):
        fill_parameters(plan, {})
