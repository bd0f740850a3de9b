"""The planner ``solution``: one of the library's solutions is chosen and a program written after it, or over the offer where none fits; three tries, and no walk."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from pydantic.types import JsonValue

from agent.conversation import build_earlier_run
from agent.plans.plan_approval import PlanQuestion
from domain.event import (
    CandidatesConsidered,
    NoSolution,
    PathEnded,
    ProgramEnded,
    ProgramFailed,
    ProgramRefused,
    ProgramStarted,
    SolutionTaken,
)
from domain.program import ProgramPlan
from tests.models.brain import Line
from tests.models.openai_replies import Refuses
from tests.support.program_world import OffersAs, World, code, end, the, world
from tests.support.run_deps import change_deps
from tests.support.small_world import BOOKS, FORECAST, FOUND, GEOCODE, NEW_WEATHER, REMOVE, ScriptedExecutor, down, ok
from tests.support.solution_shelf import Shelf, solution

WEATHER = "What is the weather forecast for Paris?"
TEXT = """place = (await search_places(city=city))["results"][0]
days = (await get_daily_forecast(latitude=place["latitude"], longitude=place["longitude"]))["days"]
{"answered": "yes", "answer": f"{days[0]['temperature']} degrees"}"""
FORECASTS = solution(
    "forecasts",
    (GEOCODE, NEW_WEATHER),
    TEXT,
    "What will the weather be like in {city}?",
    inputs={"city": {"type": "string"}},
)
AUTHORS = solution(
    "authors",
    (BOOKS,),
    'books = (await search_books(title=title))["books"]\nbooks[0]["author"]',
    "Who wrote {title}?",
    inputs={"title": {"type": "string"}},
)
SHELF = [(AUTHORS, 0.4), (FORECASTS, 0.6)]
PLACE = 'place = (await search_places(city="Paris"))["results"][0]'
DAYS = 'days = (await get_daily_forecast(latitude=place["latitude"], longitude=place["longitude"]))["days"]'
SAID = '{"answered": "yes", "answer": f"{days[0][\'temperature\']} degrees on {days[0][\'date\']}"}'
RIGHT = code(PLACE, DAYS, SAID)
WRONG = code(PLACE, DAYS, "[one for one in days if one['temperature'] > 100][0]")
THE_FORECASTS: dict[str, JsonValue] = {"reason": "it finds a forecast", "number": 2, "path": []}
NONE_FITS: dict[str, JsonValue] = {
    "reason": "none asks for a forecast",
    "number": None,
    "path": ["search_places", "get_daily_forecast"],
}


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(search_places=FOUND, get_daily_forecast=FORECAST, get_forecast=down, search_books=ok({}))


@asynccontextmanager
async def choosing(
    folder: Path, executor: ScriptedExecutor, *texts: Line, choice: Line = THE_FORECASTS, shelf: Shelf | None = None
) -> AsyncGenerator[tuple[World, Shelf]]:
    held = shelf if shelf is not None else Shelf(list(SHELF))
    async with world(folder, executor, *texts, planner="solution", choose_solution=[choice]) as made:
        made.deps = change_deps(made.deps, solutions=held)
        yield made, held


async def test_a_solution_is_chosen_and_a_program_is_written_after_it(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), RIGHT) as (made, _):
        records = await made.told(WEATHER)
    (taken,) = the(records, SolutionTaken)
    assert isinstance(taken, SolutionTaken)
    assert (taken.solution, taken.how, taken.reason) == ("forecasts", "chosen", "it finds a forecast")
    assert (end(records).outcome, end(records).usage.model_calls) == ("answered", 2)
    assert made.brain.asked == ["choose_solution", "program"]
    asked, written = (str(one.messages[-1]["content"]) for one in made.server.requests)
    assert "2. search_places -> get_daily_forecast: What will the weather be like in {city}?" in asked
    assert "search_places(city=city)" in written
    assert '# city: {"type": "string"}' in written
    assert "search_books" not in written  # the signatures of its functions only


async def test_where_none_fits_a_program_is_written_over_the_offer_with_the_path_that_was_named(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), RIGHT, choice=NONE_FITS) as (made, _):
        records = await made.told(WEATHER)
    (none,) = the(records, NoSolution)
    assert isinstance(none, NoSolution)
    assert (none.shown, none.path) == (2, ("search_places", "get_daily_forecast"))
    assert end(records).outcome == "answered"
    written = str(made.server.requests[-1].messages[-1]["content"])
    assert "search_places -> get_daily_forecast" in written
    assert "search_books" in written
    assert "[[known" not in written


async def test_after_three_tries_it_says_that_it_could_not_and_why(tmp_path: Path) -> None:
    texts = (code("await search_weather()"), WRONG, WRONG)
    async with choosing(tmp_path, executor := calls(), *texts) as (made, _):
        records = await made.told(WEATHER)
    assert made.written == 3
    assert (len(the(records, ProgramRefused)), len(the(records, ProgramFailed))) == (1, 2)
    (ended,) = the(records, PathEnded)
    assert isinstance(ended, PathEnded)
    assert (ended.how, "IndexError" in ended.reason) == ("gave_up", True)
    assert (end(records).outcome, "IndexError" in end(records).answer) == ("gave_up", True)
    assert len(the(records, CandidatesConsidered)) == 1  # no walk
    assert made.brain.asked == ["choose_solution", "program", "program", "program"]
    assert len(executor.made) == 2


async def test_the_third_text_may_still_serve(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), code("await search_weather()"), WRONG, RIGHT) as (made, _):
        records = await made.told(WEATHER)
    assert (end(records).outcome, made.written) == ("answered", 3)


async def test_three_texts_that_are_refused_are_three_tries(tmp_path: Path) -> None:
    async with choosing(tmp_path, executor := calls(), code("await search_weather()")) as (made, _):
        records = await made.told(WEATHER)
    assert (made.written, executor.made) == (3, [])
    assert end(records).outcome == "gave_up"
    assert "search_weather" in end(records).answer


@pytest.mark.parametrize("shelf", [Shelf(), Shelf(list(SHELF), away=True)], ids=["empty", "down"])
async def test_without_a_library_it_goes_on_as_program_does_and_says_so(shelf: Shelf, tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), RIGHT, shelf=shelf) as (made, _):
        records = await made.told(WEATHER)
    (none,) = the(records, NoSolution)
    assert isinstance(none, NoSolution)
    assert none.shown == 0
    assert ("holiday" if shelf.away else "no solution") in none.reason
    assert made.brain.asked == ["program"]
    assert end(records).outcome == "answered"


async def test_what_it_lacks_by_its_own_words_is_offered_once(tmp_path: Path) -> None:
    lacking = code(
        PLACE, '{"answered": "partly", "answer": "It lies far in the north.", "missing": "a daily weather forecast"}'
    )
    rest = code(DAYS, SAID)
    offers = OffersAs([[GEOCODE], [NEW_WEATHER]])
    places = solution(
        "places", (GEOCODE,), TEXT.partition("\n")[0], "Where is {city}?", inputs={"city": {"type": "string"}}
    )
    one: dict[str, JsonValue] = {"reason": "it finds the place", "number": 1, "path": []}
    async with choosing(tmp_path, calls(), lacking, rest, choice=one, shelf=Shelf([(places, 0.6)])) as (made, _):
        made.deps = change_deps(made.deps, offers=offers)
        records = await made.told(WEATHER)
    assert offers.asked == [WEATHER, "a daily weather forecast"]
    assert end(records).outcome == "answered"


async def test_a_run_that_was_broken_off_chooses_and_writes_nothing_twice(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), WRONG, RIGHT) as (made, held):
        whole = await made.told(WEATHER)
    for at in range(2, len(whole) - 1):
        async with choosing(tmp_path / str(at), executor := calls(), RIGHT, shelf=held) as (made, _):
            records = await made.told(WEATHER, past=whole[:at])
        assert end(records).outcome == "answered", at
        known = [one.event.kind for one in whole[:at]]
        assert ("choose_solution" in made.brain.asked) == ("solution.taken" not in known)
        assert made.written <= 2 - known.count("program.started")
        assert [one.event.kind for one in (*whole[:at], *records)].count("solution.taken") == 1
        assert len(executor.made) <= 2


async def test_a_solution_that_is_gone_when_a_run_goes_on_is_told_no_more(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), WRONG, RIGHT) as (made, held):
        whole = await made.told(WEATHER)
    at = next(number for number, one in enumerate(whole, start=1) if isinstance(one.event, SolutionTaken))
    await held.forget(["forecasts"])
    async with choosing(tmp_path / "again", calls(), RIGHT, shelf=held) as (made, _):
        records = await made.told(WEATHER, past=whole[:at])
    assert (made.brain.asked, end(records).outcome) == (["program"], "answered")


async def test_what_is_written_after_a_tainted_solution_is_tainted(tmp_path: Path) -> None:
    plan = FORECASTS.plan.model_copy(update={"program": FORECASTS.plan.program.model_copy(update={"tainted": True})})
    shelf = Shelf([(AUTHORS, 0.4), (FORECASTS.model_copy(update={"plan": plan}), 0.6)])
    async with choosing(tmp_path, calls(), RIGHT, shelf=shelf) as (made, _):
        records = await made.told(WEATHER)
    (started,) = the(records, ProgramStarted)
    assert isinstance(started, ProgramStarted)
    assert started.program.tainted


@pytest.mark.parametrize(("owner", "tainted"), [("ann", True), ("", False)])
async def test_what_is_written_after_anothers_change_brings_no_leave(tmp_path: Path, owner: str, tainted: bool) -> None:
    removes = solution(
        "removes", (GEOCODE, REMOVE), f'{PLACE}\nawait delete_book(title=title)', "Forecast for {title}",
        inputs={"title": {"type": "string"}},
    )  # fmt: skip
    shelf = Shelf([(AUTHORS, 0.4), (removes, 0.6)], owner=owner)
    text = code(PLACE, '{"answered": "yes", "answer": f"{place[\'latitude\']}"}')
    async with choosing(tmp_path, calls(), text, shelf=shelf) as (made, _):
        records = await made.told(WEATHER)
    (started, *_) = the(records, ProgramStarted)
    assert isinstance(started, ProgramStarted)
    assert started.program.tainted is tainted


async def test_a_choice_that_cannot_be_used_is_told_back_once_and_then_there_is_none(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), RIGHT, choice={**THE_FORECASTS, "number": 3}) as (made, _):
        records = await made.told(WEATHER)
    assert made.brain.asked == ["choose_solution", "choose_solution", "program"]
    (none,) = the(records, NoSolution)
    assert isinstance(none, NoSolution)
    assert (none.shown, end(records).outcome) == (2, "answered")


async def test_a_verdict_is_as_of_any_program(tmp_path: Path) -> None:
    said_no = code('{"answered": "no", "answer": "", "missing": "a forecast for last year"}')
    async with choosing(tmp_path, executor := calls(), said_no) as (made, _):
        records = await made.told(WEATHER)
    assert [one.verdict for one in the(records, ProgramEnded) if isinstance(one, ProgramEnded)][-1] == "no"
    assert (end(records).outcome, executor.made) == ("gave_up", [])


async def test_where_nobody_writes_any_more_the_walk_has_to_do(tmp_path: Path) -> None:
    """A model that is lost after its choice: who stands in for it walks."""
    async with choosing(tmp_path, calls(), Refuses(503)) as (made, _):
        records = await made.told(WEATHER)
    assert [one.event.kind for one in records].count("policy.fell_back") == 1
    assert len(the(records, SolutionTaken)) == 1
    assert len(the(records, CandidatesConsidered)) > 1
    assert end(records).outcome == "answered"


async def test_a_program_that_is_to_be_approved_first_is_shown_after_the_choice(tmp_path: Path) -> None:
    shown: list[PlanQuestion] = []

    async def approves(question: PlanQuestion) -> ProgramPlan:
        shown.append(question)
        return question.program

    async with choosing(tmp_path, calls(), RIGHT) as (made, _):
        made.deps = change_deps(made.deps, plan_approver=approves)
        records = await made.told(WEATHER)
    (asked,) = shown
    assert DAYS in asked.program.program.text
    assert end(records).outcome == "answered"


async def test_a_follow_up_is_chosen_for_with_what_it_goes_on_from(tmp_path: Path) -> None:
    async with choosing(tmp_path, calls(), RIGHT) as (made, _):
        first = await made.told(WEATHER)
        await made.told("And tomorrow?", earlier=[build_earlier_run(first)])
    asked = str(made.server.requests[2].messages[-1]["content"])
    assert "[[earlier " in asked
    assert WEATHER in asked


async def test_of_many_solutions_each_path_is_shown(tmp_path: Path) -> None:
    held = [(AUTHORS.model_copy(update={"id": f"a{number}"}), 0.5) for number in range(30)]
    async with choosing(tmp_path, calls(), RIGHT, choice={**THE_FORECASTS, "number": 20}, shelf=Shelf([*held, (FORECASTS, 0.1)])) as (made, _):  # fmt: skip
        records = await made.told(WEATHER)
    (taken,) = the(records, SolutionTaken)
    assert isinstance(taken, SolutionTaken)
    assert taken.solution == "forecasts"
    asked = str(made.server.requests[0].messages[-1]["content"])
    assert "21. " not in asked
