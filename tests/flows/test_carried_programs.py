"""Plans that are programs, carried out: loops, inputs, values that are left open, what they say, and resumed after each event."""

from collections import Counter
from pathlib import Path

import pytest

from agent.programs.function_names import RESERVED_NAMES
from domain.event import CallStarted, EventRecord, ProgramEnded, ProgramFailed, ProgramStarted
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from tests.flows.test_given_plans import REQUEST, TWO_BOOKS, Unasked, deps, results, weather
from tests.flows.test_resuming import course, ended, told
from tests.flows.test_resuming import made as calls_told
from tests.support.small_world import FORECAST, REMOVE, TOOLS, ScriptedExecutor, ok

LOOP = """
found = await search_books(title=about)
for book in found["books"]:
    await delete_book(title=book["title"])
"""


def plan(text: str, inputs: dict[str, JsonObject] | None = None, **values: object) -> ProgramPlan:
    functions = {tool.api: tool for tool in TOOLS}
    assert not RESERVED_NAMES & {*functions}
    program = Program(
        text=text.strip("\n"),
        tools={name: tool.id for name, tool in functions.items()},
        arguments={name: {one.name: one.name for one in tool.parameters} for name, tool in functions.items()},
    )
    return ProgramPlan(program=program, inputs=inputs or {}, values=values)  # pyright: ignore[reportArgumentType]


TITLE: dict[str, JsonObject] = {"about": {"type": "string"}}


def shelf() -> ScriptedExecutor:
    return ScriptedExecutor(search_books=TWO_BOOKS, delete_book=ok({}))


def failed(records: list[EventRecord]) -> ProgramFailed:
    return next(record.event for record in records if isinstance(record.event, ProgramFailed))


async def test_a_plan_with_a_loop_makes_its_calls_and_is_told_by_them(tmp_path: Path) -> None:
    executor = shelf()
    records = await told("Tidy up", await deps(tmp_path, executor, plan(LOOP, TITLE, about="e"), policy=Unasked()))
    assert [arguments["title"] for _, arguments in executor.made] == ["e", "Emma", "Dune"]
    (end,) = [record.event for record in records if isinstance(record.event, ProgramEnded)]
    assert (end.spoken, end.verdict, ended(records).outcome) == (False, "yes", "answered")
    origins = [[(one.origin, one.reference) for one in result.provenance] for result in results(records)]
    assert origins == [[("user", "the plan")], [("step", "1.books[0].title")], [("step", "1.books[1].title")]]
    (started,) = [record.event for record in records if isinstance(record.event, ProgramStarted)]
    assert started.values == {"about": "e"}


async def test_a_plan_with_a_loop_goes_on_after_each_of_its_events(tmp_path: Path) -> None:
    given = plan(LOOP, TITLE, about="e")
    whole = await told("Tidy up", await deps(tmp_path, shelf(), given))
    for cut in range(1, len(whole)):
        before = await told("Tidy up", await deps(tmp_path, shelf(), given), until=cut)
        finished, again = Counter(calls_told(before)), shelf()
        records = await told("Tidy up", await deps(tmp_path, again, given), past=before)
        assert not {(tool, str(arguments)) for tool, arguments in again.made} & set(finished), cut
        begun = [r.event.arguments for r in before if isinstance(r.event, CallStarted) and r.event.tool == REMOVE.id]
        unknown = len(begun) > sum(result.tool == REMOVE.id for result in results(before))
        assert unknown or course(records) == course(whole), cut


async def test_an_input_without_a_value_is_named_before_any_call(tmp_path: Path) -> None:
    executor = shelf()
    records = await told("Tidy up", await deps(tmp_path, executor, plan(LOOP, TITLE)))
    assert (ended(records).outcome, executor.made) == ("failed", [])
    assert "no value for `about`" in ended(records).error
    optional: dict[str, JsonObject] = {"about": {"type": "string", "default": "e"}}
    records = await told("Tidy up", await deps(tmp_path, executor, plan(LOOP, optional)))
    assert (ended(records).outcome, len(executor.made)) == ("answered", 3)
    records = await told("Tidy up", await deps(tmp_path, shelf(), plan(LOOP, TITLE, about=["e"])))
    assert "about must be of type string" in ended(records).error


async def test_what_a_plan_says_is_its_answer(tmp_path: Path) -> None:
    says = "found = await search_places(city=fill())\nplace = found['results'][0]\nf\"{place['population']} people\""
    records = await told(REQUEST, await deps(tmp_path, weather(), plan(says)))
    assert "2100000 people" in ended(records).answer
    assert ended(records).outcome == "answered"


async def test_what_is_left_open_and_not_found_is_named(tmp_path: Path) -> None:
    executor = shelf()
    records = await told(
        "Tidy up", await deps(tmp_path, executor, plan("await get_forecast(latitude=fill(), longitude=2)"))
    )
    assert executor.made == []
    assert results(records)[0].status == "missing"
    assert "`latitude` of get_forecast" in failed(records).error
    assert (failed(records).final, ended(records).outcome) == (True, "gave_up")
    again = await told(
        "Tidy up",
        await deps(tmp_path, executor, plan("await get_forecast(latitude=fill(), longitude=2)")),
        past=records[:-2],
    )
    assert course(again) == course(records)


async def test_what_is_open_is_the_same_when_it_is_gone_on_with(tmp_path: Path) -> None:
    text = "found = await search_places(city=fill())\nawait get_forecast(latitude=fill(), longitude=2)"
    executor = weather(get_forecast=FORECAST)
    whole = await told(REQUEST, await deps(tmp_path, executor, plan(text)))
    assert executor.made == [
        ("search_places", {"city": "Paris"}),
        ("get_forecast", {"latitude": 48.85, "longitude": 2}),
    ]
    origins = [{one.parameter: (one.origin, one.reference) for one in result.provenance} for result in results(whole)]
    assert origins[1] == {"longitude": ("user", "the plan"), "latitude": ("step", "1.results[0].latitude")}
    for cut in range(1, len(whole)):
        before = await told(REQUEST, await deps(tmp_path, weather(get_forecast=FORECAST), plan(text)), until=cut)
        began = any(isinstance(record.event, CallStarted) and record.event.step == 2 for record in before)
        other = await deps(tmp_path, weather(get_forecast=FORECAST), plan(text))
        records = await told(REQUEST, other.with_policy(Unasked()) if began else other, past=before)
        assert course(records) == course(whole), cut


@pytest.mark.parametrize(("request_", "deleted"), [('Delete "Dune"', ["Dune"]), ("Delete a book", [])])
async def test_only_an_item_that_is_really_named_is_changed(tmp_path: Path, request_: str, deleted: list[str]) -> None:
    executor = shelf()
    text = 'found = await search_books(title="e")\nbook = named(found["books"])\nawait delete_book(title=book["title"])'
    records = await told(request_, await deps(tmp_path, executor, plan(text)))
    assert [arguments["title"] for tool, arguments in executor.made if tool == "delete_book"] == deleted
    if not deleted:
        assert (failed(records).line, "`delete_book`" in failed(records).error) == (2, True)


async def test_values_that_are_open_stand_alone(tmp_path: Path) -> None:
    for text in ('await search_books(title=f"{fill()}!")', "await search_books(title=[fill()])"):
        executor = shelf()
        records = await told("Find Dune", await deps(tmp_path, executor, plan(text)))
        assert ended(records).outcome in ("gave_up", "answered")
        assert all("fill" not in str(arguments) for _, arguments in executor.made)
