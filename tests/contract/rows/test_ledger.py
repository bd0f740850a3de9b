"""Calls that change something are in the ledger before they are made, and are made once."""

import asyncio

import pytest

from agent.execution.call_cache import CUT_OFF_NOTE
from agent.execution.executor import CallResult
from domain.errors import ForbiddenAddressError, NotAllowedError, StoreBusyError
from domain.model import JsonObject
from domain.plan import Binding
from domain.tool import ToolDoc, ToolId
from server.runs.call_layers import LedgerExecutor, build_attempt_key, build_ledger_key
from server.storage.permissions import get_call_target
from server.storage.storage import Storage
from tests.support.row_samples import run, user
from tests.support.small_world import BOOKS, REMOVE

DUNE: JsonObject = {"title": "Dune"}
AGAIN = REMOVE.model_copy(update={"idempotent": True})
DONE = CallResult(
    "ok", '{"gone": true}', 200, 2, "a note", 0.25, (Binding(parameter="key", origin="secret", reference="books"),)
)


OLD_KEY = "6d143e2ed8c1aa1820d2be159277a114ba4713118ade1f9f4a39d1f1a31084b2"


class Calls:
    """An executor that answers ``DONE``, or does what it is told to, and counts."""

    name = "counting"

    def __init__(self, error: BaseException | None = None) -> None:
        self.error = error
        self.asked: list[tuple[ToolId, JsonObject, str]] = []

    @property
    def made(self) -> int:
        return len(self.asked)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.asked.append((tool.id, arguments, identity))
        if self.error is not None:
            raise self.error
        return DONE

    async def close(self) -> None:
        return


async def a_run(storage: Storage) -> str:
    return (await run(storage, await user(storage)))[0].id


async def test_a_change_is_made_once_and_told_again(storage: Storage) -> None:
    run_id, calls = await a_run(storage), Calls()
    first = await LedgerExecutor(calls, storage.effects, run_id).call(REMOVE, DUNE)
    again = await LedgerExecutor(calls, storage.effects, run_id).call(REMOVE, DUNE)
    assert first == again == DONE
    assert calls.made == 1
    await LedgerExecutor(calls, storage.effects, run_id).call(REMOVE, {"title": "Emma"})
    assert calls.made == 2


async def test_of_one_that_was_begun_and_has_no_end_nobody_knows(storage: Storage) -> None:
    run_id = await a_run(storage)
    with pytest.raises(asyncio.CancelledError):
        await LedgerExecutor(Calls(asyncio.CancelledError()), storage.effects, run_id).call(AGAIN, DUNE)
    calls = Calls()
    unknown = await LedgerExecutor(calls, storage.effects, run_id).call(AGAIN, DUNE)
    assert unknown == CallResult("unknown", "", note=CUT_OFF_NOTE)
    assert calls.made == 0
    (begun,) = await storage.effects.list_all(run_id)
    assert (begun.run_id, begun.call_key, begun.tool) == (run_id, build_ledger_key(REMOVE.id, DUNE), REMOVE.id)
    assert (begun.method, begun.idempotent, begun.arguments) == ("DELETE", True, DUNE)
    assert (begun.finished_at, begun.outcome) == (None, None)
    assert begun.result == {"reach": get_call_target(REMOVE).model_dump()}


async def test_how_a_change_ended_is_written_down_with_where_it_went(storage: Storage) -> None:
    run_id, calls = await a_run(storage), Calls()
    ledger = LedgerExecutor(calls, storage.effects, run_id)
    await ledger.call(REMOVE, DUNE)
    await ledger.call(REMOVE, DUNE, "1:1:0#0")
    assert calls.asked == [(REMOVE.id, DUNE, ""), (REMOVE.id, DUNE, "1:1:0#0")]
    for identity in ("", "1:1:0#0"):
        ended = await storage.effects.get(run_id, build_ledger_key(REMOVE.id, DUNE, identity))
        assert ended is not None
        assert (ended.outcome, ended.finished_at is not None) == ("ok", True)
        assert ended.result is not None
        assert ended.result["reach"] == get_call_target(REMOVE).model_dump()
    assert ledger.name == "counting"


@pytest.mark.parametrize("identity", ["", "1:1:0#0"])
async def test_each_repetition_has_an_entry_of_its_own(storage: Storage, identity: str) -> None:
    run_id, calls = await a_run(storage), Calls()
    ledger = LedgerExecutor(calls, storage.effects, run_id)
    for _ in range(2):
        for number in (1, 2, 3):
            assert await ledger.make_attempt(REMOVE, DUNE, number, identity) == DONE
    assert calls.made == 3
    first = build_ledger_key(REMOVE.id, DUNE, identity)
    assert {one.call_key for one in await storage.effects.list_all(run_id)} == {first, f"{first}:2", f"{first}:3"}


async def test_no_repetition_is_made_of_what_was_never_begun_or_goes_elsewhere(storage: Storage) -> None:
    run_id, calls = await a_run(storage), Calls()
    ledger = LedgerExecutor(calls, storage.effects, run_id)
    with pytest.raises(NotAllowedError):
        await ledger.make_attempt(REMOVE, DUNE, 2)
    await ledger.make_attempt(REMOVE, DUNE)
    with pytest.raises(NotAllowedError):
        await ledger.make_attempt(REMOVE.model_copy(update={"url": "http://127.0.0.2/books"}), DUNE, 2)
    with pytest.raises(NotAllowedError):  # the first of another call
        await ledger.make_attempt(REMOVE, DUNE, 2, "1:1:0#0")
    assert calls.made == 1
    assert [one.call_key for one in await storage.effects.list_all(run_id)] == [build_ledger_key(REMOVE.id, DUNE)]


async def test_what_was_never_sent_is_known(storage: Storage) -> None:
    run_id = await a_run(storage)
    forbidden = Calls(ForbiddenAddressError("not there"))
    with pytest.raises(ForbiddenAddressError):
        await LedgerExecutor(forbidden, storage.effects, run_id).call(REMOVE, DUNE)
    told = await LedgerExecutor(Calls(), storage.effects, run_id).call(REMOVE, DUNE)
    assert told == CallResult("caller_fault", "", attempts=0, note="not there")
    (entry,) = await storage.effects.list_all(run_id)
    assert entry.result is not None
    assert entry.result["reach"] == get_call_target(REMOVE).model_dump()


@pytest.mark.parametrize("number", [1, 2])
async def test_what_a_passing_fault_kept_from_being_sent_is_made_by_the_run_that_goes_on(
    storage: Storage, number: int
) -> None:
    run_id, busy, calls = await a_run(storage), Calls(StoreBusyError("the keys cannot be read just now")), Calls()
    for _ in range(number - 1):
        assert await LedgerExecutor(calls, storage.effects, run_id).make_attempt(REMOVE, DUNE) == DONE
    with pytest.raises(StoreBusyError):
        await LedgerExecutor(busy, storage.effects, run_id).make_attempt(REMOVE, DUNE, number)
    assert len(await storage.effects.list_all(run_id)) == number - 1
    assert await LedgerExecutor(calls, storage.effects, run_id).make_attempt(REMOVE, DUNE, number) == DONE
    assert calls.made == number


async def test_what_changes_nothing_is_not_written_down(storage: Storage) -> None:
    run_id, calls = await a_run(storage), Calls()
    for identity in ("", "1:1:0#0"):
        assert await LedgerExecutor(calls, storage.effects, run_id).call(BOOKS, DUNE, identity) == DONE
    await LedgerExecutor(calls, storage.effects, run_id).call(BOOKS, DUNE)
    assert calls.asked == [(BOOKS.id, DUNE, ""), (BOOKS.id, DUNE, "1:1:0#0"), (BOOKS.id, DUNE, "")]
    assert await storage.effects.list_all(run_id) == []


async def test_events_are_stored_before_a_change_is_made(storage: Storage) -> None:
    run_id, calls = await a_run(storage), Calls()
    seen: list[int] = []

    async def told() -> None:
        seen.append(calls.made)

    await LedgerExecutor(calls, storage.effects, run_id, told).call(REMOVE, DUNE)
    await LedgerExecutor(calls, storage.effects, run_id, told).call(BOOKS, DUNE)
    assert seen == [0]


async def test_identical_changes_of_a_program_are_two_and_each_is_made_once(storage: Storage) -> None:
    run_id, calls = await a_run(storage), Calls()
    for _ in range(2):
        for identity in ("1:1:0#0", "1:1:9#0", ""):
            await LedgerExecutor(calls, storage.effects, run_id).call(REMOVE, DUNE, identity)
    assert calls.made == 3


def test_the_key_of_a_call_of_no_program_is_what_it_always_was() -> None:
    assert build_ledger_key(ToolId("a/b/c"), {"n": 1}) == OLD_KEY
    assert build_ledger_key(ToolId("a/b/c"), {"n": 1}, "1:1:0#0") != OLD_KEY


def test_the_order_of_arguments_makes_no_other_call() -> None:
    tool = ToolId("a/b/c")
    assert build_ledger_key(tool, {"a": 1, "b": {"c": 2, "d": 3}}) == build_ledger_key(
        tool, {"b": {"d": 3, "c": 2}, "a": 1}
    )


def test_the_first_attempt_is_the_call_and_each_other_one_is_not() -> None:
    tool = ToolId("a/b/c")
    keys = [build_attempt_key(tool, {}, number) for number in (1, 2, 3)]
    assert keys == [build_ledger_key(tool, {}), f"{keys[0]}:2", f"{keys[0]}:3"]
    assert build_attempt_key(tool, {}, 1, "1:1:0#0") == build_ledger_key(tool, {}, "1:1:0#0")
