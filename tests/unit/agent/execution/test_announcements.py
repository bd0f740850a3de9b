"""What is told of a program's calls before they are made: batches, rounds, taint, and what the values are made of."""

import pytest

from agent.budget import Budget, BudgetMeter
from agent.execution.approval import (
    TAINTED_NOTE,
    AllowChangesApprover,
    AnnouncedCall,
    AnnouncedCallRegistry,
    ApprovedExecutor,
    Approver,
    DryRunApprover,
    IntendedCall,
    describe_approval_scope,
)
from agent.execution.executor import CallResult
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.policy.protocol import PolicyCost
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.provenance import Slice, Source
from domain.tool import ToolDoc
from tests.support.small_world import BOOKS, REMOVE

OTHER = REMOVE.model_copy(update={"id": "c/t/other"})


class Calls:
    """An executor that answers all; ``made``: the titles that came to be sent."""

    name = "scripted"

    def __init__(self) -> None:
        self.made: list[object] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.made.append(arguments["title"])
        return CallResult("ok", "{}")

    async def close(self) -> None:
        """Nothing is open."""


class Seen(AllowChangesApprover):
    """Allows all, and keeps what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.calls: list[IntendedCall] = []

    def approve(self, call: IntendedCall):  # as the base class's
        self.calls.append(call)
        return super().approve(call)


def announced(
    title: str, place: str = "1:1:7", tool: ToolDoc = REMOVE, *, tainted: bool = False, in_loop: bool = False
) -> AnnouncedCall:
    made = Slice(parameter="title", expression="x", sources=(Source(kind="call", name="f"),), words="made of x")
    return AnnouncedCall(f"{place}#0-{title}", tool, {"title": title}, (made,), tainted=tainted, in_loop=in_loop)


def approved(approver: Approver, changes: int = 10) -> tuple[ApprovedExecutor, AnnouncedCallRegistry, Calls]:
    told, calls = AnnouncedCallRegistry(), Calls()
    meter = BudgetMeter(Budget(changes=changes), PolicyCost())
    provenance = ProvenanceTracker(RunStatements(user_messages=("Delete Dune",)))
    return ApprovedExecutor(calls, approver, provenance, meter, announced_calls=told), told, calls


async def make(executor: ApprovedExecutor, *calls: AnnouncedCall) -> None:
    for one in calls:
        await executor.call(one.tool, one.arguments, one.identity)


async def test_changes_of_one_tool_that_wait_together_are_one_batch() -> None:
    executor, told, _ = approved(seen := Seen())
    batch = [announced("Dune"), announced("Emma"), announced("Ulysses", "1:1:90")]
    apart, read = announced("Ivanhoe", tool=OTHER), announced("Faust", tool=BOOKS)
    told.add([*batch, apart, read])
    await make(executor, *batch, apart, read)
    assert [[one.arguments["title"] for one in call.batch] for call in seen.calls[:3]] == [
        ["Dune", "Emma", "Ulysses"]
    ] * 3
    assert [call.batch for call in seen.calls[3:]] == [(), ()]
    assert {one.provenance.origins[0].kind for one in seen.calls[0].batch} == {"said", "computed"}


async def test_what_comes_later_is_a_batch_of_its_own() -> None:
    executor, told, _ = approved(seen := Seen())
    first, second, third = (announced(title) for title in ("Dune", "Emma", "Faust"))
    told.add([first])
    await make(executor, first)
    told.add([second, third])
    await make(executor, second, third)
    assert [len(call.batch) for call in seen.calls] == [0, 2, 2]


async def test_a_loop_is_asked_about_round_by_round_with_what_is_left() -> None:
    executor, told, _ = approved(seen := Seen(), changes=2)
    for title in ("Dune", "Emma"):
        told.add([one := announced(title, in_loop=True)])
        await make(executor, one)
    assert [(call.loop_round, call.remaining_changes) for call in seen.calls] == [(1, 2), (2, 1)]
    assert (
        "this is round 2, each round asks, and the run may make 1 more change (FOOTPATH_MAX_CHANGES)"
        in describe_approval_scope(seen.calls[1])
    )


async def test_a_batch_that_goes_beyond_the_budget_is_not_begun() -> None:
    executor, told, calls = approved(seen := Seen(), changes=2)
    batch = [announced(title) for title in ("Dune", "Emma", "Faust")]
    told.add(batch)
    with pytest.raises(NotAllowedError, match=r"a run may make 2 changes \(FOOTPATH_MAX_CHANGES\), 0 were made and 3"):
        await make(executor, batch[0])
    assert (calls.made, seen.calls) == ([], [])


async def test_a_batch_that_fits_is_made_to_its_end() -> None:
    executor, told, calls = approved(Seen(), changes=3)
    batch = [announced(title) for title in ("Dune", "Emma", "Faust")]
    told.add(batch)
    await make(executor, *batch)
    assert calls.made == ["Dune", "Emma", "Faust"]


async def test_taint_and_slices_are_told_also_where_the_arguments_are_others() -> None:
    executor, told, _ = approved(seen := Seen())
    one = announced("Dune", tainted=True)
    told.add([one])
    await executor.call(REMOVE, {"title": "Emma"}, one.identity)
    (call,) = seen.calls
    assert call.always_needs_approval
    assert (call.batch, call.provenance.origins[0].kind, call.provenance.origins[0].slice) == ((), "written", None)
    assert "foreign" not in TAINTED_NOTE  # it is for people


async def test_a_dry_run_shows_the_whole_batch() -> None:
    shown: list[object] = []
    executor, told, calls = approved(DryRunApprover(lambda call: shown.append(call.arguments["title"])))
    batch = [announced(title) for title in ("Dune", "Emma")]
    told.add(batch)
    with pytest.raises(NotAllowedError, match="dry run"):
        await make(executor, batch[0])
    assert (shown, calls.made) == (["Dune", "Emma"], [])
