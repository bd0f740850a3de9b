"""Items of lists in what a run has done: left to be found again where the request leads to them, else as they were."""

import json
from typing import Any

import pytest

from agent.plans.json_paths import get_value_at
from agent.plans.steps_from_run import generalize_list_items
from domain.plan import PlanDocument, PlannedStep, StepResult, Take
from domain.tool import ToolDoc
from tests.support.small_world import BOOKS, GEOCODE, NEW_WEATHER, REMOVE

DOCS = {tool.id: tool for tool in (GEOCODE, NEW_WEATHER, BOOKS, REMOVE)}
TOWNS = {
    "results": [{"city": "Lyon", "latitude": 45.7, "longitude": 4.8}, {"city": "Nice", "latitude": 43.7, "longitude": 7.2}]
}  # fmt: skip
SHELF = {"books": [{"title": "Emma", "price": 12}, {"title": "Dune", "price": 7}]}


def result(tool: ToolDoc, arguments: dict[str, Any], response: Any = None) -> StepResult:
    return StepResult(tool=tool.id, arguments=arguments, status="ok", response=json.dumps(response or {}))


def fields(request: str, *steps: tuple[ToolDoc, dict[str, str]], first: ToolDoc, answer: Any) -> list[dict[str, str]]:
    """The fields that these steps take of the first one's answer, when the document is drawn; given are those that they took."""
    made, results = [PlannedStep(tool=first.id)], [result(first, {}, answer)]
    for tool, taken in steps:
        made.append(PlannedStep(tool=tool.id, takes={name: Take(step=1, field=field) for name, field in taken.items()}))
        results.append(result(tool, {name: get_value_at(json.dumps(answer), field) for name, field in taken.items()}))
    document = generalize_list_items(PlanDocument(steps=tuple(made)), results, DOCS, request)
    return [{name: take.field for name, take in step.takes.items()} for step in document.steps[1:]]


def point(at: int) -> dict[str, str]:
    return {name: f"results[{at}].{name}" for name in ("latitude", "longitude")}


@pytest.mark.parametrize(
    ("request_", "at", "left"),
    [("The weather in Nice", 1, True), ("The weather there", 0, True), ("The weather there", 1, False)],
)
def test_an_item_is_left_where_the_request_leads_to_it(request_: str, at: int, left: bool) -> None:
    (taken,) = fields(request_, (NEW_WEATHER, point(at)), first=GEOCODE, answer=TOWNS)
    assert taken == ({name: f"results[].{name}" for name in point(at)} if left else point(at))


def test_a_list_at_the_top_is_one_too() -> None:
    (taken,) = fields("Find Dune", (BOOKS, {"title": "[1].title"}), first=BOOKS, answer=SHELF["books"])
    assert taken == {"title": "[].title"}


def test_several_items_of_a_list_stay_where_they_are() -> None:
    mixed = {"latitude": "results[0].latitude", "longitude": "results[1].longitude"}
    assert fields("The weather there", (NEW_WEATHER, mixed), first=GEOCODE, answer=TOWNS) == [mixed]
    both = [point(0), point(1)]
    steps = [(NEW_WEATHER, one) for one in both]
    assert fields("The weather in Lyon and Nice", *steps, first=GEOCODE, answer=TOWNS) == both


def test_what_is_taken_of_one_list_stays_together() -> None:
    """Of the second item the request names nothing, so neither of its fields is left."""
    taken = {"latitude": "results[1].latitude", "longitude": "results[1]"}
    assert fields("The weather there", (NEW_WEATHER, taken), first=GEOCODE, answer=TOWNS) == [taken]


def test_a_change_is_left_only_where_the_request_names_its_item() -> None:
    first, dune = {"title": "books[0].title"}, {"title": "books[1].title"}
    assert fields("Delete a book", (REMOVE, first), first=BOOKS, answer=SHELF) == [first]
    assert fields('Delete the book "Dune"', (REMOVE, dune), first=BOOKS, answer=SHELF) == [{"title": "books[].title"}]


def test_without_the_tools_nothing_is_changed() -> None:
    steps = (PlannedStep(tool=BOOKS.id), PlannedStep(tool=REMOVE.id, takes={"title": Take(step=1, field="[0].title")}))
    results = (result(BOOKS, {}, SHELF["books"]), result(REMOVE, {"title": "Emma"}))
    document = PlanDocument(steps=steps)
    assert generalize_list_items(document, results, {}, "Delete Emma") == document
    assert generalize_list_items(document, results, DOCS, "Delete Emma") != document
