"""One run's calls: identical ones, at once or one after the other, and hosts that do not answer."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from agent.execution.call_cache import MAX_HOST_FAILURES, CachingExecutor
from agent.execution.executor import CallResult
from domain.errors import ForbiddenAddressError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.tool import ToolDoc, make_tool_id


def tool(api: str, method: str = "GET", host: str = "one.example") -> ToolDoc:
    return ToolDoc(id=make_tool_id("c", "t", api), category="c", toolset="t", api=api, function=api, method=method, url=f"http://{host}/{api}")  # fmt: skip


class Counting:
    """An executor that counts its calls and answers after a moment."""

    name = "counting"

    def __init__(self, answer: Callable[[int], Awaitable[CallResult]]) -> None:
        self.calls = 0
        self._answer = answer

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.calls += 1
        await asyncio.sleep(0)
        return await self._answer(self.calls)

    async def close(self) -> None: ...


def constantly(outcome: CallOutcome = "ok", *, reached: bool = True) -> Counting:
    async def answer(number: int) -> CallResult:
        return CallResult(outcome, str(number), reached=reached)

    return Counting(answer)


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_the_same_call_made_at_the_same_moment_is_made_once(method: str) -> None:
    inner = constantly()
    executor = CachingExecutor(inner)
    results = await asyncio.gather(*(executor.call(tool("a", method), {"n": 1, "m": 2}) for _ in range(5)))
    again = await executor.call(tool("a", method), {"m": 2, "n": 1})
    assert inner.calls == 1
    assert [result.body for result in (*results, again)] == ["1"] * 6
    assert [result.attempts for result in (*results, again)] == [1, 0, 0, 0, 0, 0]
    assert "Answered from the same call" in again.note


async def test_other_arguments_are_another_call() -> None:
    inner = constantly()
    executor = CachingExecutor(inner)
    await asyncio.gather(
        executor.call(tool("a"), {"n": 1}), executor.call(tool("a"), {"n": 2}), executor.call(tool("b"), {"n": 1})
    )
    assert inner.calls == 3


@pytest.mark.parametrize(("method", "made", "outcome"), [("GET", 2, "ok"), ("POST", 1, "unknown")])
async def test_a_call_that_was_cut_off_is_made_again_only_where_it_changes_nothing(
    method: str, made: int, outcome: str
) -> None:
    async def slow_at_first(number: int) -> CallResult:
        await asyncio.sleep(60 if number == 1 else 0)
        return CallResult("ok", str(number))

    inner = Counting(slow_at_first)
    executor = CachingExecutor(inner)
    first = asyncio.create_task(executor.call(tool("a", method), {}))
    second = asyncio.create_task(executor.call(tool("a", method), {}))
    await asyncio.sleep(0.01)
    first.cancel()
    result = await second
    assert (inner.calls, result.outcome) == (made, outcome)


async def test_a_refusal_before_sending_is_told_each_time() -> None:
    async def refuse(number: int) -> CallResult:
        raise ForbiddenAddressError("10.0.0.1 is not a public address")

    executor = CachingExecutor(Counting(refuse))
    for _ in range(2):
        with pytest.raises(ForbiddenAddressError):
            await executor.call(tool("a", "POST"), {})


async def test_a_host_that_cannot_be_reached_is_not_called_again() -> None:
    inner = constantly("gone", reached=False)
    executor = CachingExecutor(inner)
    await executor.call(tool("a"), {})
    result = await executor.call(tool("b"), {})
    assert (inner.calls, result.outcome, result.attempts) == (1, "transient", 0)
    assert "one.example could not be reached before in this run" in result.note
    assert (await executor.call(tool("b", host="two.example"), {})).attempts == 1


async def test_a_host_that_keeps_failing_is_left_alone() -> None:
    inner = constantly("transient")
    executor = CachingExecutor(inner)
    results = [await executor.call(tool(f"a{number}"), {}) for number in range(MAX_HOST_FAILURES + 3)]
    assert inner.calls == MAX_HOST_FAILURES
    assert "failed 4 times in a row in this run" in results[-1].note


async def test_a_success_between_failures_starts_the_count_anew() -> None:
    async def every_third(number: int) -> CallResult:
        return CallResult("transient" if number % 3 else "ok", "")

    inner = Counting(every_third)
    executor = CachingExecutor(inner)
    for number in range(12):
        await executor.call(tool(f"a{number}"), {})
    assert inner.calls == 12


async def test_each_identity_is_a_call_of_its_own_for_changes() -> None:
    inner = constantly()
    executor = CachingExecutor(inner)
    results = [await executor.call(tool("a", "POST"), {}, identity) for identity in ("1:1:0#0", "1:1:9#0", "1:1:0#0")]
    assert (inner.calls, [result.attempts for result in results]) == (2, [1, 1, 0])
    assert (await executor.call(tool("a", "POST"), {})).attempts == 0, "a plan that is no program does nothing twice"


async def test_what_programs_read_is_fresh_while_nothing_has_changed() -> None:
    inner = constantly()
    executor = CachingExecutor(inner)
    assert (await executor.call(tool("a"), {}, "1:1:0#0")).attempts == 1
    assert (await executor.call(tool("a"), {}, "1:1:9#0")).attempts == 0
    assert (await executor.call(tool("a"), {})).attempts == 0
    await executor.call(tool("b", "POST"), {})
    assert (await executor.call(tool("a"), {}, "1:1:20#0")).attempts == 1
    assert inner.calls == 3


async def test_what_was_read_while_something_changed_is_read_anew() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(number: int) -> CallResult:
        if number == 1:
            begun.set()
            await go_on.wait()
        return CallResult("ok", str(number))

    executor = CachingExecutor(Counting(slow))
    reading = asyncio.create_task(executor.call(tool("a"), {}, "1:1:0#0"))
    await begun.wait()
    await executor.call(tool("b", "POST"), {}, "1:1:5#0")
    go_on.set()
    assert (await reading).body == "1"
    assert (await executor.call(tool("a"), {}, "1:1:9#0")).body == "3"


async def test_what_was_lived_before_a_break_counts_as_made_now() -> None:
    inner = constantly()
    executor = CachingExecutor(inner)
    executor.record_replayed_call(
        tool("a"), {}, "1:1:0#0", CallResult("ok", "before"), executor.begin_replayed_call(tool("a"))
    )
    assert (await executor.call(tool("a"), {}, "1:1:9#0")).body == "before"
    change = tool("b", "POST")
    executor.record_replayed_call(change, {}, "1:1:5#0", CallResult("ok", "done"), executor.begin_replayed_call(change))
    assert (await executor.call(tool("b", "POST"), {}, "1:1:5#0")).body == "done"
    assert (await executor.call(tool("a"), {}, "1:1:20#0")).body == "1"


async def test_what_was_read_beside_a_change_before_a_break_is_read_anew() -> None:
    inner = constantly()
    executor = CachingExecutor(inner)
    read, change = tool("a"), tool("b", "POST")
    began, changing = executor.begin_replayed_call(read), executor.begin_replayed_call(change)
    executor.record_replayed_call(change, {}, "1:1:5#0", CallResult("ok", "done"), changing)
    executor.record_replayed_call(read, {}, "1:1:0#0", CallResult("ok", "old or new"), began)
    assert (await executor.call(read, {}, "1:1:9#0")).body == "1"
