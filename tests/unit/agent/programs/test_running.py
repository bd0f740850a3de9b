"""Running programs: what they call, what they are answered, and what nothing in them can catch."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from random import Random

import pytest
import pytest_asyncio
from pydantic.types import JsonValue

from agent.budget import Budget
from agent.execution.approval import DenyChangesApprover
from agent.execution.executor import CallResult
from agent.programs.program_runner import MAX_CONCURRENT_CALLS, CallEnvironment, ProgramRunner
from agent.programs.program_types import CallFailure, CellStop, PendingCalls, ProgramError, SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.event import CallFinished, CallStarted, Event, EventRecord, ProgramEnded, ProgramFailed
from domain.model import JsonObject
from domain.program import Program
from domain.tool import ToolDoc
from tests.support.program_runs import DOCS, AllowsAll, Host, Work, ran

GATHER = "import asyncio\n"
EACH = f"{GATHER}found = await asyncio.gather(*[get(name=n) for n in await names()])\n[one['name'] for one in found]"


@pytest_asyncio.fixture
async def sandbox() -> AsyncIterator[MontySandbox]:
    made = MontySandbox(SandboxLimits(workers=2))
    yield made
    await made.close()


@pytest.mark.parametrize("seed", range(8))
async def test_answers_of_a_gather_come_in_any_order(seed: int, sandbox: MontySandbox) -> None:
    records = await Work(sandbox, Host(Random(seed))).records(EACH)
    end = records[-1].event
    assert isinstance(end, ProgramEnded)
    assert end.answer == '["a", "b", "c"]'
    begun = [one.event for one in records if isinstance(one.event, CallStarted)]
    assert [one.step for one in begun] == [1, 2, 3, 4]
    assert len({(one.site, str(one.arguments)) for one in begun}) == 4
    ended = [one.event for one in records if isinstance(one.event, CallFinished)]
    assert {(one.step, one.site) for one in ended} == {(one.step, one.site) for one in begun}


async def test_two_identical_writes_are_two(sandbox: MontySandbox) -> None:
    host = Host()
    await ran(Work(sandbox, host), "for n in range(2):\n    await add(name='x')\nawait add(name='x')\n1")
    assert host.changes == ["x", "x", "x"]


async def test_what_is_read_again_is_asked_for_once_until_something_changes(sandbox: MontySandbox) -> None:
    host = Host()
    text = "one = await get(name='a')\ntwo = await get(name='a')\nawait add(name='a')\nthree = await get(name='a')\n[one, two, three]"
    end = await ran(Work(sandbox, host), text)
    assert isinstance(end, ProgramEnded)
    assert [int(part[0]) for part in end.answer.split('"times": ')[1:]] == [1, 1, 2]
    assert Counter(host.sent) == {("get", "a"): 2, ("add", "a"): 1}


async def test_changes_are_made_one_after_the_other_as_the_program_came_to_them(sandbox: MontySandbox) -> None:
    host = Host(Random(5))
    text = (
        f"{GATHER}await asyncio.gather(*[add(name=str(n)) for n in range(6)], *[get(name=str(n)) for n in range(6)])\n1"
    )
    work = Work(sandbox, host)
    await ran(work, text)
    assert host.changes == [str(n) for n in range(6)]
    assert work.turns == 1, "earlier subtasks' changes are waited for once"


async def test_so_many_calls_are_under_way_at_once_and_no_more(sandbox: MontySandbox) -> None:
    host = Host(rounds=400)
    await ran(Work(sandbox, host), f"{GATHER}await asyncio.gather(*[get(name=str(n)) for n in range(200)])\n1")
    assert len(host.sent) == 200
    assert host.most == MAX_CONCURRENT_CALLS


async def test_a_failed_call_can_be_caught_and_says_its_status(sandbox: MontySandbox) -> None:
    text = "try:\n    await fail(name='x')\nexcept ToolError as error:\n    told = str(error)\ntold"
    end = await ran(Work(sandbox, Host()), text)
    assert isinstance(end, ProgramEnded)
    assert end.answer == '"fail: HTTP 404: no such thing"'


async def test_an_argument_that_does_not_fit_is_not_sent(sandbox: MontySandbox) -> None:
    host = Host()
    records = await Work(sandbox, host).records("await get(name=['x'])")
    end = records[-1].event
    assert isinstance(end, ProgramFailed)
    assert "name" in end.error
    assert (end.line, end.final, host.sent) == (1, False, [])
    assert [one.event.kind for one in records] == ["program.started", "call.finished", "program.failed"]


CATCHING = "try:\n    await {call}\nexcept:\n    pass\nawait names()\n1"


async def test_a_denial_is_not_caught(sandbox: MontySandbox) -> None:
    host = Host()
    work = Work(sandbox, host, approver=DenyChangesApprover())
    end = await ran(work, CATCHING.format(call="add(name='x')"))
    assert isinstance(end, ProgramFailed)
    assert (end.final, end.line, host.sent) == (True, 2, [])


async def test_a_used_up_budget_of_changes_is_not_caught(sandbox: MontySandbox) -> None:
    host = Host()
    end = await ran(
        Work(sandbox, host, budget=Budget(changes=1)), f"await add(name='x')\n{CATCHING.format(call='add(name=1)')}"
    )
    assert isinstance(end, ProgramFailed)
    assert end.final
    assert "FOOTPATH_MAX_CHANGES" in end.error
    assert host.sent == [("add", "x")]


class Lost(Host):
    """Its answers to changes are lost."""

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        made = await super().call(tool, arguments, identity)
        return made if tool.safe else CallResult("unknown", "", note="its answer was lost")


async def test_an_unknown_outcome_is_not_caught(sandbox: MontySandbox) -> None:
    host = Lost()
    end = await ran(Work(sandbox, host), CATCHING.format(call="add(name='x')"))
    assert isinstance(end, ProgramFailed)
    assert (end.final, host.sent) == (True, [("add", "x")])


class Slow(Host):
    """Never answers."""

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.sent.append((tool.api, ""))
        await asyncio.Event().wait()
        raise AssertionError


@pytest.mark.parametrize(("call", "kinds"), [("get(name='x')", 0), ("add(name='x')", 1)])
async def test_the_end_of_the_time_is_not_caught_and_a_change_is_told_as_unknown(
    call: str, kinds: int, sandbox: MontySandbox
) -> None:
    host = Slow()
    records = await Work(sandbox, host, budget=Budget(seconds=0.5)).records(CATCHING.format(call=call))
    end = records[-1].event
    assert isinstance(end, ProgramFailed)
    assert end.final
    assert "seconds is used up" in end.error
    ended = [one.event.result.status for one in records if isinstance(one.event, CallFinished)]
    assert ended == ["unknown"] * kinds
    assert len(host.sent) == 1


async def test_a_change_under_way_when_its_program_ends_is_waited_for(sandbox: MontySandbox) -> None:
    host = Host()
    text = f"{GATHER}await asyncio.gather(fail(name='x'), add(name='y'), add(name='z'))"
    records = await Work(sandbox, host).records(text)
    assert isinstance(records[-1].event, ProgramFailed)
    begun = [one.event.site for one in records if isinstance(one.event, CallStarted)]
    ended = [one.event.site for one in records if isinstance(one.event, CallFinished)]
    assert sorted(begun) == sorted(ended)
    assert host.changes in (["y"], ["y", "z"])


async def test_a_repair_does_not_do_unasked_what_was_done(sandbox: MontySandbox) -> None:
    host = Host()
    work = Work(sandbox, host)
    end = await ran(work, "made = await add(name='x')\nmade['none']", "made = await add(name='x')\nmade['id']")
    assert isinstance(end, ProgramFailed)
    assert end.final
    assert "was made before in this run" in end.error
    assert host.changes == ["x"]


async def test_a_repair_asks_before_other_changes_and_reads_anew(sandbox: MontySandbox) -> None:
    host, user = Host(), AllowsAll()
    first = "await get(name='x')\nmade = await add(name='x')\nmade['none']"
    end = await ran(Work(sandbox, host, approver=user), first, "await add(name='y')\n(await get(name='x'))['times']")
    assert isinstance(end, ProgramEnded)
    assert (end.answer, host.changes, user.again) == ("1", ["x", "y"], [False, True])


@pytest.mark.parametrize("known", [4, 7], ids=["as it broke off", "after the next has changed something"])
async def test_a_program_that_broke_off_begins_nothing_more_when_its_run_goes_on(
    known: int, sandbox: MontySandbox
) -> None:
    """What it broke off for, a process that was lost, does not come again: its text would go on."""
    texts = "await add(name='x')\nawait asyncio.gather(add(name='y'), get(name='y'))", "await add(name='z')"
    host, texts = Host(), (f"{GATHER}{texts[0]}", texts[1])
    begun = await Work(sandbox, host, approver=AllowsAll()).records(*texts, until=3)
    lost = ProgramFailed(number=1, error="the process that ran it died")
    broken_off = [*begun, EventRecord(run="r", seq=4, at=begun[0].at, subtask=1, event=lost)]
    past = await Work(sandbox, host, broken_off, approver=AllowsAll()).records(*texts, until=known)
    whole = await Work(sandbox, host, past, approver=AllowsAll()).records(*texts)
    assert whole[: len(past)] == past
    assert isinstance(whole[-1].event, ProgramEnded)
    assert host.sent == [("add", "x"), ("add", "z")]


async def test_a_program_that_wants_too_much_is_ended(sandbox: MontySandbox) -> None:
    work = Work(sandbox, Host())
    await ran(
        work, "n = 0\nwhile True:\n    n += 1\n    try:\n        await get(name=str(n))\n    except:\n        pass"
    )
    assert work.runner is not None
    stop = work.runner.stop
    assert isinstance(stop, ProgramError)
    assert "calls" in stop.message


async def test_a_long_identifier_goes_on_as_it_came(sandbox: MontySandbox) -> None:
    class Long(Host):
        def _answer(self, tool: ToolDoc, name: str) -> CallResult:
            return CallResult("ok", '{"id": 98765432109876543210}', 200)

    host = Long()
    await ran(Work(sandbox, host), "one = await get(name='a')\nawait get(name=str(one['id']))")
    assert [name for _, name in host.sent] == ["a", "98765432109876543210"]


async def test_the_limit_of_calls_is_the_sandboxs() -> None:
    wide = MontySandbox(SandboxLimits(workers=1, calls=2000))
    end = await ran(Work(wide, Host()), "for n in range(502):\n    await get(name=str(n))\nn")
    await wide.close()
    assert isinstance(end, ProgramEnded)


class WaitsForNothing:
    """A session whose cell waits, and for no call."""

    async def start(self, text: str, inputs: Mapping[str, JsonValue]) -> CellStop:
        return PendingCalls(())

    async def resume(self, answers: Mapping[int, JsonValue | CallFailure]) -> CellStop:
        raise AssertionError(answers)


async def test_a_cell_that_still_waits_when_it_is_left_takes_the_names_with_it() -> None:
    async def turn() -> None: ...

    work = Work(MontySandbox(SandboxLimits()), Host())
    told: list[Event] = []

    async def tell(event: Event) -> None:
        told.append(event)

    calling = CallEnvironment(1, DOCS, work.reusing, work.meter, work.steps, tell, turn, work.asking)
    runner = ProgramRunner(WaitsForNothing(), Program(text="1", tools={}), 1, calling)
    await runner.run({})
    assert told == []
    assert isinstance(runner.stop, ProgramError)
    assert runner.stop.lost
