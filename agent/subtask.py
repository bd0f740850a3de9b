"""One subtask: plan and reflect, execute, go around what fails, over a state that is its own."""

from dataclasses import replace
from functools import partial

from agent.by_program import ByProgram
from agent.conversation import References
from agent.execution.execute import execute, told_late
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
from agent.search.dfs import WalkEvent
from agent.search.state import Frontier, Path
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
        self._events = shared.events
        self._parts = shared.parts
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
        expand = Expander(
            self._request, evidence, shared.deps.settings, ids, shared.events.run, shared.deps.offers, again
        )
        walking = walk_deps(self._request, evidence, shared.deps.settings, self._deps.policy, self._results, expand)
        self._walking = replace(walking, choose=self._choose)
        self._planner = planner_named(shared.deps.planner)
        self._today = shared.today
        turn, files = partial(shared.parts.turn, subtask.number), FileOrigins(shared.deps.files.all)
        self._opened = opened = OpenValues(self._request, self._deps.policy, given)
        parts = StepCount(len(given)), self._tell, turn, shared.asking, leave_of(shared, before), opened
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

    async def serve(self, *, lacking: str = "") -> None:
        """Do all that can be done for it. ``lacking``: what it builds on and is not there; then nothing is done."""
        await self._tell(self.subtask.started(len(self._given)))
        if lacking:
            reason = f"it builds on what could not be found: {lacking}"
            await self._tell(PathEnded(path=(), how="gave_up", reason=reason))
        elif self.subtask.reread:
            self.done_already = True
            await self._tell(PathEnded(path=(), how="finished", reason="earlier results hold the answer"))
        elif self._deps.plan is not None:
            await self._carry_out(self._deps.plan)
        elif self._deps.by_program or self._deps.takes_solutions:
            await self._serve_by_program()
        else:
            await self._find_out()

    async def _tell(self, event: Event) -> None:
        """Take an event in, and tell it, after what the policy has to say of itself; not what was told before the run was broken off."""
        for besides in (*told_notices(self._deps.policy), *self._asks.told()):
            if not self._past.told(besides):
                await self._hand_over(besides)
        told = self._references.told(event)
        self.noted(told)
        if not self._past.told(told):
            await self._hand_over(told)

    async def _hand_over(self, event: Event) -> None:
        began = self.progress.meter.elapsed
        async with self._parts.resting(self.subtask.number):
            await self._events.tell(self.subtask.number, event)
        self.progress.heard_seconds += self.progress.meter.elapsed - began

    async def _serve_by_program(self) -> None:
        """By what is taken or written for it; where nothing comes out of that, by a path that is found."""
        follow_up = self._earlier.runs if self._request == self._asked_for else ()
        parts = self._deps, self.evidence, self._calling, self.progress, self._past
        served = ByProgram(self._to_serve(wider=True), follow_up, *parts, self._serving)
        await served.serve()
        if not served.over and self._deps.files.new:
            await self._tell(PathEnded(path=(), how="gave_up", reason=served.why_not or UNREAD))
        elif not served.over:
            self._first = served.first
            await self._find_out()

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

    async def _find_out(self) -> None:
        """Paths and what they come to; of several programs the best stands."""
        await self._follow_paths()
        if self._first is not None and worse(self.progress.program, self._first):
            await self._tell(self._first)

    async def _follow_paths(self) -> None:
        """Plan, carry out, go around what fails, until there is an answer or nothing is left to try."""
        progress = self.progress
        recalled = await recall(self._request, self._deps, self.evidence, self._past)
        if recalled is not None:
            await self._tell(recalled)
        while True:
            await self._plan()
            ended = progress.ended
            if ended is None or not ended.path or ended.path == self._first_path:
                return
            await self._carry_out_path(ended)
            if self._over:
                further = self._walks_on(ended)
                if further is None:
                    return
                await self._tell(further)
                continue
            if ended.how == "open" and progress.stuck is None and not progress.meter.exhausted:
                continue
            if progress.stuck is None or progress.stuck[1].status in ("unknown", "skipped") or progress.meter.exhausted:
                return
            step, result = progress.stuck
            await self._tell(progress.go_around(step, result, why(result)))
            leave_alone(progress, self.evidence, self._executor)
            over = nothing_near(result, progress, self.evidence)
            if over is not None:
                await self._tell(over)
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

    async def _carry_out_path(self, ended: PathEnded) -> None:
        """A path that was found: as its user approves of it, by one program over its tools, or step by step where none comes out."""
        plan = Plan(path=ended.path, complete=ended.how == "finished", reason=ended.reason)
        await self._tell(PlanReady(plan=plan))
        if self._deps.approves is not None:
            self._over = True
            await self._carry_out_approved(ended, self._deps.approves)
            return
        if self._deps.writes_programs:
            serving = self._serving(self._to_serve(wider=False), self._deps)
            await serving.serve(self.evidence.docs(tuple(dict.fromkeys(ended.path))))
            if serving.over:
                self._over = True
                return
            await self._tell(PlanReady(plan=plan))
        await self._execute(ended, self._deps.policy)

    async def _carry_out_approved(self, planned: PathEnded, approves: Approves) -> None:
        """What the user makes of a plan, carried out; nothing where it is not allowed."""
        given = tuple(tool for tool, _ in self._given)
        tools = self.evidence.docs(planned.path)
        draft = drafted(self._request, tools, self.evidence.reader, given)
        plan = await approves(self._questions.about(draft, compiled(draft, {one.id: one for one in tools}, self._ids)))
        if plan is None:
            await self._tell(not_allowed())
        else:
            await self._carry_out(plan, planned)

    async def _carry_out(self, plan: ProgramPlan, planned: PathEnded | None = None) -> None:
        """A plan as it stands: where it breaks off, nothing is put in its place. ``planned``: what was told of it before."""
        self.chosen = True
        path = await tools_of(plan, self.evidence)
        ended = PathEnded(path=path, how="finished", reason="its plan is given" if planned is None else APPROVED)
        if planned is None:
            await self._tell(ended)
        self.progress.note(ended)
        if planned is None or (planned.path, planned.how) != (path, "finished"):
            await self._tell(PlanReady(plan=Plan(path=path, complete=True, reason=ended.reason)))
        if self._past.by_steps:
            await self._go_on_by_steps(plan, ended)
            return
        if self._deps.sandbox is None:
            raise UsageError("there is no sandbox to carry a plan out in; give the run one")
        found = self._to_serve(wider=False).found(text_names.used(plan.program.text) - {*plan.inputs})
        names: JsonObject = {"today": self._today, EARLIER: [], **found}
        parts = self._opened, self._deps.sandbox, self.evidence, self._calling, self.progress, self._past
        await Carrying(plan, names, *parts, wrong=self._deps.wrong_answers).carry_out(self._deps.choices)

    async def _go_on_by_steps(self, plan: ProgramPlan, ended: PathEnded) -> None:
        """The rest of a plan whose first calls were made as steps, by a version whose plans were no programs."""
        docs = {tool.id: tool for tool in self.evidence.docs(ended.path)}
        document = as_document(plan, docs, self._ids)
        await self._execute(ended, CarryingOut(self._deps.policy, document, len(self._given)))

    async def _plan(self) -> None:
        """Walk and reflect until a path is good enough or nothing more may be tried; then the best one is gone on with."""
        progress, meter = self.progress, self.progress.meter
        best: Judged | None = None
        verdict = ""
        while True:
            await self._walk()
            ended = progress.ended
            if ended is None or ended.how == "open" or meter.exhausted or not meter.may_reflect or self.done_already:
                break
            if not await self._is_to_reflect(ended):
                break
            path, reflection = await self._reflector.reflect(ended, progress.state)
            verdict = reflection.verdict
            state = resumed(progress.state, path, ended, reflection)
            await self._tell(made(path, reflection, goes_on=state is not None))
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
                reason = f"the best path so far: {kept.ended.reason}"
                await self._tell(kept.ended.model_copy(update={"reason": reason}))

    async def _is_to_reflect(self, ended: PathEnded) -> bool:
        """Whether a path is judged: as it was before; else always, but only where there is doubt if a program is written over it."""
        if self._past.next is not None:
            return isinstance(self._past.next, ReflectionMade)
        return not self._deps.writes_programs or await self._reflector.in_doubt(ended, self.progress.state)

    async def _walk(self) -> None:
        """Walk from where the state stands; what the walk leaves behind is the state to go on from."""
        progress = self.progress
        self._moves = 0
        planner = self._planner
        if self._deps.planner != "retrieve":  # which takes what was found, whatever is known of it
            planner = remembering(planner, self._deps.policy.adopt, self.evidence.recalled, self.evidence.reader)
        clauses = self.evidence.clauses
        with progress.spends("plan"):
            ended, state = await planner(
                self._request, clauses, progress.state, self._walking, progress.meter, self._tell_step
            )
        if self._moves > PATIENCE:
            state = state.resume(state.best, len(state.best), ended.reason)
            ended = PathEnded(path=state.best, how="budget", reason=ended.reason)
        progress.state = state
        await self._tell(ended)

    async def _tell_step(self, event: WalkEvent, state: Frontier) -> None:
        self.progress.state = state
        await self._tell(event)

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

    async def _execute(self, ended: PathEnded, policy: Policy) -> None:
        """Make the calls that are not made yet, within the time that is left."""
        progress = self.progress
        tools = (*(tool for tool, _ in self._given), *self.evidence.docs(ended.path))
        progress.writes |= {tool.id for tool in tools[progress.given :] if not tool.safe}
        event = None
        for event in self._past.calls():
            if isinstance(event, CallFinished):
                self._executor.saw(tools[event.step - 1].url, as_called(event.result))
            await self._tell(event)
        if self._past.next is None:
            event = await told_late(event, tools, policy, self._deps.choices)
            if event is not None:
                await self._tell(event)
        over = self._past.next is not None and not isinstance(self._past.next, CallStarted)
        if over or any(result.status != "ok" for result in progress.done.values()):
            return
        done = dict(enumerate((result for _, result in self._given), start=1))
        done |= {step: self._references.own(result) for step, result in progress.done.items()}
        if any(not tool.safe for step, tool in enumerate(tools, start=1) if step not in done):
            await self._parts.turn(self.subtask.number)  # changes are made in the order in which they were asked for
        within, choices = progress.meter.within_time, self._deps.choices
        with progress.spends("execute"):
            await execute(
                self._request, tools, policy, self._executor, done, self._tell, choices=choices, within_time=within
            )
