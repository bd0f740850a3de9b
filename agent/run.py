"""One run: plan, execute, go around what fails, answer. A short generator of numbered events (DESIGN section 1)."""

import asyncio
import logging
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import uuid4

from agent.budget import Budget, Meter
from agent.clauses import clauses
from agent.ending import changed, undone, unreplaced
from agent.evidence import Evidence, ToolFinder
from agent.execute import execute
from agent.executor import Executor
from agent.expand import WalkSettings
from agent.field_choices import FieldChoices
from agent.memory import LongTermMemory
from agent.planners.named import planner_named
from agent.policy import Policy, Results
from agent.progress import Progress
from agent.reuse import ReusingExecutor
from agent.secrets import Secrets
from agent.streams import closing
from agent.tool_text import clean
from agent.walking import walk_deps
from domain.errors import FootpathError
from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    Event,
    EventRecord,
    MemoryRecalled,
    Outcome,
    PathEnded,
    PlanReady,
    PolicyFellBack,
    RecalledPath,
    RunStarted,
)
from domain.plan import Plan, StepResult
from domain.tool import ToolDoc, ToolId
from graph.flows import FlowStore
from graph.store import GraphStore
from graph.weights import WeightParameters

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunDeps:
    """What a run works with. ``policy`` is this run's own; everything else may be shared between runs."""

    store: GraphStore
    search: ToolFinder
    policy: Policy
    executor: Executor
    weights: WeightParameters = field(default_factory=WeightParameters)
    settings: WalkSettings = field(default_factory=WalkSettings)
    choices: FieldChoices = field(default_factory=FieldChoices)
    secrets: Secrets | None = None
    memory: LongTermMemory | None = None
    flows: FlowStore | None = None
    recalled: int = 8
    planner: str = "dfs"


async def run(request: str, deps: RunDeps, budget: Budget | None = None) -> AsyncIterator[EventRecord]:
    """Everything that happens from the request to the answer; the last event is always ``run.finished``.

    Nothing is raised but a cancellation, and that only after ``run.finished`` with the outcome ``cancelled``: errors end the run
    with the outcome ``failed`` and ``code: message``.
    """
    turn = _Turn(request, deps, Progress(Meter(budget or Budget(), deps.policy.cost)))
    name, seq = uuid4().hex, 0
    async with closing(turn.guarded()) as events:
        async for event in events:
            turn.progress.note(event)
            seq += 1
            yield EventRecord(run=name, seq=seq, at=datetime.now(UTC), event=event)


class _Turn:
    """One run from start to end; made, used once and dropped."""

    def __init__(self, request: str, deps: RunDeps, progress: Progress) -> None:
        self.progress = progress
        self._request = request
        self._deps = deps
        self._clauses = clauses(request) or (request,)
        self._evidence = Evidence(self._clauses, deps.store, deps.search, deps.weights, deps.secrets, deps.flows)
        self._planner = planner_named(deps.planner)
        self._walk = walk_deps(request, self._evidence, deps.settings, deps.policy, self._results)
        self._executor = ReusingExecutor(deps.executor)

    async def guarded(self) -> AsyncIterator[Event]:
        """The run's events, whatever happens."""
        try:
            async with closing(self._events()) as events:
                async for event in events:
                    for notice in self._notices():
                        yield notice
                    yield event
        except asyncio.CancelledError:
            yield self.progress.finished("cancelled")
            raise
        except FootpathError as error:
            yield self.progress.finished("failed", f"{error.code}: {error}")
        except Exception as error:  # noqa: BLE001  # a defect of ours must end the run in order, not tear the stream
            _log.exception("a run failed")
            yield self.progress.finished("failed", f"internal: {type(error).__name__}; the log has the details")

    def _notices(self) -> list[PolicyFellBack]:
        """What the policy has to say since the last event: taken out, told before what it decided then."""
        notices = self._deps.policy.notices
        told = [PolicyFellBack(policy=n.policy, to=n.to, reason=clean(n.reason, 400)) for n in notices]
        notices.clear()
        return told

    async def _events(self) -> AsyncIterator[Event]:
        progress = self.progress
        yield RunStarted(request=self._request, planner=self._deps.planner, policy=self._deps.policy.name)
        async for event in self._recall():
            yield event
        while True:
            async for event in self._plan():
                yield event
            ended = progress.ended
            if ended is None or not ended.path:
                break
            yield PlanReady(plan=Plan(path=ended.path, complete=ended.how == "finished", reason=ended.reason))
            async for event in self._execute(ended):
                yield event
            if ended.how == "open" and progress.stuck is None and not progress.meter.exhausted:
                continue
            if progress.stuck is None or progress.stuck[1].status == "unknown" or progress.meter.exhausted:
                break
            step, result = progress.stuck
            yield progress.go_around(step, result, _why(result))
        async for event in self._answer():
            yield event

    async def _recall(self) -> AsyncIterator[Event]:
        """What long-term memory knows of such requests."""
        deps = self._deps
        if deps.memory is None:
            return
        recalled = await deps.memory.recall(self._request, deps.recalled, self._evidence.present)
        self._evidence.recalled = tuple(recalled)
        paths = [RecalledPath(request=r.memory.request, path=r.memory.path, similarity=r.similarity) for r in recalled]
        yield MemoryRecalled(memories=tuple(paths))

    async def _plan(self) -> AsyncIterator[Event]:
        """Walk from where the state stands; what the walk leaves behind is the state to go on from."""
        progress, began = self.progress, time.perf_counter()
        steps = self._planner(self._request, self._clauses, progress.state, self._walk, progress.meter)
        async with closing(steps):
            async for event, state in steps:
                progress.state = state
                progress.plan_seconds += time.perf_counter() - began
                yield event
                began = time.perf_counter()

    def _results(self) -> Results:
        """What the steps that were called have given, for a planner that looks before it goes on."""
        done = self.progress.done
        return tuple((self._evidence.doc(done[step].tool), done[step]) for step in sorted(done))

    async def _execute(self, ended: PathEnded) -> AsyncIterator[Event]:
        """Make the calls that are not made yet, within the time that is left."""
        progress, policy = self.progress, self._deps.policy
        tools = self._evidence.docs(ended.path)
        progress.writes = {tool.id for tool in tools if not tool.safe}
        calls = execute(self._request, tools, policy, self._executor, dict(progress.done), self._deps.choices)
        started: CallStarted | None = None
        async with closing(calls):
            while True:
                began = time.perf_counter()
                try:
                    async with asyncio.timeout(progress.meter.seconds_left):
                        event = await anext(calls, None)
                except TimeoutError:
                    event = _out_of_time(tools, started, len(progress.done) + 1)
                progress.execute_seconds += time.perf_counter() - began
                if event is None:
                    return
                started = event if isinstance(event, CallStarted) else None
                yield event
                if isinstance(event, CallFinished) and event.result.status != "ok":
                    return

    async def _answer(self) -> AsyncIterator[Event]:
        """Answer from what succeeded; where nothing did, say why."""
        progress = self.progress
        docs: dict[ToolId, ToolDoc] = {
            result.tool: self._evidence.doc(result.tool) for result in (*progress.done.values(), *progress.failed)
        }
        steps = progress.steps(docs)
        outcome = self._outcome()
        for line in changed(progress, self._evidence, self._clauses, steps):
            progress.answer += line
            yield AnswerDelta(text=line)
        if any(result.status in ("ok", "unknown") for _, result in steps):
            async with closing(self._deps.policy.answer(self._request, steps)) as pieces:
                async for piece in pieces:
                    progress.answer += piece
                    yield AnswerDelta(text=piece)
        else:
            reason = progress.ended.reason if progress.ended else "the walk did not end"
            apology = progress.apology(reason, steps)
            progress.answer += apology
            yield AnswerDelta(text=apology)
        yield progress.finished(outcome)

    def _outcome(self) -> Outcome:
        progress = self.progress
        if progress.meter.exhausted and (
            progress.stuck or progress.ended is None or progress.ended.how in ("budget", "open")
        ):
            return "budget"
        if progress.stuck or not progress.done or progress.ended is None or progress.ended.how != "finished":
            return "gave_up"
        lost = unreplaced(progress, self._evidence) or undone(progress, self._evidence, self._clauses)
        return "gave_up" if lost else "answered"


def _why(result: StepResult) -> str:
    """Why a step is gone around."""
    if result.status == "missing" or result.http_status == 200:
        return clean(result.note)
    status = f"HTTP {result.http_status}" if result.http_status else result.status
    return f"the call failed for good ({status}){': ' + clean(result.note) if result.note else ''}"


def _out_of_time(tools: tuple[ToolDoc, ...], started: CallStarted | None, step: int) -> CallFinished:
    """What is to be said of a step that the budget's seconds cut off: of a write, that its effect is unknown."""
    if started is not None:
        step = started.step
    tool = tools[step - 1]
    lost = started is not None and not tool.safe
    result = StepResult(
        tool=tool.id,
        arguments=started.arguments if started else {},
        provenance=started.provenance if started else (),
        status="unknown" if lost else "failed",
        note="the budget's time was used up during this step",
    )
    return CallFinished(step=step, result=result)
