"""Requests that are served by programs: at once, after complaints, errors and looks, with a wider offer, by the walk, or not at all."""

from pathlib import Path

import pytest

from agent.budget import Budget
from agent.conversation import build_earlier_run
from agent.execution.approval import DenyChangesApprover
from agent.execution.call_cache import CONFIRMED_BY_USER_NOTE
from agent.execution.executor import CallResult
from agent.plans.plan_approval import PlanQuestion
from agent.programs.program_types import SandboxLimits
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    PathEnded,
    ProgramEnded,
    ProgramFailed,
    ProgramLooked,
    ProgramRefused,
    ProgramStarted,
    ReflectionMade,
    RunFinished,
    SubtaskStarted,
)
from domain.program import ProgramPlan
from tests.flows.small_world_bindings import CITY, POINT
from tests.models.brain import Brain, advance_to, bind, move
from tests.models.openai_replies import Says
from tests.support.program_world import OffersAs, code, end, the, world
from tests.support.run_deps import change_deps
from tests.support.small_world import BOOKS, FORECAST, FOUND, GEOCODE, NEW_WEATHER, ScriptedExecutor, down, ok

WEATHER = "What is the weather forecast for Paris?"
PLACE = 'place = (await search_places(city="Paris"))["results"][0]'
DAYS = 'days = (await get_daily_forecast(latitude=place["latitude"], longitude=place["longitude"]))["days"]'
SAID = '{"answered": "yes", "answer": f"{days[0][\'temperature\']} degrees on {days[0][\'date\']}"}'
RIGHT = code(PLACE, DAYS, SAID)
SLIPS = code('gone = await delete_book(title="Dune")', 'gone["count"]')
ANSWER = "4.5 degrees on 2026-01-02\nBased on: [1] Places Set/search_places, [2] Weather Set/get_daily_forecast\n"


def calls() -> ScriptedExecutor:
    deleted = ok({"deleted": 1})
    return ScriptedExecutor(search_places=FOUND, get_daily_forecast=FORECAST, get_forecast=down, delete_book=deleted)


async def test_one_program_serves_a_request_with_one_question_to_the_model(tmp_path: Path) -> None:
    async with world(tmp_path, executor := calls(), RIGHT) as made:
        records = await made.told(WEATHER)
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)
    assert made.brain.asked == ["program"]
    assert [name for name, _ in executor.made] == ["search_places", "get_daily_forecast"]
    assert len(the(records, SubtaskStarted)) == 1
    assert end(records).usage.decisions == 1


async def test_complaints_go_back_before_anything_is_called(tmp_path: Path) -> None:
    async with world(tmp_path, executor := calls(), code("await search_weather()"), RIGHT) as made:
        records = await made.told(WEATHER)
    (refused,) = the(records, ProgramRefused)
    assert isinstance(refused, ProgramRefused)
    assert "search_weather" in refused.complaints[0]
    assert end(records).outcome == "answered"
    assert len(executor.made) == 2
    assert refused.complaints[0][:40] in made.server.requests[1].messages[-1]["content"]


async def test_an_error_goes_back_and_the_text_is_written_anew(tmp_path: Path) -> None:
    wrong = code(PLACE, DAYS, "[one for one in days if one['temperature'] > 100][0]")
    async with world(tmp_path, executor := calls(), wrong, RIGHT) as made:
        records = await made.told(WEATHER)
    (failed,) = the(records, ProgramFailed)
    assert isinstance(failed, ProgramFailed)
    assert ("IndexError" in failed.error, failed.line, failed.final) == (True, 3, False)
    assert [one.goes_on for one in the(records, ProgramStarted) if isinstance(one, ProgramStarted)] == [False, False]
    assert end(records).outcome == "answered"
    assert len(executor.made) == 2  # what is read again is not asked for again


async def test_a_look_ends_a_cell_and_the_next_goes_on_with_its_names(tmp_path: Path) -> None:
    async with world(tmp_path, executor := calls(), code(PLACE, "look(place)"), code(DAYS, SAID)) as made:
        records = await made.told(WEATHER)
    (looked,) = the(records, ProgramLooked)
    assert isinstance(looked, ProgramLooked)
    assert "'latitude':float" in looked.shown
    started = [one for one in the(records, ProgramStarted) if isinstance(one, ProgramStarted)]
    assert [(one.number, one.goes_on, one.program.tainted) for one in started] == [(1, False, False), (2, True, True)]
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)
    assert len(executor.made) == 2


async def test_there_are_four_cells_at_most(tmp_path: Path) -> None:
    async with world(tmp_path, calls(), code(PLACE, "look(place)")) as made:
        records = await made.told(WEATHER, Budget(model_calls=8))
    assert len(the(records, ProgramLooked)) == 3
    failed = [one for one in the(records, ProgramFailed) if isinstance(one, ProgramFailed)]
    assert [one.error.partition(":")[0] for one in failed] == ["TooManyLooks"] * 3


async def test_a_worker_that_is_lost_costs_one_try(tmp_path: Path) -> None:
    greedy = code(PLACE, "x = ['a' * 1000]", "for _ in range(40):\n    x += x", "x")
    async with world(tmp_path, calls(), greedy, RIGHT, limits=SandboxLimits(seconds=2, memory=20_000_000)) as made:
        records = await made.told(WEATHER)
    assert len(the(records, ProgramFailed)) == 1
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)


async def test_what_a_program_lacks_is_offered_and_it_goes_on(tmp_path: Path) -> None:
    lacking = code(PLACE, '{"answered": "no", "answer": "", "missing": "the forecast at a point"}')
    offers = OffersAs([[GEOCODE, BOOKS], [GEOCODE, NEW_WEATHER]])
    async with world(tmp_path, executor := calls(), lacking, code(DAYS, SAID), offers=offers) as made:
        records = await made.told(WEATHER)
    assert offers.asked == [WEATHER, "the forecast at a point"]
    ended = [one.verdict for one in the(records, ProgramEnded) if isinstance(one, ProgramEnded)]
    assert ended == ["no", "yes"]
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)
    assert len(executor.made) == 2


async def test_a_cell_over_a_wider_offer_may_look(tmp_path: Path) -> None:
    lacking = code('{"answered": "no", "answer": "There is no forecast.", "missing": "the forecast at a point"}')
    offers = OffersAs([[GEOCODE, BOOKS], [GEOCODE, NEW_WEATHER]])
    cells = lacking, code(PLACE, "look(place)"), code(DAYS, SAID)
    async with world(tmp_path, calls(), *cells, offers=offers) as made:
        records = await made.told(WEATHER)
    assert len(the(records, ProgramLooked)) == 1
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)


async def test_a_program_that_says_no_is_believed(tmp_path: Path) -> None:
    no = code('{"answered": "no", "answer": "", "missing": "a tool for horoscopes"}')
    async with world(tmp_path, executor := calls(), no, offers=OffersAs([[GEOCODE, BOOKS]])) as made:
        records = await made.told("What do the stars say of me?")
    assert (end(records).outcome, made.written, executor.made) == ("gave_up", 1, [])
    assert end(records).answer == "This could not be answered: a tool for horoscopes.\n"


async def test_where_no_program_comes_out_the_walk_takes_over(tmp_path: Path) -> None:
    walk = [advance_to("search_places"), advance_to("get_daily_forecast"), move("finish", "all is served")]
    answer = [Says("It will be 4.5 degrees [2].")]
    prose = Says("I would rather talk about it.")
    async with world(tmp_path, calls(), prose, choose=walk, arguments=[CITY, POINT], answer=answer) as made:  # type: ignore[arg-type]
        records = await made.told(WEATHER)
    assert [one.how for one in the(records, PathEnded) if isinstance(one, PathEnded)] == ["finished"]
    assert not the(records, ProgramStarted)
    assert end(records).outcome == "answered"
    assert end(records).answer.startswith("It will be 4.5 degrees")


async def test_a_denial_ends_it(tmp_path: Path) -> None:
    text = code('try:\n    await delete_book(title="Dune")\nexcept:\n    pass', '"done"')
    async with world(tmp_path, executor := calls(), text) as made:
        made.deps = change_deps(made.deps, approver=DenyChangesApprover())
        records = await made.told("Delete the book Dune")
    (failed,) = the(records, ProgramFailed)
    assert isinstance(failed, ProgramFailed)
    assert failed.final
    assert (end(records).outcome, made.written, executor.made) == ("gave_up", 1, [])
    assert end(records).answer.startswith("Not done: delete book Dune.")
    assert not the(records, PathEnded)


@pytest.mark.parametrize(
    "last", ["None", '""', '{"answered": "yes", "answer": []}', "f'{place.get(\"mayor\")}'", '{"answered": "yes", "answer": "unknown"}']
)  # fmt: skip
async def test_an_empty_yes_is_none(tmp_path: Path, last: str) -> None:
    async with world(tmp_path, calls(), code(PLACE, last)) as made:
        records = await made.told(WEATHER)
    (ended,) = the(records, ProgramEnded)
    assert isinstance(ended, ProgramEnded)
    assert (ended.answered, ended.verdict, ended.veto) == ("yes", "no", "its answer is empty")
    assert (end(records).outcome, made.written) == ("gave_up", 3)


async def test_a_yes_without_a_call_is_written_anew(tmp_path: Path) -> None:
    async with world(tmp_path, calls(), code('"It will be fine"'), RIGHT) as made:
        records = await made.told(WEATHER)
    (failed,) = the(records, ProgramFailed)
    assert isinstance(failed, ProgramFailed)
    assert "no call" in failed.error
    assert end(records).outcome == "answered"


async def test_a_change_that_failed_is_no_yes(tmp_path: Path) -> None:
    text = code('try:\n    await delete_book(title="Dune")\nexcept ToolError:\n    pass', PLACE, '"Deleted."')
    executor = ScriptedExecutor(search_places=FOUND, delete_book=down)
    async with world(tmp_path, executor, text) as made:
        records = await made.told("Delete the book Dune", Budget(decisions=1))
    (ended,) = the(records, ProgramEnded)
    assert isinstance(ended, ProgramEnded)
    assert (ended.answered, ended.verdict) == ("yes", "no")
    assert "Not done: delete book Dune" in end(records).answer


async def test_a_program_that_needs_an_answer_that_is_lost_ends_with_what_was_done(tmp_path: Path) -> None:
    """Written anew, it would make the change once more."""
    text = code('told = await delete_book(title="Dune")', PLACE, '"Deleted: " + str(told["deleted"])')
    lost = CallResult("ok", "", note=CONFIRMED_BY_USER_NOTE)
    async with world(tmp_path, ScriptedExecutor(search_places=FOUND, delete_book=lambda _: lost), text) as made:
        records = await made.told("Delete the book Dune")
        (lost_at,) = [n for n, one in enumerate(records) if isinstance(one.event, CallFinished) and one.event.step == 1]
        for known in range(lost_at + 1, len(records)):
            again = await made.told("Delete the book Dune", past=records[:known])
            assert (end(again).outcome, end(again).answer) == (end(records).outcome, end(records).answer), known
    (ended,) = the(records, ProgramEnded)
    assert isinstance(ended, ProgramEnded)
    assert (ended.verdict, end(records).outcome, the(records, ProgramFailed)) == ("partly", "partly", [])
    assert end(records).answer.startswith(
        "Done: delete book Dune [1]\nNot all of it is answered: the answer of delete_book is lost (you said that it took effect),"
    )


async def test_another_error_after_a_lost_answer_goes_back_to_the_author(tmp_path: Path) -> None:
    first = code('await delete_book(title="Dune")', PLACE, 'place["mayor"]')
    lost = CallResult("ok", "", note=CONFIRMED_BY_USER_NOTE)
    async with world(
        tmp_path, ScriptedExecutor(search_places=FOUND, delete_book=lambda _: lost), first, code(PLACE, '"It is gone."')
    ) as made:
        records = await made.told("Delete the book Dune")
    assert (len(the(records, ProgramFailed)), made.written) == (1, 2)


async def test_a_part_is_told_as_a_part(tmp_path: Path) -> None:
    text = code(PLACE, '{"answered": "partly", "answer": f"{place[\'city\']}", "missing": "its mayor"}')
    async with world(tmp_path, calls(), text, offers=OffersAs([[GEOCODE]])) as made:
        records = await made.told("Where is Paris, and who is its mayor?")
    assert end(records).outcome == "partly"
    assert end(records).answer.startswith("Paris\nNot all of it is answered: its mayor.\n")


async def test_a_used_up_budget_ends_it(tmp_path: Path) -> None:
    async with world(tmp_path, calls(), code(PLACE, "1 // 0")) as made:
        records = await made.told(WEATHER, Budget(decisions=1))
    assert (end(records).outcome, made.written) == ("budget", 1)


async def test_a_follow_up_goes_by_earlier_results(tmp_path: Path) -> None:
    text = code(DAYS.replace('place["l', 'earlier[0]["results"][0]["l'), SAID)
    async with world(tmp_path, executor := calls(), code(PLACE, "place['city']"), text) as made:
        first = await made.told("Where is Paris?")
        records = await made.told("And the weather there?", earlier=[build_earlier_run(first)])
    assert made.brain.asked == ["program", "program"]
    assert end(records).answer.startswith("4.5 degrees on 2026-01-02\n")
    assert [name for name, _ in executor.made] == ["search_places", "get_daily_forecast"]
    started = the(records, ProgramStarted)[0]
    assert isinstance(started, ProgramStarted)
    assert started.program.tainted


async def test_a_run_that_was_broken_off_writes_and_calls_nothing_twice(tmp_path: Path) -> None:
    async with world(tmp_path, executor := calls(), code(PLACE, "look(place)"), code(DAYS, SAID)) as made:
        whole = await made.told(WEATHER)
        for cut in range(1, len(whole)):
            written = sum(isinstance(one.event, ProgramStarted) for one in whole[:cut])
            made.brain = made.server.respond = Brain(
                program=[code(PLACE, "look(place)"), code(DAYS, SAID)][min(written, 1) :]
            )
            executor.made.clear()
            called = sum(isinstance(one.event, CallFinished) for one in whole[:cut])
            rest = await made.told(WEATHER, past=whole[:cut])
            assert end(rest).answer == ANSWER, cut
            assert end(rest).usage.decisions == end(whole).usage.decisions == 2, cut
            assert (made.written, len(executor.made)) == (2 - written, 2 - called), cut
            told = [type(one.event) for one in (*whole[:cut], *rest)]
            assert told == [type(one.event) for one in whole], cut


async def test_a_walks_path_ends_in_one_program(tmp_path: Path) -> None:
    walk = [advance_to("search_places"), advance_to("get_daily_forecast"), move("finish", "all is served")]
    async with world(tmp_path, executor := calls(), RIGHT, planner="dfs", choose=walk) as made:  # type: ignore[arg-type]
        records = await made.told(WEATHER)
    assert (end(records).outcome, end(records).answer) == ("answered", ANSWER)
    assert "arguments" not in made.brain.asked
    assert "answer" not in made.brain.asked
    assert len(executor.made) == 2
    kinds = [type(one.event) for one in records if isinstance(one.event, (PathEnded, ProgramStarted, CallStarted))]
    assert kinds == [PathEnded, ProgramStarted, CallStarted, CallStarted]
    assert isinstance(records[-1].event, RunFinished)
    assert any(isinstance(one.event, AnswerDelta) for one in records)


async def test_a_walk_goes_on_for_what_its_program_lacks(tmp_path: Path) -> None:
    walk = [
        advance_to("search_places"),
        move("finish", "found"),
        advance_to("get_daily_forecast"),
        move("finish", "all"),
    ]
    lacking = code(PLACE, '{"answered": "partly", "answer": "Paris", "missing": "its weather"}')
    async with world(tmp_path, executor := calls(), lacking, RIGHT, planner="dfs", choose=walk) as made:  # type: ignore[arg-type]
        records = await made.told("Find the city Paris. What is the weather forecast there?")
    judged = [one for one in the(records, ReflectionMade) if isinstance(one, ReflectionMade)]
    assert [(one.verdict, one.resumed) for one in judged][-1] == ("partial", True)
    ended = [one.verdict for one in the(records, ProgramEnded) if isinstance(one, ProgramEnded)]
    assert ended == ["partly", "yes"]
    assert end(records).outcome == "answered"
    assert len(executor.made) == 2


async def test_what_was_better_stands(tmp_path: Path) -> None:
    part = code(PLACE, '{"answered": "partly", "answer": "Paris", "missing": "its weather"}')
    offers = OffersAs([[GEOCODE], [GEOCODE, BOOKS]])
    no = code('{"answered": "no", "answer": "", "missing": "all"}')
    async with world(tmp_path, calls(), part, no, offers=offers) as made:
        records = await made.told(WEATHER)
    ended = [(one.number, one.verdict) for one in the(records, ProgramEnded) if isinstance(one, ProgramEnded)]
    assert ended == [(1, "partly"), (2, "no"), (1, "partly")]
    assert end(records).outcome == "partly"
    assert end(records).answer.startswith(
        "Paris\nNot all of it is answered: its weather.\nBased on: [1] Places Set/search_places"
    )


async def test_changes_of_a_program_are_told_one_by_one(tmp_path: Path) -> None:
    text = code(
        'for title in ("Dune", "Dune", "Emma"):',
        "    try:",
        "        await delete_book(title=title)",
        "    except ToolError:",
        "        pass",
        '"Deleted."',
    )
    executor = ScriptedExecutor(delete_book=lambda given: (down if given["title"] == "Emma" else ok({}))(given))
    async with world(tmp_path, executor, text) as made:
        records = await made.told("Delete the books Dune, Dune and Emma")
    assert end(records).outcome == "partly"
    assert end(records).answer.startswith(
        "Done: delete book Dune (2 times) [2]\nNot done: delete book Emma. HTTP 503\n"
    )
    assert len(executor.made) == 3


async def test_a_program_that_is_to_be_approved_first_is_shown_and_run(tmp_path: Path) -> None:
    asked: list[PlanQuestion] = []

    async def approves(question: PlanQuestion) -> ProgramPlan:
        asked.append(question)
        return question.program

    async with world(tmp_path, executor := calls(), RIGHT) as made:
        made.deps = change_deps(made.deps, plan_approver=approves)
        records = await made.told(WEATHER)
    assert (end(records).outcome, made.written, len(asked)) == ("answered", 1, 1)
    assert (asked[0].subtask, asked[0].cell, len(executor.made)) == (1, 1, 2)


async def test_react_may_call_the_same_tool_as_often_as_it_wants(tmp_path: Path) -> None:
    cities = [f"City {number}" for number in range(7)]
    moves = [*[advance_to("search_places")] * 7, move("finish", "all are found")]
    bound = [bind(("city", city, "request", city)) for city in cities]
    request = f"How many people live in {', '.join(cities)}?"
    answer = [Says("So many [1].")]
    script = {"choose_by_result": moves, "arguments": bound, "answer": answer}
    async with world(tmp_path, executor := calls(), RIGHT, planner="react", **script) as made:  # type: ignore[arg-type]
        records = await made.told(request)
    assert [given["city"] for _, given in executor.made] == cities
    assert end(records).outcome == "answered"


async def test_changes_that_stand_are_told_to_whoever_writes_the_text_anew(tmp_path: Path) -> None:
    async with world(tmp_path, executor := calls(), SLIPS, code('"Dune is deleted."')) as made:
        records = await made.told("Delete the book Dune")
    told = made.server.requests[1].messages[-1]["content"]
    assert "Changes that were made:\n- delete_book(title='Dune') gave {'deleted':int}" in told
    assert "never make them again" in told
    assert (len(executor.made), end(records).outcome) == (1, "answered")


async def test_a_change_that_is_refused_the_second_time_is_told_as_made(tmp_path: Path) -> None:
    async with world(tmp_path, executor := calls(), SLIPS, code('await delete_book(title="Dune")', '"x"')) as made:
        records = await made.told("Delete the book Dune")
    assert len(executor.made) == 1
    assert "Done: delete book Dune" in end(records).answer
    assert "Not done" not in end(records).answer


async def test_a_change_is_not_made_in_other_words_by_the_text_written_anew(tmp_path: Path) -> None:
    other = code('gone = await delete_book(title="dune")', '"Deleted."')
    async with world(tmp_path, executor := calls(), SLIPS, other) as made:
        await made.told("Delete the book Dune")
    assert executor.made == [("delete_book", {"title": "Dune"})]


async def test_a_further_cell_changes_more_with_the_same_tool(tmp_path: Path) -> None:
    look = code('gone = await delete_book(title="Dune")', "look(gone)")
    further = code('gone = await delete_book(title="Emma")', '"Both are deleted."')
    async with world(tmp_path, executor := calls(), look, further) as made:
        records = await made.told("Delete the books Dune and Emma")
    assert (len(executor.made), end(records).outcome) == (2, "answered")


async def test_a_change_that_answers_nothing_is_done(tmp_path: Path) -> None:
    executor = ScriptedExecutor(delete_book=ok(""))
    async with world(tmp_path, executor, code('await delete_book(title="Dune")')) as made:
        records = await made.told("Delete the book Dune")
    assert (end(records).outcome, made.written, len(executor.made)) == ("answered", 1, 1)
    assert end(records).answer.startswith("Done: delete book Dune")
