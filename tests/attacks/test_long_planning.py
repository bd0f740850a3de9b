"""A request that is long to plan takes bounded processor time, its user's turn and nobody else's, and ends when its run does."""

import asyncio
import json
import threading
import time
from pathlib import Path

import pytest

from agent.programs.offered_functions import build_functions
from agent.programs.program_types import ProgramQuestion
from domain.tool import Parameter, ToolDoc, make_tool_id
from offline.planning_time import PlanningClock, PlanningTurns
from offline.sentences.author import rank_candidates, write_program
from offline.sentences.parsed_request import NamedPart
from tests.support.indexed_store import indexed_store
from tests.support.small_tools import FIND
from wiring.container import open_container
from wiring.settings import Settings

CONVERT = ToolDoc(
    id=make_tool_id("money", "rates", "convert_currency"), category="money", toolset="rates", api="convert_currency",
    function="convert_currency", method="GET", description="Convert an amount into another currency.",
    parameters=(
        Parameter(name="amount", type="number", required=True),
        Parameter(name="from_currency", required=True, description="Currency code, as EUR."),
        Parameter(name="to_currency", required=True, description="Currency code, as EUR."),
    ),
    example_response=json.dumps({"converted_amount": 1.5, "rate": 1.5, "currency": "EUR", "name": "Euro"}),
)  # fmt: skip
LIST = ToolDoc(
    id=make_tool_id("money", "rates", "list_currencies"), category="money", toolset="rates", api="list_currencies",
    function="list_currencies", method="GET", description="All currencies.",
    example_response=json.dumps({"currencies": [{"code": "EUR", "title": "Euro", "country": "Spain"}]}),
)  # fmt: skip


def question(times: int) -> ProgramQuestion:
    offer = build_functions((CONVERT, LIST, FIND), 2_000)
    text = "Convert 1 euro to yen and " * times
    return ProgramQuestion(request=text, offer=offer.offer, today="2026-05-04", docs=offer.docs)


class Counted:
    """A clock on which each look takes a second."""

    def __init__(self) -> None:
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return float(self.looks)


def test_a_value_and_a_span_are_compared_once_however_many_drafts_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    compared, holds = 0, NamedPart.holds

    def counting(value: NamedPart, span: object) -> bool:
        nonlocal compared
        compared += 1
        return holds(value, span)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(NamedPart, "holds", counting)
    counts: list[int] = []
    for times in (25, 50, 100):
        compared = 0
        assert rank_candidates(question(times))
        counts.append(compared)
    values = 3 * 100
    assert counts[-1] < values * values  # each draft compared them all: two millions


def test_planning_ends_at_the_step_at_which_its_time_is_over() -> None:
    looked = Counted()
    clock = PlanningClock(20, looked)
    clock.begin()
    told = write_program(clock, question(20))
    assert (told.text, "20 s of processor time" in told.why) == ("", True)
    assert looked.looks <= 23


async def test_a_run_that_has_taken_its_time_plans_no_more(tmp_path: Path) -> None:
    store = await indexed_store(tmp_path / "store", [CONVERT])
    async with open_container(Settings(store=store, planning_seconds=1e-9)) as container:
        policy = container.create_policy("offline", owner="ada")
        told = await policy.decide(question(2))
        assert (told.text, "FOOTPATH_PLANNING_SECONDS" in told.why) == ("", True)


async def test_a_cancelled_run_stops_planning(tmp_path: Path) -> None:
    del tmp_path
    turns, steps = PlanningTurns(600), list[int]()

    def endless(clock: PlanningClock) -> None:
        while True:
            clock.check()
            steps.append(1)
            time.sleep(0.001)

    planning = asyncio.create_task(turns.create_planning("ada").run_work(endless))
    while not steps:  # noqa: ASYNC110  # the thread tells nobody
        await asyncio.sleep(0.01)
    planning.cancel()
    with pytest.raises(asyncio.CancelledError):
        await planning
    made = len(steps)
    await asyncio.sleep(0.05)
    assert len(steps) == made
    async with asyncio.timeout(5):
        assert await turns.create_planning("eve").run_work(lambda clock: clock.seconds) == 600


async def test_another_user_plans_before_the_rest_of_who_has_asked_ten_times() -> None:
    turns, order = PlanningTurns(600), list[str]()

    def planned(clock: PlanningClock, user: str) -> None:
        order.append(user)
        begun = time.thread_time()
        while time.thread_time() - begun < 0.01:
            clock.check()

    ada = [asyncio.create_task(turns.create_planning("ada").run_work(planned, "ada")) for _ in range(10)]
    await asyncio.sleep(0)
    eve = asyncio.create_task(turns.create_planning("eve").run_work(planned, "eve"))
    await asyncio.gather(*ada, eve)
    assert (order.index("eve"), len(order)) == (1, 11)


async def test_what_is_short_to_plan_is_planned_before_the_rest_of_what_is_long() -> None:
    turns, begun, planned = PlanningTurns(20), threading.Event(), threading.Event()

    def long(clock: PlanningClock) -> str:
        begun.set()
        while not planned.is_set():
            clock.check()
        return "ended"

    ada = asyncio.create_task(turns.create_planning("ada").run_work(long))
    await asyncio.to_thread(begun.wait)
    await turns.create_planning("eve").run_work(lambda _: planned.set())
    assert await ada == "ended"
    assert turns.runs == 0


async def test_who_is_cancelled_between_two_slices_ends_at_once_and_keeps_nobody_waiting() -> None:
    turns, begun, leave, steps = PlanningTurns(600), threading.Event(), threading.Event(), list[int]()

    def long(clock: PlanningClock) -> None:
        begun.set()
        while True:
            clock.check()
            steps.append(1)

    ada = asyncio.create_task(turns.create_planning("ada").run_work(long))
    await asyncio.to_thread(begun.wait)
    eve = asyncio.create_task(turns.create_planning("eve").run_work(lambda _: leave.wait(30)))
    count = -1
    while count != len(steps):  # until ada's has made way for eve's
        count = len(steps)
        await asyncio.sleep(0.5)
    ada.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ada
    assert (len(steps), turns.runs) == (count, 1)
    leave.set()
    assert await eve
    assert await turns.create_planning("bob").run_work(lambda clock: clock.used_seconds) == 0


async def test_subtasks_of_one_run_are_planned_one_after_the_other() -> None:
    turns, under_way, most = PlanningTurns(600), list[int](), list[int]()
    of_run = turns.create_planning("ada")

    def piece(clock: PlanningClock) -> None:
        under_way.append(1)
        most.append(len(under_way))
        while not clock.used_seconds:  # to the end of its first slice
            clock.check()
        under_way.pop()

    await asyncio.gather(*(of_run.run_work(piece) for _ in range(3)))
    assert most == [1, 1, 1]


async def test_who_waits_and_is_cancelled_keeps_nobody_else_waiting() -> None:
    turns = PlanningTurns(600)
    entered, leave = asyncio.Event(), asyncio.Event()

    async def holds() -> None:
        async with turns.hold_turn("ada"):
            entered.set()
            await leave.wait()

    async def waits(user: str) -> str:
        async with turns.hold_turn(user):
            return user

    first = asyncio.create_task(holds())
    await entered.wait()
    gone, last = asyncio.create_task(waits("eve")), asyncio.create_task(waits("bob"))
    await asyncio.sleep(0)
    gone.cancel()
    leave.set()
    async with asyncio.timeout(5):
        assert await last == "bob"
        await first
