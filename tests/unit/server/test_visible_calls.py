"""A call of a tool that is hidden from its user by now, whoever named it."""

from agent.execution.executor import CallResult
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from server.runs.visible_calls import VisibleExecutor
from tests.flows.small_world import BOOKS, GEOCODE


class Calls:
    """Counts calls, and makes none."""

    name = "counting"

    def __init__(self) -> None:
        self.made: list[ToolId] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        del arguments, identity
        self.made.append(tool.id)
        return CallResult("ok", "{}")

    async def close(self) -> None:
        """Nothing."""


async def test_it_is_not_made_and_says_why_and_is_no_evidence_against_the_tool() -> None:
    calls, hidden = Calls(), set[ToolId]()

    async def asked() -> frozenset[ToolId]:
        return frozenset(hidden)

    executor = VisibleExecutor(calls, asked)
    assert (await executor.call(BOOKS, {})).outcome == "ok"
    hidden.add(BOOKS.id)
    told = await executor.call(BOOKS, {})
    assert (told.outcome, told.reached) == ("refused", False)
    assert "not offered to you any more" in told.note
    assert (await executor.call(GEOCODE, {})).outcome == "ok"
    assert calls.made == [BOOKS.id, GEOCODE.id]
