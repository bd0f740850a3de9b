"""A call of a tool that is hidden from its user by now, whoever named it."""

import asyncio

import pytest

from agent.execution.executor import CallResult
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from server.runs.call_layers import StopCheckExecutor, VisibleExecutor
from tests.support.small_world import BOOKS, GEOCODE

CHANGE = BOOKS.model_copy(update={"method": "POST"})


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


async def test_before_a_read_both_questions_are_asked_at_once_and_either_keeps_it_from_being_made() -> None:
    calls, hidden, stops = Calls(), {BOOKS.id}, list[str]()
    asked, both = list[str](), asyncio.Barrier(2)
    why: str | None = None

    async def hidden_tools() -> frozenset[ToolId]:
        asked.append("hidden")
        await both.wait()
        return frozenset(hidden)

    async def stopped() -> str | None:
        asked.append("stopped")
        await both.wait()
        return why

    inner = VisibleExecutor(calls, hidden_tools, changes_only=True)
    executor = StopCheckExecutor(inner, stopped, stops.append, hidden_tools)
    async with asyncio.timeout(5):
        assert (await executor.call(BOOKS, {})).outcome == "refused"
        assert (await executor.call(GEOCODE, {})).outcome == "ok"
    assert (calls.made, len(asked), stops) == ([GEOCODE.id], 4, [])
    why = "enough"
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.1):
            await executor.call(GEOCODE, {})
    assert (calls.made, stops) == ([GEOCODE.id], ["enough"])


async def test_before_a_change_the_tool_is_looked_up_as_late_as_can_be() -> None:
    calls, order = Calls(), list[str]()

    async def hidden_tools() -> frozenset[ToolId]:
        order.append("hidden")
        return frozenset({CHANGE.id})

    async def stopped() -> str | None:
        order.append("stopped")
        return None

    inner = VisibleExecutor(calls, hidden_tools, changes_only=True)
    executor = StopCheckExecutor(inner, stopped, order.append, hidden_tools)
    assert (await executor.call(CHANGE, {})).outcome == "refused"
    assert (calls.made, order) == ([], ["stopped", "hidden"])
