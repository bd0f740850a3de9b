"""Whole runs in a small world: plan, execute, go around, answer."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import pytest

from agent.budget import Budget
from agent.execution.approval import AllowChangesApprover
from agent.policy.protocol import MoveQuestion, NextMove
from agent.run import run
from agent.run_context import RunDeps
from agent.transcript import RunTranscript
from domain.errors import UnavailableError
from domain.event import CallStarted, EventRecord, RunFinished, RunStarted, StepBacktracked
from domain.plan import StepResult
from domain.tool import ToolDoc
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.run_deps import build_deps
from tests.support.small_world import (
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    OLD_WEATHER,
    WALKS,
    ScriptedExecutor,
    down,
    finder,
    graph,
    ok,
)

WEATHER = "What is the weather forecast for Paris?"


async def deps(folder: Path, executor: ScriptedExecutor, policy: OfflinePolicy | None = None) -> RunDeps:
    return build_deps(
        await graph(WALKS),
        await finder(folder),
        policy or OfflinePolicy(),
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )


async def asked(request: str, given: RunDeps, budget: Budget | None = None) -> tuple[list[EventRecord], RunTranscript]:
    records = [record async for record in run(request, given, budget)]
    assert [record.seq for record in records] == list(range(1, len(records) + 1))
    assert len({record.run for record in records}) == 1
    assert isinstance(records[0].event, RunStarted)
    assert isinstance(records[-1].event, RunFinished)
    return records, RunTranscript.from_records(records)


def outcome(transcript: RunTranscript) -> str:
    assert transcript.end is not None
    return transcript.end.outcome


def answer(transcript: RunTranscript) -> str:
    assert transcript.end is not None
    return transcript.end.answer


async def test_a_producer_comes_before_its_consumer(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST)
    _, transcript = await asked(WEATHER, await deps(tmp_path, executor))
    assert outcome(transcript) == "answered"
    assert transcript.path == (GEOCODE.id, OLD_WEATHER.id)
    assert executor.made[1] == ("get_forecast", {"latitude": 48.85, "longitude": 2.35})
    assert "4.5" in answer(transcript)
    assert "[2] Weather Set/get_forecast" in answer(transcript)


async def test_a_failing_call_is_gone_around_and_nothing_is_called_twice(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=FORECAST)
    records, transcript = await asked(WEATHER, await deps(tmp_path, executor))
    backs = [record.event for record in records if isinstance(record.event, StepBacktracked)]
    assert [(back.dropped, back.path, back.phase) for back in backs] == [(OLD_WEATHER.id, (GEOCODE.id,), "execute")]
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert [name for name, _ in executor.made] == ["search_places", "get_forecast", "get_daily_forecast"]
    assert outcome(transcript) == "answered"
    assert "4.5" in answer(transcript)
    told = transcript.to_json()
    assert told["backtracks"] == 1


async def test_where_every_way_fails_it_says_what_was_tried(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=down)
    _, transcript = await asked(WEATHER, await deps(tmp_path, executor))
    assert outcome(transcript) == "gave_up"
    assert "get_forecast gave no answer: HTTP 503" in answer(transcript)
    assert "get_daily_forecast gave no answer: HTTP 503" in answer(transcript)


async def test_both_parts_of_a_request_are_served(tmp_path: Path) -> None:
    books = ok({"books": [{"title": "Dune", "author": "Frank Herbert", "pages": 412}]})
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=books)
    request = 'Give me the weather forecast for Paris and tell me who is the author of the book "Dune".'
    _, transcript = await asked(request, await deps(tmp_path, executor))
    assert set(transcript.path) == {GEOCODE.id, OLD_WEATHER.id, BOOKS.id}
    assert "4.5" in answer(transcript)
    assert "Frank Herbert" in answer(transcript)


async def test_what_no_tool_fits_is_not_answered(tmp_path: Path) -> None:
    executor = ScriptedExecutor()
    _, transcript = await asked("What is the meaning of life?", await deps(tmp_path, executor))
    assert outcome(transcript) == "gave_up"
    assert executor.made == []
    assert "could not be answered" in answer(transcript)


async def test_nothing_is_changed_unless_it_is_asked_for(tmp_path: Path) -> None:
    books = ok({"books": [{"title": "Dune", "author": "Frank Herbert", "pages": 412}]})
    executor = ScriptedExecutor(search_books=books, delete_book=ok({}))
    await asked('How many pages has the book "Dune"?', await deps(tmp_path, executor))
    assert [name for name, _ in executor.made] == ["search_books"]
    executor.made.clear()
    _, transcript = await asked('Delete the book "Dune"', await deps(tmp_path, executor))
    assert "delete_book" in [name for name, _ in executor.made]
    assert outcome(transcript) == "answered"


async def test_an_empty_finding_is_gone_around(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=ok({"days": []}), get_daily_forecast=FORECAST)
    _, transcript = await asked(WEATHER, await deps(tmp_path, executor))
    assert transcript.path == (GEOCODE.id, NEW_WEATHER.id)
    assert "4.5" in answer(transcript)


async def test_an_empty_first_finding_ends_in_saying_so(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=ok({"results": []}))
    _, transcript = await asked(WEATHER, await deps(tmp_path, executor))
    assert outcome(transcript) == "gave_up"
    assert "search_places gave no answer: it found nothing" in answer(transcript)


@pytest.mark.parametrize("decisions", [1, 2])
async def test_running_out_of_decisions_returns_the_best_path_marked(tmp_path: Path, decisions: int) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST)
    records, transcript = await asked(WEATHER, await deps(tmp_path, executor), Budget(decisions=decisions))
    assert outcome(transcript) == "budget"
    ended = [record.event for record in records if record.event.kind == "path.ended"]
    assert "budget" in ended[-1].model_dump_json()


async def test_a_hung_call_ends_with_the_budgets_time(tmp_path: Path) -> None:
    class Hanging(ScriptedExecutor):
        async def call(self, tool: ToolDoc, arguments: dict[str, object], identity: str = "") -> object:  # type: ignore[override]
            await asyncio.sleep(60)

    _, transcript = await asked(WEATHER, await deps(tmp_path, Hanging()), Budget(seconds=0.5))
    assert outcome(transcript) == "budget"
    assert "time was used up" in answer(transcript)


async def test_a_cancelled_run_says_so_and_stays_cancelled(tmp_path: Path) -> None:
    started = asyncio.Event()

    class Hanging(ScriptedExecutor):
        async def call(self, tool: ToolDoc, arguments: dict[str, object], identity: str = "") -> object:  # type: ignore[override]
            started.set()
            await asyncio.sleep(60)

    records: list[EventRecord] = []
    given = await deps(tmp_path, Hanging())

    async def follow() -> None:
        async for record in run(WEATHER, given):
            records.append(record)  # noqa: PERF401  # what was seen before the cancellation is the point

    task = asyncio.create_task(follow())
    await started.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    last = records[-1].event
    assert isinstance(last, RunFinished)
    assert last.outcome == "cancelled"


async def test_a_defect_of_ours_ends_the_run_in_order(tmp_path: Path) -> None:
    class Broken(OfflinePolicy):
        async def choose(self, situation: MoveQuestion) -> NextMove:
            raise ZeroDivisionError("secret detail")

    _, transcript = await asked(WEATHER, await deps(tmp_path, ScriptedExecutor(), Broken()))
    assert transcript.end is not None
    assert transcript.end.outcome == "failed"
    assert transcript.end.error.startswith("internal: ZeroDivisionError")
    assert "secret detail" not in transcript.end.error


async def test_a_store_that_goes_away_is_named_by_its_code(tmp_path: Path) -> None:
    class Gone(OfflinePolicy):
        async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
            raise UnavailableError("the disk is gone")
            yield ""

    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST)
    _, transcript = await asked(WEATHER, await deps(tmp_path, executor, Gone()))
    assert transcript.end is not None
    assert transcript.end.error == "unavailable: the disk is gone"


async def test_runs_side_by_side_do_not_meet(tmp_path: Path) -> None:
    store, search = await graph(WALKS), await finder(tmp_path)
    books = ok({"books": [{"title": "Dune", "author": "Frank Herbert", "pages": 412}]})
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=books)
    requests = [WEATHER, 'How many pages has the book "Dune"?'] * 4
    runs = [
        asked(
            request,
            build_deps(
                store, search, OfflinePolicy(), executor, approver=AllowChangesApprover(), reader=EnglishReader()
            ),
        )
        for request in requests
    ]
    found = [transcript.path for _, transcript in await asyncio.gather(*runs)]
    assert found == [(GEOCODE.id, OLD_WEATHER.id), (BOOKS.id,)] * 4


async def test_a_request_without_words_is_not_answered(tmp_path: Path) -> None:
    records, transcript = await asked("???", await deps(tmp_path, ScriptedExecutor()))
    assert outcome(transcript) == "gave_up"
    assert not [record for record in records if isinstance(record.event, CallStarted)]


async def test_what_came_before_the_failed_step_is_no_answer(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=down)
    _, transcript = await asked(WEATHER, await deps(tmp_path, executor))
    assert outcome(transcript) == "gave_up"
