"""An answer about something else than the request names is none, and what no call took is told."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from agent.execution.approval import AllowChangesApprover
from agent.execution.executor import CallResult
from agent.execution.replay import ReplayExecutor
from agent.policy.protocol import ArgumentsQuestion, CallArguments
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import Parameter, ToolDoc
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.backends.sqlite_recordings import SqliteRecordings
from offline.policy import OfflinePolicy
from offline.reader import EnglishReader
from tests.flows.test_runs import answer, asked, outcome
from tests.support.run_deps import build_deps
from tests.support.small_world import ScriptedExecutor, finder, graph, ok, tool

REQUEST = "What is the weather forecast in Lisbon?"
AT_POINT = tool(
    "Weather", "forecast_at_point", "Weather forecast of the next days at a point.",
    [Parameter(name="latitude", type="number", required=True, default=46.95), Parameter(name="longitude", type="number", required=True, default=10.87)],
)  # fmt: skip
BY_NAME = tool(
    "Weather", "forecast_by_name", "Weather forecast of the next days.",
    [Parameter(name="days", type="integer", required=True, default=3), Parameter(name="location", description="Name of the place.", default="Berlin")],
)  # fmt: skip
STATUS = tool("Weather", "service_status", "Status of the weather forecast service.", [])
TYROL = ok({"items": [{"date": "2023-07-04", "text": "cloudy"}]})


class Trusting(OfflinePolicy):
    """Fills whatever has a default with it, as a model may."""

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        given: JsonObject = {one.name: one.default for one in question.tool.parameters if one.default is not None}
        return CallArguments(given, tuple(Binding(parameter=name, origin="default") for name in given))


async def run(
    folder: Path, executor: ScriptedExecutor | ReplayExecutor, tools: list[ToolDoc], policy: OfflinePolicy
) -> tuple[str, str]:
    store = await graph([(tool,) for tool in tools], tools)
    _, transcript = await asked(
        REQUEST,
        build_deps(
            store,
            await finder(folder, tools),
            policy,
            executor,
            approver=AllowChangesApprover(),
            reader=EnglishReader(),
        ),
    )
    return outcome(transcript), answer(transcript)


async def test_a_default_gives_way_to_what_the_request_names(tmp_path: Path) -> None:
    executor = ScriptedExecutor(forecast_at_point=TYROL, forecast_by_name=ok({"place": "Lisbon", "text": "sunny"}))
    ended, said = await run(tmp_path, executor, [AT_POINT, BY_NAME], OfflinePolicy())
    assert executor.made == [("forecast_by_name", {"days": 3, "location": "Lisbon"})]
    assert (ended, "sunny" in said) == ("answered", True)


async def test_where_nothing_takes_it_there_is_no_answer(tmp_path: Path) -> None:
    executor = ScriptedExecutor(forecast_at_point=TYROL)
    ended, _ = await run(tmp_path, executor, [AT_POINT], OfflinePolicy())
    assert (ended, executor.made) == ("gave_up", [])


async def test_a_policy_that_trusts_defaults_has_not_answered(tmp_path: Path) -> None:
    ended, said = await run(tmp_path, ScriptedExecutor(forecast_at_point=TYROL), [AT_POINT], Trusting())
    assert ended == "gave_up"
    assert "Not what was asked for: forecast_at_point was called with its document's latitude 46.95" in said
    assert "No call was made for: “Lisbon”." in said


async def test_calls_that_have_to_do_with_nothing_named_are_no_answer(tmp_path: Path) -> None:
    ended, said = await run(tmp_path, ScriptedExecutor(service_status=ok({"status": "up"})), [STATUS], OfflinePolicy())
    assert ended == "gave_up"
    assert "No call was made for: “Lisbon”." in said


@asynccontextmanager
async def recording(folder: Path, arguments: str) -> AsyncGenerator[SqliteRecordings]:
    """One recorded call."""
    made = SqliteRecordings(folder / "recordings.db")
    await made.setup()
    call = RecordedCall(
        BY_NAME.category, BY_NAME.toolset, BY_NAME.api, arguments, '{"text": "cloudy"}', RecordedOutcome.OK
    )
    await made.add("one", [(BY_NAME.id, call)])
    yield made
    await made.close()


@pytest.mark.parametrize(
    ("recorded", "ended"),
    [("{'days': 3, 'location': 'Lisbon'}", "answered"), ("{'days': 5, 'location': 'Lisbon'}", "answered"), ("{'days': 3, 'location': 'Lisboa Sul'}", "gave_up")],
)  # fmt: skip
async def test_a_recorded_answer_is_for_what_was_recorded(tmp_path: Path, recorded: str, ended: str) -> None:
    async with recording(tmp_path, recorded) as recordings:
        found, said = await run(tmp_path, ReplayExecutor(recordings), [BY_NAME], OfflinePolicy())
    assert found == ended
    assert ("was asked for location Lisbon, and the recorded answer is for Lisboa Sul" in said) == (ended == "gave_up")


async def test_a_tool_that_bears_the_name_needs_no_argument_for_it(tmp_path: Path) -> None:
    own = tool("Weather", "lisbon_forecast", "Weather forecast in Lisbon.", [])
    made: list[JsonObject] = []

    def forecast(arguments: JsonObject) -> CallResult:
        made.append(arguments)
        return CallResult("ok", '{"text": "sunny"}', 200)

    ended, said = await run(tmp_path, ScriptedExecutor(lisbon_forecast=forecast), [own], OfflinePolicy())
    assert (ended, made, "No call was made for" in said) == ("answered", [{}], False)
