"""Runs with programs that were broken off and go on, where their model could not write before, or can now."""

from pathlib import Path

import pytest

from agent.programs.program_types import SandboxLimits
from domain.event import CallFinished, PathEnded, ProgramFailed, ProgramStarted, StepChosen
from tests.support.program_world import code, end, the, world
from tests.support.small_world import FOUND, GEOCODE, TOOLS, ScriptedExecutor, ok

DELETE = 'Delete the book "Dune"'
DELETED = code('gone = await delete_book(title="Dune")', '{"answered": "yes", "answer": gone["deleted"]}')


def calls() -> ScriptedExecutor:
    return ScriptedExecutor(delete_book=ok({"deleted": 1}))


@pytest.mark.parametrize("texts", [(), (DELETED,)], ids=["its model is still down", "its model is back"])
@pytest.mark.parametrize("planner", ["program", "dfs"])
async def test_a_change_by_the_walk_of_a_model_that_could_not_write_is_made_once(
    tmp_path: Path, planner: str, texts: tuple[str, ...]
) -> None:
    async with world(tmp_path, calls(), planner=planner) as made:
        whole = await made.told(DELETE)
    assert end(whole).outcome == "answered"
    (at,) = (number for number, one in enumerate(whole, start=1) if isinstance(one.event, CallFinished))
    async with world(tmp_path / "again", executor := calls(), *texts, planner=planner) as made:
        for cut in range(at - 1, len(whole)):
            rest = await made.told(DELETE, past=whole[:cut])
            outcome = "answered" if cut >= at else "gave_up"  # nobody knows what became of a call that was cut off
            assert (end(rest).outcome, end(rest).error, executor.made) == (outcome, "", []), cut


FIND = code(
    "async def find(city):",
    '    return (await search_places(city=city))["results"][0]',
    'place = await find("Paris")',
    "look(place)",
)
FOUND_AGAIN = code('again = await find("Lyon")', "again['city']")


async def test_a_function_of_a_cell_calls_its_tools_in_the_next_too(tmp_path: Path) -> None:
    async with world(tmp_path, executor := ScriptedExecutor(search_places=FOUND), FIND, FOUND_AGAIN) as made:
        whole = await made.told("Where are Paris and Lyon?")
    assert (end(whole).outcome, end(whole).error) == ("answered", "")
    assert [given["city"] for _, given in executor.made] == ["Paris", "Lyon"]
    async with world(tmp_path / "again", executor := ScriptedExecutor(), FIND, FOUND_AGAIN) as made:
        rest = await made.told("Where are Paris and Lyon?", past=whole[:-3])
    assert (end(rest).outcome, end(rest).answer, executor.made) == ("answered", end(whole).answer, [])


async def test_a_tool_that_is_gone_when_a_run_goes_on_fails_in_its_program(tmp_path: Path) -> None:
    async with world(tmp_path, ScriptedExecutor(search_places=FOUND), FIND, FOUND_AGAIN) as made:
        whole = await made.told("Where are Paris and Lyon?")
    begun = next(at for at, one in enumerate(whole, start=1) if isinstance(one.event, ProgramStarted))
    rest_of_them = [one for one in TOOLS if one is not GEOCODE]
    async with world(tmp_path / "again", executor := ScriptedExecutor(), code("1"), tools=rest_of_them) as made:
        rest = await made.told("Where are Paris and Lyon?", past=whole[:begun])
    (failed, *_) = the(rest, ProgramFailed)
    assert isinstance(failed, ProgramFailed)
    assert ("no function `search_places` any more" in failed.error, executor.made) == (True, [])
    assert end(rest).outcome == "gave_up"


async def test_a_worker_that_is_lost_only_in_the_first_life_is_begun_anew_in_the_second(tmp_path: Path) -> None:
    greedy = code(
        "import asyncio",
        "async def one():",
        '    await search_places(city="Paris")',
        '    return len("a" * 30_000_000)',
        "async def other():",
        '    await search_places(city="Lyon")',
        "await asyncio.gather(one(), other())",
    )
    found = code(
        'place = (await search_places(city="Paris"))["results"][0]', "f\"{place['city']}, {'a day' if today else ''}\""
    )
    texts, request = (code("look(today)"), greedy, found), "Where is Paris?"
    small = SandboxLimits(workers=2, memory=20_000_000)
    async with world(tmp_path, ScriptedExecutor(search_places=FOUND), *texts, limits=small) as made:
        whole = await made.told(request)
    begun = [at for at, one in enumerate(whole, start=1) if isinstance(one.event, ProgramStarted)]
    assert [one.goes_on for one in the(whole, ProgramStarted) if isinstance(one, ProgramStarted)] == [
        False,
        True,
        False,
    ]
    large = SandboxLimits(workers=2, memory=200_000_000)
    async with world(tmp_path / "again", ScriptedExecutor(search_places=FOUND), found, limits=large) as made:
        rest = await made.told(request, past=whole[: begun[-1]])
    assert (end(rest).answer, made.written) == (end(whole).answer, 0)


async def test_only_a_text_counts_as_a_decision(tmp_path: Path) -> None:
    async with world(tmp_path, calls()) as made:
        records = await made.told(DELETE)
    chosen = [one.event for one in records if isinstance(one.event, StepChosen | PathEnded)]
    assert end(records).usage.decisions == len(chosen)
