"""Programs run as a subtask runs them, over a host whose answers come in an order by chance; broken off and gone on with from their record."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from random import Random

from agent.budget import Budget, BudgetMeter
from agent.execution.approval import AllowChangesApprover, ApprovedExecutor, Approver, IntendedCall
from agent.execution.call_cache import CachingExecutor
from agent.execution.executor import CallResult, Executor
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.policy.protocol import PolicyCost
from agent.programs.program_runner import CallEnvironment, ProgramRunner, StepCounter
from agent.programs.program_types import (
    FreeTextAnswer,
    LookRequest,
    ProgramError,
    ReturnedValue,
    Sandbox,
    UnansweredQuestion,
)
from agent.resume import RunLog
from agent.run_events import RunEventStream
from agent.scheduler import closing
from agent.user_questions import NoUser, UserChannel, UserQuestions
from domain.event import Event, EventRecord, ProgramEnded, ProgramFailed, ProgramStarted
from domain.model import JsonObject
from domain.program import Program
from domain.tool import Parameter, ToolDoc, make_tool_id


def tool(name: str, *parameters: str, method: str = "GET") -> ToolDoc:
    given = tuple(Parameter(name=one, type="string", required=True) for one in parameters)
    return ToolDoc(
        id=make_tool_id("c", "t", name), category="c", toolset="t", api=name, function=name, method=method,
        url=f"http://host.example/{name}", parameters=given,
    )  # fmt: skip


DOCS = {
    one.api: one
    for one in (
        tool("names"),
        tool("get", "name"),
        tool("fail", "name"),
        tool("add", "name", method="POST"),
        tool("bad", "name", method="POST"),
    )
}
UNSAFE = frozenset(one.id for one in DOCS.values() if not one.safe)


class AllowsAll:
    """Says yes to whatever is asked. ``again``: of each change, whether it may be done already."""

    def __init__(self) -> None:
        self.again: list[bool] = []

    @asynccontextmanager
    async def approve(self, call: IntendedCall) -> AsyncGenerator[None]:
        if not call.tool.safe:
            self.again.append(call.possible_repeat)
        yield


@dataclass
class Host:
    """Holds a list of names. ``get`` tells how often a name is there. ``sent``: the calls that reached it."""

    chance: Random = field(default_factory=lambda: Random(1))
    held: list[str] = field(default_factory=lambda: ["a", "b", "c"])
    sent: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    rounds: int = 6
    under_way: int = 0
    most: int = 0
    changing: int = 0
    name: str = "host"

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.sent.append((tool.api, str(arguments.get("name", ""))))
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        try:
            self.changing += not tool.safe
            assert self.changing <= 1
            for _ in range(self.chance.randrange(self.rounds)):
                await asyncio.sleep(0)
            return self._answer(tool, str(arguments.get("name", "")))
        finally:
            self.under_way -= 1
            self.changing -= not tool.safe

    def _answer(self, tool: ToolDoc, name: str) -> CallResult:
        match tool.api:
            case "names":
                value = list(dict.fromkeys(self.held))
            case "get":
                value = {"name": name, "times": self.held.count(name)}
            case "add":
                self.held.append(name)
                value = {"id": len(self.held)}
            case _:
                return CallResult("absent", "", 404, note="no such thing")
        return CallResult("ok", json.dumps(value), 200)

    async def close(self) -> None: ...

    @property
    def changes(self) -> list[str]:
        return [name for api, name in self.sent if api == "add"]


@dataclass
class Work:
    """One life of a run: made anew from the record after each break."""

    sandbox: Sandbox
    executor: Executor
    past: Sequence[EventRecord] = ()
    approver: Approver = field(default_factory=AllowChangesApprover)
    budget: Budget = field(default_factory=Budget)
    ledger: bool = False
    asker: UserChannel = field(default_factory=NoUser)
    runner: ProgramRunner | None = None

    def __post_init__(self) -> None:
        self.meter = BudgetMeter(self.budget, PolicyCost())
        log = RunLog(self.past, UNSAFE)
        made = log.collect_calls(has_ledger=self.ledger)
        self.meter.changes = log.count_changes(made)
        provenance = ProvenanceTracker(RunStatements())
        self.asking = UserQuestions(self.asker, provenance, self.meter.stopwatch, [])
        caller = ApprovedExecutor(self.executor, self.approver, provenance, self.meter, made)
        self.reusing = CachingExecutor(caller, made)
        self.memo = log.get_memo(1)
        self.steps = StepCounter()
        self.turns = 0
        self.told = RunEventStream("r", self.past)

    async def run(self, *texts: str, inputs: Mapping[str, str] | None = None) -> None:
        """Each text is a program of its own; the next is begun where one breaks off."""
        for number, text in enumerate(texts, start=1):
            program = Program(text=text, tools={name: doc.id for name, doc in DOCS.items()})
            await self._tell(ProgramStarted(number=number, program=program))
            calling = CallEnvironment(
                1, DOCS, self.reusing, self.meter, self.steps, self._tell, self._turn, self.asking
            )
            async with self.sandbox.open_session() as session:
                self.runner = ProgramRunner(session, program, number, calling, self.memo.open_program(number))
                await self.runner.run(inputs or {})
            end = _end(number, self.runner.stop)
            await self._tell(end)
            if isinstance(end, ProgramEnded) or end.final:
                return

    async def records(self, *texts: str, until: int = 10_000) -> list[EventRecord]:
        """The record, the past first; broken off after the event of a number."""
        async with closing(self.told.follow(partial(self.run, *texts))) as records:
            async for record in records:
                if record.seq >= until:
                    break
        return self.told.records

    async def _tell(self, event: Event) -> None:
        if not self.memo.replay_event(event):
            await self.told.emit(1, event)

    async def _turn(self) -> None:
        self.turns += 1


def _end(
    number: int, stop: LookRequest | ReturnedValue | ProgramError | UnansweredQuestion | FreeTextAnswer | None
) -> ProgramEnded | ProgramFailed:
    match stop:
        case ReturnedValue(value):
            return ProgramEnded(number=number, answered="yes", answer=json.dumps(value), verdict="yes")
        case UnansweredQuestion(question):
            return ProgramEnded(number=number, answered="no", answer="", verdict="no", veto=question.unanswered)
        case ProgramError(message=message, line=line, final=final):
            return ProgramFailed(number=number, error=message, line=line, final=final)
        case _:
            raise AssertionError(stop)


async def ran(work: Work, *texts: str) -> Event:
    """The last event."""
    return (await work.records(*texts))[-1].event
