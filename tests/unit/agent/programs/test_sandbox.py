"""Programs in the sandbox: their stops, their values over several cells, and their end at any point."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from agent.programs.program_types import (
    CallFailure,
    LookRequest,
    PendingCalls,
    ProgramError,
    ReturnedValue,
    SandboxCall,
    SandboxLimits,
)
from agent.programs.sandbox import MontySandbox
from tests.support.scripted_host import driven

LIMITS = SandboxLimits(seconds=1, memory=20_000_000, workers=2, calls=60)


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(LIMITS, patience=0.05)
    yield made
    await made.close()


async def test_a_call_is_told_with_its_place_and_goes_on_with_its_answer(sandbox: MontySandbox) -> None:
    text = 'é = "ü"\nfound = await find(name=é)\nfound["id"]'
    async with sandbox.open_session() as session:
        stop = await session.start(text, {})
        assert isinstance(stop, PendingCalls)
        (call,) = stop.calls
        assert (call.function, call.arguments) == ("find", {"name": "ü"})
        assert text.encode()[call.start : call.end].decode() == "find(name=é)"
        assert await session.resume({call.id: {"id": 7}}) == ReturnedValue(7)


async def test_calls_of_a_gather_stand_side_by_side_and_are_answered_in_any_order(sandbox: MontySandbox) -> None:
    text = "import asyncio\nasync def one(n):\n    return await find(n=n)\nawait asyncio.gather(*[one(n) for n in range(3)])"
    async with sandbox.open_session() as session:
        first = await session.start(text, {})
        assert isinstance(first, PendingCalls)
        assert len(first.calls) == 3
        second = await session.resume({first.calls[1].id: "middle"})
        assert isinstance(second, PendingCalls)
        assert len(second.calls) == 2
        assert await session.resume({call.id: call.arguments["n"] for call in second.calls}) == ReturnedValue(
            [0, "middle", 2]
        )


async def test_a_failed_call_raises_a_tool_error_with_its_words(sandbox: MontySandbox) -> None:
    caught = "try:\n    await find(n=1)\nexcept ToolError as error:\n    told = str(error)\ntold"
    async with sandbox.open_session() as session:
        assert await driven(session, caught, lambda _: CallFailure("HTTP 404 \ud800")) == ReturnedValue("HTTP 404 �")
        broken = await driven(session, "\n\nawait find(n=1)", lambda _: CallFailure("HTTP 500"))
        assert broken == ProgramError("RuntimeError", "HTTP 500", line=3)
        assert await driven(session, "told") == ReturnedValue("HTTP 404 �"), "names stay"


async def test_a_look_ends_the_cell_and_the_names_stay(sandbox: MontySandbox) -> None:
    async with sandbox.open_session() as session:
        assert await driven(session, "x = [1]\nlook(x, {1})\nx.append(2)") == LookRequest(([1], [1]))
        assert await driven(session, "x") == ReturnedValue([1])


async def test_a_look_that_is_caught_ends_the_session(sandbox: MontySandbox) -> None:
    async with sandbox.open_session() as session:
        stop = await driven(session, "try:\n    look(1)\nexcept BaseException:\n    pass\nawait find(n=1)")
        assert isinstance(stop, ProgramError)
        assert stop.lost


async def test_a_function_of_an_earlier_cell_calls_from_there(sandbox: MontySandbox) -> None:
    calls: list[SandboxCall] = []

    def answer(call: SandboxCall) -> str:
        calls.append(call)
        return "x"

    async with sandbox.open_session() as session:
        await driven(session, "async def one():\n    return await find(n=1)\n1")
        await driven(session, "await one()", answer)
        await driven(session, "await find(n=2)", answer)
    assert [(call.back, call.start) for call in calls] == [(1, 34), (0, 6)]


async def test_what_waits_long_holds_no_worker(sandbox: MontySandbox) -> None:
    async with sandbox.open_session() as one, sandbox.open_session() as two, sandbox.open_session() as three:
        waiting = [await session.start("kept = 5\nkept + await find(n=1)", {}) for session in (one, two)]
        assert await driven(three, "1") == ReturnedValue(1), "both workers are held by what waits, and left by it"
        for session, stop in zip((one, two), waiting, strict=True):
            assert isinstance(stop, PendingCalls)
            assert await session.resume({stop.calls[0].id: 2}) == ReturnedValue(7)
        await asyncio.sleep(0.2)
        assert await driven(one, "kept") == ReturnedValue(5), "between cells too"
        broken = await driven(one, "\nkept[0]")
        assert isinstance(broken, ProgramError)
        assert broken.line == 2


@pytest.mark.parametrize("text", ["while True:\n    pass", "await find(n=1)"])
async def test_what_is_cancelled_leaves_nothing(sandbox: MontySandbox, text: str) -> None:
    async def run() -> None:
        async with sandbox.open_session() as session:
            await session.start(text, {})
            await asyncio.sleep(60)

    for _ in range(2 * LIMITS.workers):
        task = asyncio.create_task(run())
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    async with sandbox.open_session() as session:
        assert await driven(session, "1") == ReturnedValue(1)


async def test_a_session_that_is_closed_while_it_computes_ends(sandbox: MontySandbox) -> None:
    async with sandbox.open_session() as session:
        task = asyncio.create_task(session.start("while True:\n    pass", {}))
        await asyncio.sleep(0.1)
    stop = await task
    assert isinstance(stop, ProgramError)
    assert stop.lost


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("while True:\n    pass", "more than 1 seconds"),
        ("x = 'a' * 10**9", "more than 20000000 bytes"),
        ("for n in range(100):\n    await find(n=n)", "more than 60 calls"),
        ("while True:\n    try:\n        missing\n    except NameError:\n        pass", "asked too often"),
        ("while True:\n    print('x' * 1000)", "printed more than 100000"),
    ],
)
async def test_what_runs_out_is_told_and_costs_its_session(sandbox: MontySandbox, text: str, told: str) -> None:
    async with sandbox.open_session() as session:
        await driven(session, "kept = 1\nkept")
        stop = await driven(session, text)
        assert isinstance(stop, ProgramError)
        assert stop.lost
        assert told in stop.message
        again = await driven(session, "kept")
        assert isinstance(again, ProgramError)
        assert again.kind == "NameError"


async def test_the_clock_stands_and_chance_is_the_same_each_time(sandbox: MontySandbox) -> None:
    text = (
        "import datetime, random, time, asyncio\ntime.sleep(50)\nawait asyncio.sleep(50)\n"
        "await find(n=1)\n[str(datetime.datetime.now()), random.random(), time.time()]"
    )
    seen: list[object] = []
    for pause in (0, 0.2):
        async with sandbox.open_session() as session:
            stop = await session.start(text, {})
            assert isinstance(stop, PendingCalls)
            await asyncio.sleep(pause)
            seen.append(await session.resume({stop.calls[0].id: 1}))
    assert seen[0] == seen[1]
    assert isinstance(seen[0], ReturnedValue)


async def test_a_type_check_runs_nothing(sandbox: MontySandbox) -> None:
    stubs = "async def find(name: str) -> list[str]: ...\n"
    assert await sandbox.find_type_errors("while True:\n    pass", stubs) == ()
    (found,) = await sandbox.find_type_errors('x = 1\nawait find(name="a")\nawait find(name=x)', stubs)
    assert found.startswith("3:12: error[invalid-argument-type]")
    (unknown,) = await sandbox.find_type_errors(
        "import statistics\nlook(1)", stubs + "def look(*values: object) -> None: ...\n"
    )
    assert "unresolved-import" in unknown


async def test_a_closed_sandbox_starts_anew(sandbox: MontySandbox) -> None:
    async with sandbox.open_session() as session:
        assert await driven(session, "1") == ReturnedValue(1)
    await sandbox.close()
    async with sandbox.open_session() as session:
        assert await driven(session, "2") == ReturnedValue(2)
