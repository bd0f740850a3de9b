"""Requests of several subtasks: side by side, one after the other, in part, and broken off."""

import asyncio
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import CallResult
from agent.policy.protocol import DecomposeQuestion, Decomposition, MoveQuestion, NextMove, Subtask
from agent.run import run
from agent.run_context import RunDeps
from agent.transcript import RunTranscript
from domain.event import CallFinished, CandidatesConsidered, EventRecord, RunFinished, SubtaskStarted
from domain.model import JsonObject
from domain.tool import ToolDoc
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.run_deps import build_deps
from tests.support.small_world import (
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    OLD_WEATHER,
    WALKS,
    ScriptedExecutor,
    down,
    finder,
    graph,
    ok,
)

BOTH = 'What is the weather forecast for Paris? How many pages has the book "Dune"?'
DUNE = ok({"books": [{"title": "Dune", "author": "Frank Herbert", "pages": 412}]})


class Splitting(OfflinePolicy):
    """The offline policy, told how to split: for each subtask what it depends on."""

    def __init__(self, *subtasks: tuple[str, tuple[int, ...]]) -> None:
        super().__init__()
        self._subtasks = subtasks

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        made = [Subtask(n, text, text, "", after) for n, (text, after) in enumerate(self._subtasks, start=1)]
        return Decomposition(tuple(made), "so told")


WEATHER_AND_BOOK = (("What is the weather forecast for Paris?", ()), ('How many pages has the book "Dune"?', ()))


async def deps(folder: Path, executor: ScriptedExecutor, policy: OfflinePolicy, at_once: int = 3) -> RunDeps:
    return build_deps(
        await graph(WALKS),
        await finder(folder),
        policy,
        executor,
        max_parallel_subtasks=at_once,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )


async def asked(request: str, given: RunDeps) -> tuple[list[EventRecord], RunTranscript]:
    records = [record async for record in run(request, given)]
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert isinstance(records[-1].event, RunFinished)
    return records, RunTranscript.from_records(records)


def end(transcript: RunTranscript) -> RunFinished:
    assert transcript.end is not None
    return transcript.end


class Meeting(ScriptedExecutor):
    """The first calls of two subtasks wait for each other; ``met``: both were on their way at once."""

    def __init__(self) -> None:
        super().__init__(search_places=FOUND, get_forecast=FORECAST, search_books=DUNE)
        self.met = asyncio.Barrier(2)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        if tool in (GEOCODE, BOOKS):
            async with asyncio.timeout(5):
                await self.met.wait()
        return await super().call(tool, arguments)


async def test_what_has_nothing_in_common_is_done_side_by_side_and_brought_together(tmp_path: Path) -> None:
    given = await deps(tmp_path, Meeting(), Splitting(*WEATHER_AND_BOOK))
    records, transcript = await asked(BOTH, given)
    assert end(transcript).outcome == "answered"
    assert "4.5" in end(transcript).answer
    assert "412" in end(transcript).answer
    assert "[3] Books Set/search_books" in end(transcript).answer, "steps are counted through"
    assert [transcript.subtasks[n].path for n in (1, 2)] == [(GEOCODE.id, OLD_WEATHER.id), (BOOKS.id,)]
    printed = transcript.to_json()["subtasks"]
    assert [one["name"] for one in printed] == [text for text, _ in WEATHER_AND_BOOK]  # type: ignore[union-attr,index,call-overload]
    numbers = {record.subtask for record in records if isinstance(record.event, CandidatesConsidered)}
    assert numbers == {1, 2}
    assert {record.subtask for record in records if record.event.kind in ("run.started", "answer.delta")} == {0}


async def test_no_more_at_once_than_allowed(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=DUNE)
    records, transcript = await asked(BOTH, await deps(tmp_path, executor, Splitting(*WEATHER_AND_BOOK), at_once=1))
    assert end(transcript).outcome == "answered"
    order = [record.subtask for record in records if record.subtask]
    assert order == sorted(order)


async def test_the_rules_split_what_has_no_value_and_no_tool_in_common(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=DUNE)
    one = 'How many pages has the book "Dune", and who is its author?'
    _, whole = await asked(one, await deps(tmp_path, executor, OfflinePolicy()))
    assert [subtask.description for subtask in whole.ordered_subtasks] == [one]
    assert end(whole).outcome == "answered"


async def test_a_part_that_fails_is_named_and_the_other_is_answered(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=down, search_books=DUNE)
    _, transcript = await asked(BOTH, await deps(tmp_path, executor, Splitting(*WEATHER_AND_BOOK)))
    assert end(transcript).outcome == "partly"
    assert "412" in end(transcript).answer
    assert 'Not answered: "What is the weather forecast for Paris?"' in end(transcript).answer


async def test_what_builds_on_a_part_that_failed_is_not_tried(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=down, search_books=DUNE)
    policy = Splitting(WEATHER_AND_BOOK[0], (WEATHER_AND_BOOK[1][0], (1,)))
    _, transcript = await asked(BOTH, await deps(tmp_path, executor, policy))
    assert end(transcript).outcome == "gave_up"
    assert "search_books" not in [name for name, _ in executor.made]
    assert "it builds on what could not be found" in end(transcript).answer


async def test_a_dependent_part_is_given_what_came_before(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=DUNE)
    policy = Splitting(
        ("Find the coordinates of the city Paris", ()),
        ('How many pages has the book "Dune"?', ()),
        ("What is the weather forecast at the coordinates that were found?", (1,)),
    )
    records, transcript = await asked(BOTH, await deps(tmp_path, executor, policy))
    assert executor.made.count(("search_places", {"city": "Paris"})) == 1
    assert ("get_forecast", {"latitude": 48.85, "longitude": 2.35}) in executor.made
    started = {record.subtask: record.event for record in records if isinstance(record.event, SubtaskStarted)}
    assert [started[n].given for n in (1, 2, 3)] == [0, 0, 1]
    last = [record.event for record in records if record.subtask == 3 and isinstance(record.event, CallFinished)]
    assert [event.step for event in last] == [2], "its own steps are counted on from those it was given"
    assert {b.reference for b in last[0].result.provenance} == {"1.results[0].latitude", "1.results[0].longitude"}
    assert end(transcript).outcome == "answered"
    assert transcript.path == (GEOCODE.id, BOOKS.id, OLD_WEATHER.id)
    assert [b.reference for b in transcript.steps[3].provenance] == ["1.results[0].latitude", "1.results[0].longitude"]


async def test_a_run_that_is_cancelled_ends_all_its_parts(tmp_path: Path) -> None:
    started = asyncio.Event()

    class Hanging(ScriptedExecutor):
        async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
            started.set()
            await asyncio.sleep(60)
            return CallResult("ok", "{}")

    records: list[EventRecord] = []
    given = await deps(tmp_path, Hanging(), Splitting(*WEATHER_AND_BOOK))

    async def follow() -> None:
        async for record in run(BOTH, given):
            records.append(record)  # noqa: PERF401  # what was seen before the cancellation is the point

    before = asyncio.all_tasks()
    task = asyncio.create_task(follow())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert asyncio.all_tasks() == before
    last = records[-1].event
    assert isinstance(last, RunFinished)
    assert last.outcome == "cancelled"


async def test_a_defect_in_one_part_ends_the_run_in_order(tmp_path: Path) -> None:
    class Broken(Splitting):
        async def choose(self, situation: MoveQuestion) -> NextMove:
            if "Dune" in situation.request:
                raise ZeroDivisionError
            return await super().choose(situation)

    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST)
    _, transcript = await asked(BOTH, await deps(tmp_path, executor, Broken(*WEATHER_AND_BOOK)))
    assert end(transcript).outcome == "failed"
    assert end(transcript).error.startswith("internal: ZeroDivisionError")


async def test_subtasks_that_wait_for_later_ones_are_refused(tmp_path: Path) -> None:
    policy = Splitting(("What is the weather forecast for Paris?", (2,)), ("What is in it?", (1,)))
    _, transcript = await asked(BOTH, await deps(tmp_path, ScriptedExecutor(), policy))
    assert end(transcript).outcome == "failed"
    assert "out of order" in end(transcript).error


class _LateToPlan(Splitting):
    """Is slow to plan what has to do with "Dune"."""

    async def choose(self, situation: MoveQuestion) -> NextMove:
        if "Dune" in situation.request:
            await asyncio.sleep(0.2)
        return await super().choose(situation)


@pytest.mark.parametrize("at_once", [1, 3])
async def test_changes_are_made_in_the_order_in_which_they_are_told(tmp_path: Path, at_once: int) -> None:
    """Whoever has planned a change first waits for those that were told before it, and reading waits for nobody."""
    executor = ScriptedExecutor(
        delete_book=ok({}), search_books=ok({"books": []}), search_places=FOUND, get_forecast=FORECAST
    )
    told = ('Delete the book "Dune"', 'Delete the book "Emma"', "What is the weather forecast for Paris?")
    policy = _LateToPlan(*((part, ()) for part in told))
    _, transcript = await asked(". ".join(told), await deps(tmp_path, executor, policy, at_once))
    assert [call["title"] for name, call in executor.made if name == "delete_book"] == ["Dune", "Emma"]
    names = [name for name, _ in executor.made]
    assert at_once == 1 or names.index("get_forecast") < names.index("delete_book")
    assert end(transcript).outcome == "answered"
