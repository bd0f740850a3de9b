"""Runs that are broken off after each of their events and go on: all ends as it would have, and no call is made twice."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.policy.protocol import MoveQuestion, NextMove
from agent.run import run
from agent.run_context import RunDeps
from agent.transcript import RunTranscript
from domain.event import CallFinished, CallStarted, EventRecord, RunFinished, StepChosen
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.test_subtasks import BOTH, DUNE, WEATHER_AND_BOOK, Splitting
from tests.support.run_deps import build_deps
from tests.support.small_world import (
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    REMOVE,
    WALKS,
    ScriptedExecutor,
    down,
    finder,
    graph,
    ok,
)

WEATHER = "What is the weather forecast for Paris?"
DELETE = 'Delete the book "Dune"'
LONG = ok({"books": [{"title": f"Dune {n}", "author": "Frank Herbert", "pages": 400 + n} for n in range(40)]})
World = tuple[str, Callable[[], ScriptedExecutor], Callable[[], OfflinePolicy]]
WORLDS: dict[str, World] = {
    "a path": (WEATHER, lambda: ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST), OfflinePolicy),
    "a way around": (
        WEATHER,
        lambda: ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=FORECAST),
        OfflinePolicy,
    ),
    "all fail": (
        WEATHER,
        lambda: ScriptedExecutor(search_places=FOUND, get_forecast=down, get_daily_forecast=down),
        OfflinePolicy,
    ),
    "nothing found": (
        WEATHER,
        lambda: ScriptedExecutor(search_places=ok({"results": []}), get_forecast=FORECAST, get_daily_forecast=FORECAST),
        OfflinePolicy,
    ),
    "a long response": (
        'How many pages has the book "Dune"?',
        lambda: ScriptedExecutor(search_books=LONG),
        OfflinePolicy,
    ),
    "a change": (DELETE, lambda: ScriptedExecutor(delete_book=ok({}), search_books=ok({"books": []})), OfflinePolicy),
    "two subtasks": (
        BOTH,
        lambda: ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=DUNE),
        lambda: Splitting(*WEATHER_AND_BOOK),
    ),
    "one subtask on another": (
        BOTH,
        lambda: ScriptedExecutor(search_places=FOUND, get_forecast=FORECAST, search_books=DUNE),
        lambda: Splitting(("Where is Paris?", ()), ("What is the weather forecast there?", (1,))),
    ),
}


async def deps(folder: Path, executor: ScriptedExecutor, policy: OfflinePolicy) -> RunDeps:
    return build_deps(
        await graph(WALKS),
        await finder(folder),
        policy,
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )


async def told(
    request: str, given: RunDeps, past: Sequence[EventRecord] = (), until: int = 10_000
) -> list[EventRecord]:
    """The run's records, the past ones first; broken off after the event of a number."""
    records = list(past)
    events = run(request, given, name="a run", past_events=past)
    async for record in events:
        records.append(record)
        if record.seq == until:
            break
    await events.aclose()
    return records


def course(records: Sequence[EventRecord]) -> dict[int, list[str]]:
    """What happened in each subtask, in order."""
    lines: dict[int, list[str]] = {}
    for record in records:
        lines.setdefault(record.subtask, []).append(record.event.kind)
    return lines


def ended(records: Sequence[EventRecord]) -> RunFinished:
    end = records[-1].event
    assert isinstance(end, RunFinished)
    return end


@pytest.mark.parametrize("name", list(WORLDS))
async def test_a_run_goes_on_after_each_of_its_events(name: str, tmp_path: Path) -> None:
    request, executors, policies = WORLDS[name]
    executor = executors()
    whole = await told(request, await deps(tmp_path, executor, policies()))
    assert len(whole) > 5
    for cut in range(1, len(whole)):
        executor = executors()
        before = await told(request, await deps(tmp_path, executor, policies()), until=cut)
        finished = Counter(made(before))
        began = [record.event for record in before if isinstance(record.event, CallStarted)]
        again = executors()
        records = await told(request, await deps(tmp_path, again, policies()), past=before)
        assert records[:cut] == before
        assert [record.seq for record in records] == list(range(1, len(records) + 1))
        lost = began[-1].tool if len(began) > sum(finished.values()) and name == "a change" else None
        if lost == REMOVE.id:
            results = [r.event.result for r in records if isinstance(r.event, CallFinished)]
            assert [result.status for result in results if result.tool == lost] == ["unknown"]
            assert "delete_book" not in [tool for tool, _ in again.made]
            continue
        assert course(records) == course(whole), cut
        assert (ended(records).outcome, ended(records).answer) == (ended(whole).outcome, ended(whole).answer)
        assert RunTranscript.from_records(records).path == RunTranscript.from_records(whole).path
        repeated = {(tool, str(arguments)) for tool, arguments in again.made} & set(finished)
        assert not repeated, cut


def made(records: Sequence[EventRecord]) -> list[tuple[str, str]]:
    """The calls whose results are in the record, by tool and arguments."""
    results = [record.event.result for record in records if isinstance(record.event, CallFinished)]
    return [(result.tool.rsplit("/")[-1], str(result.arguments)) for result in results if result.attempts]


class _Otherwise(OfflinePolicy):
    """A policy that would now go another way: to its last candidate."""

    async def choose(self, situation: MoveQuestion) -> NextMove:
        return NextMove("advance", "otherwise", len(situation.candidates) - 1)


async def test_decisions_that_were_told_are_not_taken_again(tmp_path: Path) -> None:
    request, executors, _ = WORLDS["a path"]
    whole = await told(request, await deps(tmp_path, executors(), OfflinePolicy()))
    planned = next(record.seq for record in whole if record.event.kind == "plan.ready")
    again = executors()
    records = await told(request, await deps(tmp_path, again, _Otherwise()), past=whole[:planned])
    assert [tool for tool, _ in again.made] == ["search_places", "get_forecast"]
    assert course(records) == course(whole)


async def test_where_the_tools_have_changed_the_run_goes_its_own_way(tmp_path: Path) -> None:
    request, executors, _ = WORLDS["a path"]
    whole = await told(request, await deps(tmp_path, executors(), OfflinePolicy()))
    second = [record.seq for record in whole if isinstance(record.event, StepChosen)][1]
    given = build_deps(
        await graph([(GEOCODE,)], [GEOCODE, BOOKS]),
        await finder(tmp_path / "few", [GEOCODE, BOOKS]),
        OfflinePolicy(),
        again := executors(),
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    records = await told(request, given, past=whole[:second])
    assert isinstance(records[-1].event, RunFinished)
    assert "get_forecast" not in [tool for tool, _ in again.made]


async def test_a_run_that_changed_something_is_not_begun_anew_where_it_cannot_go_on(tmp_path: Path) -> None:
    request, executors, _ = WORLDS["a change"]
    whole = await told(request, await deps(tmp_path, executors(), OfflinePolicy()))
    called = next(r.seq for r in whole if isinstance(r.event, CallFinished) and r.event.result.tool == REMOVE.id)
    few = [GEOCODE, BOOKS]
    again = executors()
    given = build_deps(
        await graph([], few),
        await finder(tmp_path / "few", few),
        OfflinePolicy(),
        again,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    records = await told(request, given, past=whole[:called])
    assert ended(records).outcome == "failed"
    assert ended(records).error.startswith("conflict: ")
    assert not again.made
