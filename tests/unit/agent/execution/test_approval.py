"""Calls are approved before they are sent, and changes are counted."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager

import pytest

from agent.budget import Budget, BudgetMeter
from agent.execution.approval import (
    AllowChangesApprover,
    AnnouncedCall,
    AnnouncedCallRegistry,
    ApprovedExecutor,
    Approver,
    DenyChangesApprover,
    DryRunApprover,
    HostIsolationApprover,
    IntendedCall,
)
from agent.execution.executor import CallResult
from agent.execution.provenance import CallProvenance, ProvenanceTracker, RunStatements
from agent.policy.protocol import PolicyCost
from domain.errors import ForbiddenAddressError, NotAllowedError
from domain.model import JsonObject
from domain.provenance import HostCrossing
from domain.tool import ToolDoc
from tests.support.small_world import BOOKS, REMOVE

OK = CallResult("ok", "{}")
AMBIGUOUS = BOOKS.model_copy(update={"id": "c/t/purge_books", "api": "purge_books"})
"""Called by GET, and its name says otherwise."""


class Calls:
    """An executor that answers as it is told; ``made``: what came to be sent."""

    name = "scripted"

    def __init__(self, answer: Callable[[], CallResult] = lambda: OK) -> None:
        self._answer = answer
        self.made: list[tuple[str, JsonObject]] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        await asyncio.sleep(0)
        answer = self._answer()
        self.made.append((tool.api, arguments))
        return answer

    async def close(self) -> None:
        """Nothing is open."""


def approved(calls: Calls, approver: Approver, changes: int = 10) -> tuple[ApprovedExecutor, BudgetMeter]:
    meter = BudgetMeter(Budget(changes=changes), PolicyCost())
    return ApprovedExecutor(
        calls, approver, ProvenanceTracker(RunStatements(user_messages=("Delete Dune",))), meter
    ), meter


@pytest.mark.parametrize("tool", [REMOVE, AMBIGUOUS], ids=["known to change", "unknown"])
@pytest.mark.parametrize(
    "approver",
    [DenyChangesApprover("Ask nicely."), DryRunApprover(lambda call: None), AllowChangesApprover({"a.example"})],
)
async def test_what_is_not_known_to_read_is_not_sent(tool: ToolDoc, approver: Approver) -> None:
    executor, meter = approved(calls := Calls(), approver)
    with pytest.raises(NotAllowedError, match=f"{tool.api} was not called"):
        await executor.call(tool, {"title": "Dune"})
    assert (calls.made, meter.changes) == ([], 0)
    await executor.call(BOOKS, {"title": "Dune"})
    assert calls.made == [("search_books", {"title": "Dune"})]


async def test_who_denies_says_how_it_is_allowed() -> None:
    executor, _ = approved(Calls(), DenyChangesApprover("Ask nicely."))
    with pytest.raises(NotAllowedError, match=r"called by DELETE\. Nobody could be asked\. Ask nicely\."):
        await executor.call(REMOVE, {"title": "Dune"})


async def test_changes_are_allowed_at_the_given_hosts() -> None:
    for hosts in (None, {"127.0.0.1"}):
        executor, meter = approved(calls := Calls(), AllowChangesApprover(hosts))
        await executor.call(REMOVE, {"title": "Dune"})
        assert (calls.made, meter.changes) == ([("delete_book", {"title": "Dune"})], 1)


async def test_a_dry_run_shows_the_call_with_the_origins_of_its_values() -> None:
    shown: list[IntendedCall] = []
    executor, _ = approved(Calls(), DryRunApprover(shown.append))
    with pytest.raises(NotAllowedError, match="dry run"):
        await executor.call(REMOVE, {"title": "Dune"})
    (call,) = shown
    assert (call.tool, call.arguments) == (REMOVE, {"title": "Dune"})
    assert [(one.parameter, one.kind) for one in call.provenance.origins] == [("title", "said")]


async def test_a_value_of_another_host_is_kept_back_also_from_a_read_and_where_changes_are_allowed() -> None:
    crossing = HostCrossing(source="a.example", target="b.example", parameter="title")
    for tool in (BOOKS, REMOVE):
        with pytest.raises(NotAllowedError, match="FOOTPATH_FLOWS=allow"):
            async with HostIsolationApprover(AllowChangesApprover()).approve(
                IntendedCall(tool, {}, CallProvenance((), (crossing,)))
            ):
                pass
    with pytest.raises(NotAllowedError, match="Nobody could be asked"):
        async with HostIsolationApprover(DenyChangesApprover()).approve(IntendedCall(REMOVE, {})):
            pass


@pytest.mark.parametrize("at_once", [False, True])
async def test_no_more_changes_are_sent_than_the_budget_has(at_once: bool) -> None:
    executor, meter = approved(calls := Calls(), AllowChangesApprover(), changes=2)
    wanted = [executor.call(REMOVE, {"title": title}) for title in ("Dune", "Emma", "Ulysses")]
    if at_once:
        ended = await asyncio.gather(*wanted, return_exceptions=True)
    else:
        ended = [await asyncio.gather(one, return_exceptions=True) for one in wanted]
        ended = [one for (one,) in ended]
    refused = [one for one in ended if isinstance(one, NotAllowedError)]
    assert (len(calls.made), len(refused), meter.changes) == (2, 1, 2)
    assert "a run may make 2 changes (FOOTPATH_MAX_CHANGES), and may make no more" in str(refused[0])
    assert (await executor.call(BOOKS, {"title": "Dune"})) == OK


async def test_beyond_the_budget_nobody_is_asked() -> None:
    shown: list[IntendedCall] = []
    executor, _ = approved(Calls(), DryRunApprover(shown.append), changes=0)
    with pytest.raises(NotAllowedError, match="may make 0 changes"):
        await executor.call(REMOVE, {"title": "Dune"})
    assert shown == []


def _forbidden() -> CallResult:
    raise ForbiddenAddressError("not there")


async def test_what_was_not_sent_is_not_counted() -> None:
    for answer in (_forbidden, lambda: CallResult("caller_fault", "", attempts=0)):
        executor, meter = approved(Calls(answer), AllowChangesApprover())
        await asyncio.gather(executor.call(REMOVE, {"title": "Dune"}), return_exceptions=True)
        assert meter.changes == 0


async def test_what_may_have_been_sent_is_counted() -> None:
    executor, meter = approved(Calls(lambda: CallResult("unknown", "")), AllowChangesApprover())
    await executor.call(REMOVE, {"title": "Dune"})
    assert meter.changes == 1


async def test_what_was_cut_off_is_counted() -> None:
    begun = asyncio.Event()

    class Endless(Calls):
        async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
            begun.set()
            await asyncio.Event().wait()
            return OK

    executor, meter = approved(Endless(), AllowChangesApprover())
    task = asyncio.create_task(executor.call(REMOVE, {"title": "Emma"}))
    await begun.wait()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert meter.changes == 1


class _Slow:
    """Takes its time to answer, as people do."""

    def __init__(self, now: list[float]) -> None:
        self._now = now

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[None]:
        self._now[0] += 1_000
        yield
        self._now[0] += 1


async def test_what_the_approver_takes_is_none_of_the_runs_time() -> None:
    now = [0.0]
    meter = BudgetMeter(Budget(), PolicyCost(), clock=lambda: now[0])
    await ApprovedExecutor(Calls(), _Slow(now), ProvenanceTracker(RunStatements()), meter).call(
        BOOKS, {"title": "Dune"}
    )
    assert meter.elapsed == 1


@pytest.mark.parametrize(
    ("identity", "again"), [("1:1:9#0", False), ("1:2:0#0", True), ("2:1:0#0", True)], ids=["same", "repair", "other"]
)
async def test_what_another_program_has_done_is_not_done_again_unasked(identity: str, again: bool) -> None:
    calls = Calls()
    executor, _ = approved(calls, AllowChangesApprover())
    await executor.call(REMOVE, {"title": "Dune"}, "1:1:0#0")
    if again:
        with pytest.raises(NotAllowedError, match="made before in this run"):
            await executor.call(REMOVE, {"title": "Dune"}, identity)
    else:
        await executor.call(REMOVE, {"title": "Dune"}, identity)
    assert len(calls.made) == 2 - again


async def test_a_text_that_is_written_anew_changes_nothing_more_with_the_same_tool_unasked() -> None:
    told, calls = AnnouncedCallRegistry(), Calls()
    meter = BudgetMeter(Budget(), PolicyCost())
    executor = ApprovedExecutor(
        calls, AllowChangesApprover(), ProvenanceTracker(RunStatements()), meter, announced_calls=told
    )
    await executor.call(REMOVE, {"title": "Dune"}, "1:1:0#0")
    with pytest.raises(NotAllowedError, match="made before in this run"):
        await executor.call(REMOVE, {"title": "dune"}, "1:2:0#0")
    told.add([AnnouncedCall("1:3:0#0", REMOVE, {"title": "Emma"}, earlier_cells=frozenset({"1:1"}))])
    await executor.call(REMOVE, {"title": "Emma"}, "1:3:0#0")  # a further cell of the first
    await executor.call(REMOVE, {"title": "Ulysses"}, "2:1:0#0")  # another subtask
    assert len(calls.made) == 3


class Corrects:
    """A user who puts these in place of a call's arguments."""

    def __init__(self, arguments: JsonObject) -> None:
        self._arguments = arguments

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        yield self._arguments


async def test_a_correction_of_true_to_one_is_made() -> None:
    executor, _ = approved(calls := Calls(), Corrects({"title": 1}))
    result = await executor.call(REMOVE, {"title": True})
    assert result.corrected == {"title": 1}
    assert [type(arguments["title"]) for _, arguments in calls.made] == [int]
