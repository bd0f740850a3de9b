"""Where a service cannot be called, the words of the request go to no stranger."""

from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import CallResult
from agent.run import run
from agent.transcript import RunTranscript
from domain.errors import ForbiddenAddressError
from domain.model import JsonObject
from domain.tool import ToolDoc
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.support.run_deps import build_deps
from tests.support.small_world import (  # fmt: skip
    BOOKS,
    FORECAST,
    FOUND,
    GEOCODE,
    NEW_WEATHER,
    OLD_WEATHER,
    Answer,
    ScriptedExecutor,
    finder,
    graph,
    ok,
)


def at(tool: ToolDoc, host: str) -> ToolDoc:
    return tool.model_copy(update={"url": f"http://{host}/{tool.api}"})


TOOLS = (at(GEOCODE, "places.test"), at(OLD_WEATHER, "old.test"), at(NEW_WEATHER, "new.test"), at(BOOKS, "books.test"))


def refused(_: JsonObject) -> CallResult:
    raise ForbiddenAddressError("old.test is not a public address")


def gone(_: JsonObject) -> CallResult:
    return CallResult("gone", "", note="no such host", reached=False)


async def asked(request: str, folder: Path, executor: ScriptedExecutor, tools: tuple[ToolDoc, ...] = TOOLS) -> RunTranscript:  # fmt: skip
    walks = [[tool for tool in tools if tool.api in ("search_places", "get_forecast")]] * 5
    deps = build_deps(
        await graph(walks, tools),
        await finder(folder, tools),
        OfflinePolicy(),
        executor,
        approver=AllowChangesApprover(),
        reader=EnglishReader(),
    )
    return RunTranscript.from_records([record async for record in run(request, deps)])


@pytest.mark.parametrize("weather", [refused, gone])
async def test_another_service_of_the_kind_stands_in(weather: Answer, tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=weather, get_daily_forecast=FORECAST)
    found = await asked("What is the weather forecast for Paris?", tmp_path, executor)
    assert found.end
    assert found.end.outcome == "answered"


async def test_no_stranger_is_asked_where_nothing_of_the_kind_is_left(tmp_path: Path) -> None:
    executor = ScriptedExecutor(search_books=refused, search_places=ok({"results": []}))
    found = await asked("Find books with the title Dune", tmp_path, executor)
    assert [name for name, _ in executor.made] == ["search_books"]
    assert found.end
    assert found.end.outcome == "gave_up"
    assert found.end.answer.startswith(
        "This could not be answered: Books Set/search_books could not be called: old.test"
    )
    assert found.end.answer.count("is not a public address") == 1


async def test_a_refused_host_is_not_asked_again(tmp_path: Path) -> None:
    tools = (*TOOLS[:2], at(NEW_WEATHER, "old.test"))
    executor = ScriptedExecutor(search_places=FOUND, get_forecast=refused, get_daily_forecast=FORECAST)
    await asked("What is the weather forecast for Paris?", tmp_path, executor, tools)
    assert [name for name, _ in executor.made] == ["search_places", "get_forecast"]
