"""One subtask: plan and reflect, execute, go around what fails. A generator of events over a state that is its own."""

import time
from collections.abc import AsyncIterator
from dataclasses import replace
from functools import partial

from agent.by_program import ByProgram
from agent.conversation import References
from agent.execution.execute import execute, in_time, told_late
from agent.files.origins import FileOrigins
from agent.memory.path_reuse import remembering
from agent.memory.recall import recall
from agent.offer.expansion import Expander
from agent.offer.failed_hosts import leave_alone, nothing_near
from agent.offer.tool_facts import Evidence
from agent.planners.by_name import planner_named
from agent.plans.approval import Approves, PlanQuestions, not_allowed
from agent.plans.arguments import CarryingOut
from agent.plans.compiling import as_document, compiled
from agent.plans.draft import drafted
from agent.policy.asking_back import AskingBack
from agent.policy.path_questions import Reflection
from agent.policy.protocol import Choice, Policy, Results, Situation, told_notices
from agent.policy.subtasks import Subtask
from agent.programs import text_names
from agent.programs.carrying import Carrying, tools_of
from agent.programs.earlier import EARLIER, Asked, EarlierResults, earlier_results
from agent.programs.open_values import OpenValues
from agent.programs.running import Calling, StepCount
from agent.programs.serving import Serving
from agent.programs.verdict import worse
from agent.reflection import PATIENCE, Judged, Reflector, better, made, resumed
from agent.resume import DecidingAsBefore, as_called
from agent.run_context import RunDeps, Shared, leave_of
from agent.scheduler import closing
from agent.search.state import Path
from agent.search.walk import walk_deps
from agent.step_notes import why
from agent.subtask_outcome import SubtaskOutcome
from agent.subtask_progress import Progress
from domain.errors import UsageError
from domain.event import CallFinished, CallStarted, Event, PathEnded, PlanReady, ProgramEnded, ReflectionMade
from domain.model import JsonObject
from domain.plan import Plan, StepResult
from domain.program import ProgramPlan
from domain.tool import ToolDoc

UNREAD = "no program came out that reads the file"
APPROVED = "its user approved this plan"
Given = tuple[tuple[ToolDoc, StepResult], ...]


class SubtaskRun(SubtaskOutcome):
    """One subtask from start to end; made, used once and dropped. ``given``: the steps that it builds on: of the
    conversation's earlier runs, then of earlier subtasks.
    """

    def __init__(self, subtask: Subtask, shared: Shared, evidence: Evidence, given: Given = ()) -> None:
        progress = Progress(shared.meter, len(given))
        super().__init__(subtask, evidence, progress, shared.provenance, shared.deps.policy, given)
        self._past = shared.past.of(subtask.number)
        self._turns = shared.turns
        self._references = References(shared.request, shared.earlier, subtask.earlier, self.whence)
        self._asking = shared.asking
        chosen = shared.deps.planner != "retrieve"
        self._asks = AskingBack(shared.deps.policy, shared.asking, subtask.number, self._past.answered, chosen=chosen)
        policy = DecidingAsBefore(self._asks, self._past, self._references.own_binding)
        self._deps = replace(shared.deps, policy=policy)
        self._request = subtask.description
        self._asked_for = shared.request
        self._earlier = shared.earlier
        self._given = given
        self._executor = shared.executor
        before = tuple(tool for tool, _ in given)
        ids = tuple(tool.id for tool in before)
        again = shared.deps.planner == "react"
        expand = Expander(self._request, evidence, shared.deps.settings, ids, shared.name, shared.deps.offers, again)
        walking = walk_deps(self._request, evidence, shared.deps.settings, self._deps.policy, self._results, expand)
        self._walking = replace(walking, choose=self._choose)
        self._planner = planner_named(shared.deps.planner)
        self._today = shared.today
        turn, files = partial(shared.turns.come, subtask.number), FileOrigins(shared.deps.files.all)
        self._opened = opened = OpenValues(self._request, self._deps.policy, given)
        parts = StepCount(len(given)), turn, shared.asking, leave_of(shared, before), opened
        self._calling = Calling(subtask.number, {}, shared.executor, shared.meter, *parts, files=files)
        self._reflector = Reflector(self._request, before, evidence, expand, self._deps.policy)
        self._ids = ids
        self._questions = PlanQuestions(subtask.number, self._request, given)
        self._moves = 0
        self._over = False
        self._first: ProgramEnded | None = None
        self._first_path: Path | None = None

    @property
    def reread(self) -> Given:
        """The calls of earlier runs that it rests on, where it made none of its own."""
        return self._given[: len(self.subtask.earlier)] if self.done_already else ()

    async def events(self, *, lacking: str = "") -> AsyncIterator[Event]:
        """All that happens, with what the policy has to say of itself. ``lacking``: what it builds on and is not there; then nothing is done."""
        async with closing(self._nothing(lacking) if lacking else self._events()) as events:
            async for event in events:
                for besides in (*told_notices(self._deps.policy), *self._asks.told()):
                    if not self._past.told(besides):
                        yield besides
                self.noted(event)
                if not self._past.told(event):
                    yield event

    async def _nothing(self, lacking: str) -> AsyncIterator[Event]:
        yield self.subtask.started(len(self._given))
        yield PathEnded(path=(), how="gave_up", reason=f"it builds on what could not be found: {lacking}")

    async def _events(self) -> AsyncIterator[Event]:
        yield self.subtask.started(len(self._given))
        if self.subtask.reread:
            self.done_already = True
            yield PathEnded(path=(), how="finished", reason="earlier results hold the answer")
            return
        if self._deps.plan is not None:
            async with closing(self._carry_out(self._deps.plan)) as events:
                async for event in events:
                    yield event
        elif self._deps.by_program or self._deps.takes_solutions:
            async with closing(self._served_by_program()) as events:
                async for event in events:
                    yield event
        else:
            async with closing(self._find_out()) as events:
                async for event in events:
                    yield event

    async def _served_by_program(self) -> AsyncIterator[Event]:
        """By what is taken or written for it; where nothing comes out of that, by a path that is found."""
        follow_up = self._earlier.runs if self._request == self._asked_for else ()
        parts = self._deps, self.evidence, self._calling, self.progress, self._past
        served = ByProgram(self._to_serve(wider=True), follow_up, *parts, self._serving)
        async with closing(served.events()) as events:
            async for event in events:
                yield self._references.told(event)
        if not served.over and self._deps.files.new:
            yield PathEnded(path=(), how="gave_up", reason=served.why_not or UNREAD)
        elif not served.over:
            self._first = served.first
            async with closing(self._find_out()) as events:
                async for event in events:
                    yield event

    def _to_serve(self, *, wider: bool) -> Asked:
        """What a program is written for; earlier results are names of it."""
        return Asked(self._request, self._today, self._earlier_results, wider=wider, files=self._deps.files)

    def _serving(self, asked: Asked, deps: RunDeps) -> Serving:
        """What writes and runs a program."""
        return Serving(asked, deps, self.evidence, self._calling, self.progress, self._past, self._questions)

    @property
    def _earlier_results(self) -> EarlierResults:
        numbers, whole = self.subtask.earlier, self._request == self._asked_for
        return earlier_results(self._earlier, numbers, self._given, whole=whole)

    async def _find_out(self) -> AsyncIterator[Event]:
        """Paths and what they come to; of several programs the best stands."""
        async with closing(self._walks()) as events:
            async for event in events:
                yield event
        if self._first is not None and worse(self.progress.program, self._first):
            yield self._first

    async def _walks(self) -> AsyncIterator[Event]:
        """Plan, carry out, go around what fails, until there is an answer or nothing is left to try."""
        progress = self.progress
        recalled = await recall(self._request, self._deps, self.evidence, self._past)
        if recalled is not None:
            yield recalled
        while True:
            async with closing(self._plan()) as events:
                async for event in events:
                    yield event
            ended = progress.ended
            if ended is None or not ended.path or ended.path == self._first_path:
                return
            async with closing(self._carried_out(ended)) as events:
                async for event in events:
                    yield event
            if self._over:
                further = self._walks_on(ended)
                if further is None:
                    return
                yield further
                continue
            if ended.how == "open" and progress.stuck is None and not progress.meter.exhausted:
                continue
            if progress.stuck is None or progress.stuck[1].status in ("unknown", "skipped") or progress.meter.exhausted:
                return
            step, result = progress.stuck
            yield progress.go_around(step, result, why(result))
            leave_alone(progress, self.evidence, self._executor)
            over = nothing_near(result, progress, self.evidence)
            if over is not None:
                yield over
                return

    def _walks_on(self, ended: PathEnded) -> ReflectionMade | None:
        """Once, the walk goes on from a path whose program says what it lacks, unless something was changed on it."""
        progress = self.progress
        end, meter = progress.program, progress.meter
        if end is None or end.answered == "yes" or not end.missing or self._first is not None or progress.changes_made:
            return None
        if ended.how != "finished" or meter.exhausted or not meter.may_reflect:
            return None
        meter.reflections += 1
        self._first, self._first_path, self._over = end, ended.path, False
        reason = f"its program lacks: {end.missing}"
        judged = Reflection("partial", reason, len(ended.path) + 1)
        if not any(result.status == "ok" for result in progress.done.values()):
            judged = Reflection("total", reason, noisy=ended.path[:1])  # nothing of the path was of any use
        state = resumed(progress.state, ended.path, ended, judged)
        if state is None:
            return None
        progress.state = state
        return made(ended.path, judged, goes_on=True)

    async def _carried_out(self, ended: PathEnded) -> AsyncIterator[Event]:
        """A path that was found: as its user approves of it, by one program over its tools, or step by step where none comes out."""
        plan = Plan(path=ended.path, complete=ended.how == "finished", reason=ended.reason)
        yield PlanReady(plan=plan)
        if self._deps.approves is not None:
            self._over = True
            async with closing(self._approved(ended, self._deps.approves)) as events:
                async for event in events:
                    yield event
            return
        if self._deps.writes_programs:
            serving = self._serving(self._to_serve(wider=False), self._deps)
            async with closing(serving.events(self.evidence.docs(tuple(dict.fromkeys(ended.path))))) as events:
                async for event in events:
                    yield self._references.told(event)
            if serving.over:
                self._over = True
                return
            yield PlanReady(plan=plan)
        async with closing(self._execute(ended, self._deps.policy)) as events:
            async for event in events:
                yield event

    async def _approved(self, planned: PathEnded, approves: Approves) -> AsyncIterator[Event]:
        """What the user makes of a plan, carried out; nothing where it is not allowed."""
        given = tuple(tool for tool, _ in self._given)
        tools = self.evidence.docs(planned.path)
        draft = drafted(self._request, tools, self.evidence.reader, given)
        plan = await approves(self._questions.about(draft, compiled(draft, {one.id: one for one in tools}, self._ids)))
        if plan is None:
            yield not_allowed()
            return
        async with closing(self._carry_out(plan, planned)) as events:
            async for event in events:
                yield event

    async def _carry_out(self, plan: ProgramPlan, planned: PathEnded | None = None) -> AsyncIterator[Event]:
        """A plan as it stands: where it breaks off, nothing is put in its place. ``planned``: what was told of it before."""
        self.chosen = True
        path = await tools_of(plan, self.evidence)
        ended = PathEnded(path=path, how="finished", reason="its plan is given" if planned is None else APPROVED)
        if planned is None:
            yield ended
        self.progress.note(ended)
        if planned is None or (planned.path, planned.how) != (path, "finished"):
            yield PlanReady(plan=Plan(path=path, complete=True, reason=ended.reason))
        if self._past.by_steps:
            async with closing(self._go_on_by_steps(plan, ended)) as events:
                async for event in events:
                    yield event
            return
        if self._deps.sandbox is None:
            raise UsageError("there is no sandbox to carry a plan out in; give the run one")
        found = self._to_serve(wider=False).found(text_names.used(plan.program.text) - {*plan.inputs})
        names: JsonObject = {"today": self._today, EARLIER: [], **found}
        parts = self._opened, self._deps.sandbox, self.evidence, self._calling, self.progress, self._past
        carrying = Carrying(plan, names, *parts, wrong=self._deps.wrong_answers)
        async with closing(carrying.events(self._deps.choices)) as events:
            async for event in events:
                yield self._references.told(event)

    async def _go_on_by_steps(self, plan: ProgramPlan, ended: PathEnded) -> AsyncIterator[Event]:
        """The rest of a plan whose first calls were made as steps, by a version whose plans were no programs."""
        docs = {tool.id: tool for tool in self.evidence.docs(ended.path)}
        document = as_document(plan, docs, self._ids)
        async with closing(self._execute(ended, CarryingOut(self._deps.policy, document, len(self._given)))) as events:
            async for event in events:
                yield event

    async def _plan(self) -> AsyncIterator[Event]:
        """Walk and reflect until a path is good enough or nothing more may be tried; then the best one is gone on with."""
        progress, meter = self.progress, self.progress.meter
        best: Judged | None = None
        verdict = ""
        while True:
            async with closing(self._walk()) as events:
                async for event in events:
                    yield event
            ended = progress.ended
            if ended is None or ended.how == "open" or meter.exhausted or not meter.may_reflect or self.done_already:
                break
            if not await self._is_to_reflect(ended):
                break
            path, reflection = await self._reflector.reflect(ended, progress.state)
            verdict = reflection.verdict
            state = resumed(progress.state, path, ended, reflection)
            yield made(path, reflection, goes_on=state is not None)
            if state is None:
                break
            meter.reflections += 1
            if verdict == "partial" and ended.how == "finished":
                judged = await self._reflector.judged(ended, progress.state)
                best = judged if best is None or judged.value >= best.value else best
            progress.state, verdict = state, ""
        if ended is not None and best is not None:
            last = await self._reflector.judged(ended, progress.state)
            kept = better(ended, last.value, verdict, best)
            if kept is not None:
                progress.state = kept.state
                yield kept.ended.model_copy(update={"reason": f"the best path so far: {kept.ended.reason}"})

    async def _is_to_reflect(self, ended: PathEnded) -> bool:
        """Whether a path is judged: as it was before; else always, but only where there is doubt if a program is written over it."""
        if self._past.next is not None:
            return isinstance(self._past.next, ReflectionMade)
        return not self._deps.writes_programs or await self._reflector.in_doubt(ended, self.progress.state)

    async def _walk(self) -> AsyncIterator[Event]:
        """Walk from where the state stands; what the walk leaves behind is the state to go on from."""
        progress, began = self.progress, time.perf_counter()
        self._moves = 0
        planner = self._planner
        if self._deps.planner != "retrieve":  # which takes what was found, whatever is known of it
            planner = remembering(planner, self._deps.policy.adopt, self.evidence.recalled, self.evidence.reader)
        steps = planner(self._request, self.evidence.clauses, progress.state, self._walking, progress.meter)
        async with closing(steps):
            async for event, state in steps:
                progress.state = state
                if isinstance(event, PathEnded) and self._moves > PATIENCE:
                    progress.state = state.resume(state.best, len(state.best), event.reason)
                    event = PathEnded(path=state.best, how="budget", reason=event.reason)
                progress.plan_seconds += time.perf_counter() - began
                yield event
                began = time.perf_counter()

    def _results(self) -> Results:
        """What the steps that were called have given, for a planner that looks before it goes on."""
        done = self.progress.done
        return (*self._given, *((self.evidence.doc(done[step].tool), done[step]) for step in sorted(done)))

    async def _choose(self, situation: Situation) -> Choice:
        """The policy's move, while the walk has not lost its way and a reflection could set it right."""
        self._moves += 1
        if self._moves > PATIENCE and self.progress.meter.may_reflect:
            return Choice("give_up", f"{PATIENCE} moves, and no end of the path")
        self._moves = min(self._moves, PATIENCE)
        choice = await self._deps.policy.choose(situation)
        only_given = len(situation.path) == len(self._given) > 0
        self.done_already = choice.action == "finish" and only_given
        return choice

    async def _execute(self, ended: PathEnded, policy: Policy) -> AsyncIterator[Event]:
        """Make the calls that are not made yet, within the time that is left."""
        progress = self.progress
        tools = (*(tool for tool, _ in self._given), *self.evidence.docs(ended.path))
        progress.writes |= {tool.id for tool in tools[progress.given :] if not tool.safe}
        event = None
        for event in self._past.calls():
            if isinstance(event, CallFinished):
                self._executor.saw(tools[event.step - 1].url, as_called(event.result))
            yield event
        if self._past.next is None:
            event = await told_late(event, tools, policy, self._deps.choices)
            if event is not None:
                yield event
        over = self._past.next is not None and not isinstance(self._past.next, CallStarted)
        if over or any(result.status != "ok" for result in progress.done.values()):
            return
        done = dict(enumerate((result for _, result in self._given), start=1))
        done |= {step: self._references.own(result) for step, result in progress.done.items()}
        if any(not tool.safe for step, tool in enumerate(tools, start=1) if step not in done):
            await self._turns.come(self.subtask.number)  # changes are made in the order in which they were asked for
        calls = execute(self._request, tools, policy, self._executor, done, self._deps.choices)
        async with closing(in_time(calls, tools, progress)) as events:
            async for event in events:
                yield self._references.told(event)
