"""Values of a run that may be others next time, and how a run came about."""

import pytest

from domain.plan import PlanDocument, PlannedStep
from domain.tool import ToolId
from ui.replies import Run
from ui.reruns import Done
from ui.values import typed

OFFERED = {"name": "year", "step": 1, "parameter": "year", "value": 2026, "schema": {"type": "integer"}}


def done(**arguments: str | int | bool) -> Done:
    """One step with these arguments; ``year`` came from the request."""
    document = PlanDocument(steps=(PlannedStep(tool=ToolId("a"), arguments=dict(arguments)),))
    return Done.model_validate(
        {"program": {"program": {"text": "", "tools": {}}}, "document": document.model_dump(), "parameters": [OFFERED]}
    )


def test_a_value_of_the_request_has_the_schema_of_its_tool() -> None:
    assert done(year=2026).schema_of(1, "year") == {"type": "integer"}


@pytest.mark.parametrize("value", ["12", 12, True])
def test_any_other_value_stays_of_its_kind(value: str | int | bool) -> None:
    schema = done(other=value).schema_of(1, "other")
    text = value if isinstance(value, str) else str(value).lower()
    assert typed(text, schema) == value


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ({}, "planner: Search through the tool graph"),
        ({"rerun_of": "r"}, "run again; planner: Search through the tool graph"),
        ({"template_id": "t", "template_version": 2}, "from a template, version 2"),
    ],
)
def test_how_a_run_came_about_is_told(how: dict[str, str | int], told: str) -> None:
    assert Run.model_validate({"id": "1", "request": "?", "planner": "dfs", **how}).made_as() == told


def test_a_run_without_a_program_was_not_planned_as_one() -> None:
    run = Run.model_validate({"id": "1", "request": "?", "planner": "program"})
    assert run.made_as() == "planner: Program written for the request"
    assert "Program written for the request" not in run.made_as(by_program=False)


def test_values_of_one_name_are_one_choice() -> None:
    made = done(year=2026)
    other = made.parameters[0].model_copy(update={"step": 2})
    third = made.parameters[0].model_copy(update={"step": 3, "name": "year_3"})
    made = made.model_copy(update={"parameters": [made.parameters[0], other, third]})
    assert [(one.name, one.step) for one in made.choices] == [("year", 1), ("year_3", 3)]
