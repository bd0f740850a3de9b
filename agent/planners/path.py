"""Serving a request by a path through the tool graph, which is replanned where a step fails."""

from agent.memory.recall import recall
from agent.offer.failed_hosts import leave_alone, nothing_near
from agent.planners.carrying_out import carry_out_plan, execute_path
from agent.planners.graph_search import GraphSearchPlanner
from agent.plans.approval import Approves, not_allowed
from agent.plans.compiling import compiled
from agent.plans.draft import drafted
from agent.policy.path_questions import Reflection
from agent.programs.verdict import worse
from agent.reflection import made, resumed
from agent.search.state import Path
from agent.step_notes import why
from agent.subtask_context import SubtaskContext
from domain.event import PathEnded, PlanReady, ProgramEnded, ReflectionMade
from domain.plan import Plan


class PathPlanner:
    """Serves one subtask by paths. Used once."""

    def __init__(self, context: SubtaskContext, first: ProgramEnded | None = None) -> None:
        """Serve a subtask.

        ``first`` is the end of a program that ran for it before; it counts if nothing better follows.
        """
        self._context = context
        self._deps = context.deps
        self._evidence = context.evidence
        self._progress = context.progress
        self._memo = context.memo
        self._tell = context.tell
        self._search = GraphSearchPlanner(context)
        self._over = False
        self._first = first
        self._first_path: Path | None = None

    async def serve(self) -> None:
        """Serve the subtask by paths; of several programs, the end of the best one counts."""
        await self._follow_paths()
        if self._first is not None and worse(self._progress.program, self._first):
            await self._tell(self._first)

    async def _follow_paths(self) -> None:
        """Search, execute and replan around failed steps, until there is an answer or nothing is left to try."""
        progress = self._progress
        recalled = await recall(self._context.request, self._deps, self._evidence, self._memo)
        if recalled is not None:
            await self._tell(recalled)
        while True:
            await self._search.find_path()
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
        """Continue the search, once, from a path whose program reports what it lacks; not after a change was made.

        Returns the event of this reflection, or None if the search is not continued.
        """
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
        """Execute a path: as the user approves it, by one program over its tools, or step by step if no program came out."""
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
        """Ask the user about the plan, and execute the plan that the user returns; nothing if it is refused."""
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
