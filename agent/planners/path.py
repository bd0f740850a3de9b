"""A request served by a path through the tool graph: planned, reflected on, carried out, and gone around where a step fails."""

from dataclasses import replace

from agent import resume_decisions as decisions
from agent.memory.path_reuse import remembering
from agent.memory.recall import recall
from agent.offer.expansion import Expander
from agent.offer.failed_hosts import leave_alone, nothing_near
from agent.planners.by_name import planner_named
from agent.planners.carrying_out import carry_out_plan, execute_path
from agent.plans.approval import Approves, not_allowed
from agent.plans.compiling import compiled
from agent.plans.draft import drafted
from agent.policy.path_questions import Reflection
from agent.policy.protocol import Choice, Results, Situation
from agent.programs.verdict import worse
from agent.reflection import PATIENCE, Judged, Reflector, better, made, resumed
from agent.search.dfs import WalkEvent
from agent.search.state import Frontier, Path
from agent.search.walk import walk_deps
from agent.step_notes import why
from agent.subtask_context import SubtaskContext
from domain.event import PathEnded, PlanReady, ProgramEnded, ReflectionMade
from domain.plan import Plan


class PathPlanner:
    """Made for one subtask, used once and dropped. ``first``: the end of a program that was run for it before and may still stand."""

    def __init__(self, context: SubtaskContext, first: ProgramEnded | None = None) -> None:
        self._context = context
        self._deps = deps = context.deps
        self._evidence = evidence = context.evidence
        self._progress = context.progress
        self._memo = context.memo
        self._tell = context.tell
        request = context.request
        again = deps.planning.planner == "react"
        expand = Expander(
            request, evidence, deps.planning.walk, context.given_ids, context.run, deps.knowledge.offers, again
        )
        walking = walk_deps(request, evidence, deps.planning.walk, deps.planning.policy, self._results, expand)
        self._walking = replace(walking, choose=self._choose)
        self._planner = planner_named(deps.planning.planner)
        self._reflector = Reflector(request, context.given_tools, evidence, expand, deps.planning.policy)
        self._moves = 0
        self._over = False
        self._first = first
        self._first_path: Path | None = None

    async def serve(self) -> None:
        """Paths and what they come to; of several programs the best stands."""
        await self._follow_paths()
        if self._first is not None and worse(self._progress.program, self._first):
            await self._tell(self._first)

    async def _follow_paths(self) -> None:
        """Plan, carry out, go around what fails, until there is an answer or nothing is left to try."""
        progress = self._progress
        recalled = await recall(self._context.request, self._deps, self._evidence, self._memo)
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
            leave_alone(progress, self._evidence, self._context.executor)
            over = nothing_near(result, progress, self._evidence)
            if over is not None:
                await self._tell(over)
                return

    def _walks_on(self, ended: PathEnded) -> ReflectionMade | None:
        """Once, the walk goes on from a path whose program says what it lacks, unless something was changed on it."""
        progress = self._progress
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
        if self._deps.user.approves is not None:
            self._over = True
            await self._carry_out_approved(ended, self._deps.user.approves)
            return
        if self._deps.writes_programs:
            serving = self._context.serving(self._context.asked(wider=False))
            await serving.serve(self._evidence.docs(tuple(dict.fromkeys(ended.path))))
            if serving.over:
                self._over = True
                return
            await self._tell(PlanReady(plan=plan))
        await execute_path(self._context, ended, self._deps.planning.policy)

    async def _carry_out_approved(self, planned: PathEnded, approves: Approves) -> None:
        """What the user makes of a plan, carried out; nothing where it is not allowed."""
        given = self._context.given_tools
        tools = self._evidence.docs(planned.path)
        draft = drafted(self._context.request, tools, self._evidence.reader, given)
        plan = await approves(
            self._context.questions.about(
                draft, compiled(draft, {one.id: one for one in tools}, self._context.given_ids)
            )
        )
        if plan is None:
            await self._tell(not_allowed())
        else:
            await carry_out_plan(self._context, plan, planned)

    async def _plan(self) -> None:
        """Walk and reflect until a path is good enough or nothing more may be tried; then the best one is gone on with."""
        progress, meter = self._progress, self._progress.meter
        best: Judged | None = None
        verdict = ""
        while True:
            await self._walk()
            ended = progress.ended
            if (
                ended is None
                or ended.how == "open"
                or meter.exhausted
                or not meter.may_reflect
                or self._progress.done_already
            ):
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
        """Whether a path is judged: always, but only where there is doubt if a program is written over it."""

        async def is_in_doubt() -> bool:
            return not self._deps.writes_programs or await self._reflector.in_doubt(ended, self._progress.state)

        return await self._memo.decide(decisions.is_path_judged, is_in_doubt)

    async def _walk(self) -> None:
        """Walk from where the state stands; what the walk leaves behind is the state to go on from."""
        progress = self._progress
        self._moves = 0
        planner = self._planner
        if self._deps.planning.planner != "retrieve":  # which takes what was found, whatever is known of it
            planner = remembering(
                planner, self._deps.planning.policy.decide, self._evidence.recalled, self._evidence.reader
            )
        clauses = self._evidence.clauses
        with progress.spends("plan"):
            ended, state = await planner(
                self._context.request, clauses, progress.state, self._walking, progress.meter, self._tell_step
            )
        if self._moves > PATIENCE:
            state = state.resume(state.best, len(state.best), ended.reason)
            ended = PathEnded(path=state.best, how="budget", reason=ended.reason)
        progress.state = state
        await self._tell(ended)

    async def _tell_step(self, event: WalkEvent, state: Frontier) -> None:
        self._progress.state = state
        await self._tell(event)

    def _results(self) -> Results:
        """What the steps that were called have given, for a planner that looks before it goes on."""
        done = self._progress.done
        return (
            *self._context.given,
            *((self._evidence.doc(done[step].tool), done[step]) for step in sorted(done)),
        )

    async def _choose(self, situation: Situation) -> Choice:
        """The policy's move, while the walk has not lost its way and a reflection could set it right."""
        self._moves += 1
        if self._moves > PATIENCE and self._progress.meter.may_reflect:
            return Choice("give_up", f"{PATIENCE} moves, and no end of the path")
        self._moves = min(self._moves, PATIENCE)
        choice = await self._deps.planning.policy.decide(situation)
        only_given = len(situation.path) == len(self._context.given) > 0
        self._progress.done_already = choice.action == "finish" and only_given
        return choice
