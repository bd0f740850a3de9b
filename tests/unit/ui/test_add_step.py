"""Where a further step is offered to go."""

from domain.plan import PlanDocument, PlannedStep
from domain.tool import ToolId
from ui.plans import OpenPlan, PlanProblem
from ui.screens.add_step import place_to_add


def plan(*wrong: int | None) -> OpenPlan:
    """Three steps, and what is wrong with which of them."""
    steps = tuple(PlannedStep(tool=ToolId(name)) for name in "abc")
    problems = [PlanProblem(step=step, message="lacks something") for step in wrong]
    return OpenPlan(version=1, input="plan-1", document=PlanDocument(steps=steps), problems=problems)


def test_where_nothing_is_wrong_it_goes_to_the_end() -> None:
    assert place_to_add(plan()) == 3
    assert place_to_add(plan(None)) == 3


def test_what_is_wrong_may_need_a_step_before_it() -> None:
    assert place_to_add(plan(3, 2)) == 1
    assert place_to_add(plan(1)) == 0
