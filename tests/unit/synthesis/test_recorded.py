"""Mining without leave to call: recorded calls of the same arguments answer, and nothing else does."""

import json
from pathlib import Path

from agent.execution.executor import CallResult
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from domain.trajectory import RecordedCall, RecordedOutcome
from graph.backends.sqlite_recordings import SqliteRecordings
from synthesis.input_values import InputValueFinder
from synthesis.program_trial import ReadOnlyCaller, RecordedExecutor
from synthesis.solution_builder import CombinationOutcome, SolutionBuilder
from tests.unit.synthesis.library_service import TOOLS, ReadersService, sandbox
from tests.unit.synthesis.test_forging import one

COMBINATION = one("searchPerson getPersonBooks", "name", "[].title")


class Recorder(ReadersService):
    """The service, with what it was asked and answered written down."""

    def __init__(self) -> None:
        super().__init__()
        self.kept: list[tuple[ToolId, RecordedCall]] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        result = await super().call(tool, arguments, identity)
        recorded = RecordedCall(
            tool.category, tool.toolset, tool.function, json.dumps(arguments), result.body, RecordedOutcome.OK
        )
        self.kept.append((tool.id, recorded))
        return result


async def mined(path: Path, calls: list[tuple[ToolId, RecordedCall]]) -> CombinationOutcome:
    recordings = SqliteRecordings(path)
    await recordings.setup()
    try:
        await recordings.add("calls", calls)
        recorded = RecordedExecutor(recordings)
        reading = ReadOnlyCaller(recorded)
        return await SolutionBuilder(
            sandbox(), reading, InputValueFinder(TOOLS, reading, recorded), recorded=recorded
        ).build_solutions(COMBINATION)
    finally:
        await recordings.close()


async def test_recorded_calls_prove_a_solution(tmp_path: Path) -> None:
    service = Recorder()
    reading = ReadOnlyCaller(service)
    live = await SolutionBuilder(sandbox(), reading, InputValueFinder(TOOLS, reading)).build_solutions(COMBINATION)
    recorded = await mined(tmp_path / "recordings.db", service.kept)
    assert [each.patterns for each in recorded.solutions] == [each.patterns for each in live.solutions]
    assert recorded.solutions


async def test_a_recorded_call_of_other_arguments_proves_nothing(tmp_path: Path) -> None:
    service = Recorder()
    by_name = {tool.api: tool for tool in TOOLS}
    await service.call(by_name["searchPerson"], {"name": "Ada Byron"})
    await service.call(by_name["getPersonBooks"], {"person_id": "45c48cce2e2d7fbdea1afc51"})
    made = await mined(tmp_path / "recordings.db", service.kept)
    assert not made.solutions
    assert made.dropped["no recorded call has these arguments"] == made.intents
