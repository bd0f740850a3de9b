"""Changes of programs whose user corrects values and leaves single ones out: what is made, what is told, and a run that is broken off anywhere."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from agent.execution.approval import IntendedCall
from agent.execution.executor import CallResult
from agent.programs.program_types import Sandbox, SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.errors import ExcludedCallError
from domain.event import CallFinished, CallStarted, EventRecord, ProgramEnded, ProgramFailed
from domain.model import JsonObject
from domain.plan import CORRECTED, StepResult
from domain.tool import ToolDoc
from tests.support.program_runs import Host, Work


@pytest.fixture
async def sandbox() -> AsyncGenerator[Sandbox]:
    made = MontySandbox(SandboxLimits(workers=2))
    yield made
    await made.close()


BATCH = "import asyncio\nmade = await asyncio.gather(*[add(name=one) for one in ['a', 'b', 'c', 'd', 'e']])\nmade"


@dataclass
class Corrects:
    """Says yes, with other names for some; ``out``: those that are left out. ``asked``: the names it was asked about."""

    others: Mapping[str, str] = field(default_factory=dict[str, str])
    out: frozenset[str] = frozenset()
    asked: list[str] = field(default_factory=list[str])

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[JsonObject | None]:
        name = str(call.arguments["name"])
        self.asked.append(name)
        if name in self.out:
            raise ExcludedCallError("You left this call out, so it was not made.")
        yield {"name": self.others[name]} if name in self.others else None


def results(records: list[EventRecord]) -> list[StepResult]:
    return [one.event.result for one in records if isinstance(one.event, CallFinished)]


async def test_what_is_corrected_is_made_and_told(sandbox: Sandbox) -> None:
    work = Work(sandbox, host := Host(), approver=Corrects({"b": "B"}))
    records = await work.records(BATCH)
    assert host.changes == ["a", "B", "c", "d", "e"]
    (mine,) = [one for one in results(records) if one.requested_arguments == {"name": "b"}]
    assert (mine.arguments, mine.intended, mine.status) == ({"name": "B"}, {"name": "b"}, "ok")
    assert [(one.parameter, one.origin, one.reference) for one in mine.provenance] == [("name", "user", CORRECTED)]
    assert all(one.intended is None for one in results(records) if one is not mine)
    sites = [one.event.site for one in records if isinstance(one.event, CallStarted)]
    assert sorted(sites) == sorted(one.event.site for one in records if isinstance(one.event, CallFinished))


async def test_what_is_left_out_ends_the_program_after_the_others_were_made(sandbox: Sandbox) -> None:
    work = Work(sandbox, host := Host(), approver=Corrects(out=frozenset({"b", "c"})))
    records = await work.records(BATCH)
    assert host.changes == ["a", "d", "e"]
    left = [one.left_out for one in results(records)]
    assert left[:3] == [False] * 3
    assert left[3]
    end = records[-1].event
    assert isinstance(end, ProgramFailed)
    assert end.final


async def test_no_program_catches_that_a_call_was_left_out(sandbox: Sandbox) -> None:
    text = "try:\n    await add(name='a')\nexcept Exception:\n    pass\nawait add(name='b')"
    work = Work(sandbox, host := Host(), approver=Corrects(out=frozenset({"a"})))
    records = await work.records(text)
    assert host.changes == []
    assert isinstance(records[-1].event, ProgramFailed)


async def test_two_that_are_corrected_into_the_same_are_two(sandbox: Sandbox) -> None:
    work = Work(sandbox, host := Host(), approver=Corrects({"a": "x", "b": "x"}))
    await work.records("await add(name='a')\nawait add(name='b')\n1")
    assert host.changes == ["x", "x"]


class Ledger(Host):
    """A host behind a ledger: what was made is answered from there, by its arguments and which call it is."""

    def __init__(self) -> None:
        super().__init__(rounds=1)
        self.kept: dict[str, CallResult] = {}

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        key = json.dumps([tool.id, arguments, identity])
        if key not in self.kept:
            self.kept[key] = await super().call(tool, arguments, identity)
        return self.kept[key]


async def test_broken_off_anywhere_nothing_is_made_twice(sandbox: Sandbox) -> None:
    """After each event in turn: what was told stays, what is left out stays so, each change is made once, as it was corrected."""
    others, out = {"b": "B"}, frozenset({"d"})
    whole = await Work(sandbox, Ledger(), approver=Corrects(others, out), ledger=True).records(BATCH)
    assert len(whole) > 10
    for until in range(1, len(whole)):
        host = Ledger()
        first = await Work(sandbox, host, approver=Corrects(others, out), ledger=True).records(BATCH, until=until)
        again = Corrects(others, out)
        records = await Work(sandbox, host, past=first, approver=again, ledger=True).records(BATCH)
        assert records[: len(first)] == first
        assert host.changes == ["a", "B", "c", "e"]
        assert {str(one.requested_arguments["name"]) for one in results(first)}.isdisjoint(again.asked)
        assert [(one.arguments, one.intended, one.status) for one in results(records)] == [
            (one.arguments, one.intended, one.status) for one in results(whole)
        ]


async def test_an_answer_that_did_not_wait_for_what_was_left_out_stands(sandbox: Sandbox) -> None:
    text = (
        "import asyncio\ntry:\n    await asyncio.gather(add(name='a'), fail(name='x'))\n"
        "except ToolError:\n    told = 'it failed'\ntold"
    )
    work = Work(sandbox, Host(), approver=Corrects(out=frozenset({"a"})))
    records = await work.records(text)
    assert [one.left_out for one in results(records)].count(True) == 1
    end = records[-1].event
    assert isinstance(end, ProgramEnded)
    assert end.answer == '"it failed"'
