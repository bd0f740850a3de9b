"""What a run has done, carried out once more: the same calls on the same answers, and the thing that is meant where it has moved."""

from pathlib import Path
from typing import Any

import pytest

from agent.plans.steps_from_run import build_steps
from domain.event import EventRecord
from domain.plan import PlanDocument, PlannedStep, Take
from tests.flows.test_given_plans import deps
from tests.flows.test_resuming import told
from tests.support.small_world import BOOKS, FORECAST, GEOCODE, NEW_WEATHER, REMOVE, Answer, ScriptedExecutor, ok

DOCS = {tool.id: tool for tool in (BOOKS, GEOCODE, NEW_WEATHER, REMOVE)}
SEARCH = PlannedStep(tool=BOOKS.id, arguments={"title": "e"})


def deletes(field: str) -> PlanDocument:
    return PlanDocument(steps=(SEARCH, PlannedStep(tool=REMOVE.id, takes={"title": Take(step=1, field=field)})))


def shelf(*titles: str) -> Answer:
    return ok({"books": [{"title": title} for title in titles]})


async def carried_out(
    folder: Path, request: str, plan: PlanDocument, *titles: str
) -> tuple[list[EventRecord], list[tuple[str, dict[str, Any]]]]:
    """The events, and the calls that were made."""
    executor = ScriptedExecutor(search_books=shelf(*titles), delete_book=ok({}))
    records = await told(request, await deps(folder, executor, plan))
    return records, [call for call in executor.made if call[0] == "delete_book"]


@pytest.mark.parametrize("request_", ['Delete the book "Dune"', "Delete a book"])
async def test_the_same_answers_make_the_same_calls(tmp_path: Path, request_: str) -> None:
    first, made = await carried_out(tmp_path / "1", request_, deletes("books[1].title"), "Emma", "Dune")
    assert made == [("delete_book", {"title": "Dune"})]
    again = build_steps(first, DOCS)[0]
    assert (await carried_out(tmp_path / "2", request_, again, "Emma", "Dune"))[1] == made


async def test_a_thing_that_has_moved_is_found_and_another_is_not_taken_for_it(tmp_path: Path) -> None:
    records, _ = await carried_out(tmp_path / "1", 'Delete the book "Dune"', deletes("books[1].title"), "Emma", "Dune")
    again = build_steps(records, DOCS)[0]
    assert again == deletes("books[].title")
    moved = await carried_out(tmp_path / "2", 'Delete the book "Dune"', again, "Dune", "Emma", "Ulysses")
    assert moved[1] == [("delete_book", {"title": "Dune"})]
    other = await carried_out(tmp_path / "3", 'Delete the book "Ulysses"', again, "Dune", "Emma", "Ulysses")
    assert other[1] == [("delete_book", {"title": "Ulysses"})]
    gone = await carried_out(tmp_path / "4", 'Delete the book "Persuasion"', again, "Dune", "Emma")
    assert gone[1] == []


async def test_of_what_was_read_the_place_that_is_asked_for_is_taken(tmp_path: Path) -> None:
    """As a template has it: the same steps, asked of another place."""
    towns = {"Lyon": (45.7, 4.8), "Nice": (43.7, 7.2)}
    found = ok({"results": [{"city": name, "latitude": at[0], "longitude": at[1]} for name, at in towns.items()]})
    takes = {name: Take(step=1, field=f"results[0].{name}") for name in ("latitude", "longitude")}
    search = PlannedStep(tool=GEOCODE.id, arguments={"city": "France"})
    plan = PlanDocument(steps=(search, PlannedStep(tool=NEW_WEATHER.id, takes=takes)))
    for city in ("Lyon", "Nice"):
        executor = ScriptedExecutor(search_places=found, get_daily_forecast=FORECAST)
        records = await told(f"The weather in {city}", await deps(tmp_path / city, executor, plan))
        assert executor.made[1] == ("get_daily_forecast", dict(zip(takes, towns[city], strict=True)))
        plan = build_steps(records, DOCS)[0]
