"""Serving a subtask by a path through the tool graph, which is replanned where a step fails."""

from agent.failure_message import explain_step_failure
from agent.memory.recall import recall_memories
from agent.offer.failing_tools import ban_tools_of_failed_hosts, end_without_alternative
from agent.planners.graph_search import GraphSearchPlanner
from agent.planners.plan_execution import execute_path, execute_plan
from agent.planners.reflection import apply_reflection, build_reflection_event
from agent.plans.plan_approval import PlanApprover, build_denial_event
from agent.plans.plan_compilation import compile_plan
from agent.plans.plan_drafts import draft_plan
from agent.policy.protocol import Reflection
from agent.programs.program_verdict import is_worse
from agent.search.state import Path
from agent.subtask_context import SubtaskContext
from domain.event import PathEnded, PlanReady, ProgramEnded, ReflectionMade
from domain.plan import Plan


class PathPlanner:
    """Serves one subtask by paths; an object serves one subtask."""

    def __init__(self, context: SubtaskContext, earlier_end: ProgramEnded | None = None) -> None:
        """Prepare to serve a subtask.

        ``earlier_end`` is the end of a program that ran before; it counts if nothing better follows.
        """
        self._context = context
        self._deps = context.deps
        self._evidence = context.evidence
        self._progress = context.progress
        self._memo = context.memo
        self._emit = context.emit
        self._search = GraphSearchPlanner(context)
        self._is_over = False
        self._earlier_end = earlier_end
        self._earlier_path: Path | None = None

    async def serve(self) -> None:
        """Serve the subtask by paths; if programs ran, the end of the best one counts."""
        await self._follow_paths()
        if self._earlier_end is not None and is_worse(self._progress.program_end, self._earlier_end):
            await self._emit(self._earlier_end)

    async def _follow_paths(self) -> None:
        """Search for a path, execute it and replan around failed steps, until nothing is left to do or to try."""
        progress = self._progress
        recalled = await recall_memories(self._context.request, self._deps, self._evidence, self._memo)
        if recalled is not None:
            await self._emit(recalled)
        while True:
            await self._search.find_path()
            ended = progress.path_end
            if ended is None or not ended.path or ended.path == self._earlier_path:
                return
            await self._execute_path(ended)
            if self._is_over:
                reflection_event = self._extend_search(ended)
                if reflection_event is None:
                    return
                await self._emit(reflection_event)
                continue
            # The planner waits for the result of each step; the search goes on with it.
            if ended.how == "open" and progress.blocking_step is None and not progress.meter.exhausted:
                continue
            # A refused change is not replaced by another, nor is one that may have taken effect.
            if (
                progress.blocking_step is None
                or progress.blocking_step[1].status in ("unknown", "skipped")
                or progress.meter.exhausted
            ):
                return
            step, result = progress.blocking_step
            await self._emit(progress.abandon_step(step, result, explain_step_failure(result)))
            ban_tools_of_failed_hosts(progress, self._evidence, self._context.executor)
            final_event = end_without_alternative(result, progress, self._evidence)
            if final_event is not None:
                await self._emit(final_event)
                return

    def _extend_search(self, ended: PathEnded) -> ReflectionMade | None:
        """Prepare to continue the search, once, from a path whose program reports what it lacks.

        After a change the search is not continued, because another program might make the change again.

        Returns:
            The event of this reflection; None if the search is not continued.
        """
        progress = self._progress
        end, meter = progress.program_end, progress.meter
        if (
            end is None
            or end.answered == "yes"
            or not end.missing
            or self._earlier_end is not None
            or progress.changes_made
        ):
            return None
        if ended.how != "finished" or meter.exhausted or not meter.may_reflect:
            return None
        meter.reflections += 1
        self._earlier_end, self._earlier_path, self._is_over = end, ended.path, False
        reason = f"its program lacks: {end.missing}"
        reflection = Reflection("partial", reason, len(ended.path) + 1)
        if not any(result.status == "ok" for result in progress.step_results.values()):
            reflection = Reflection("total", reason, noisy=ended.path[:1])  # nothing of the path was of any use
        state = apply_reflection(progress.state, ended.path, ended, reflection)
        if state is None:
            return None
        progress.state = state
        return build_reflection_event(ended.path, reflection, resumed=True)

    async def _execute_path(self, ended: PathEnded) -> None:
        """Execute a path.

        It is executed as the user approves it, by a program over its tools, or step by step if no program came out.
        """
        plan = Plan(path=ended.path, complete=ended.how == "finished", reason=ended.reason)
        await self._emit(PlanReady(plan=plan))
        if self._deps.user.plan_approver is not None:
            self._is_over = True
            await self._execute_approved_plan(ended, self._deps.user.plan_approver)
            return
        if self._deps.writes_programs:
            program_loop = self._context.build_program_loop(self._context.build_program_request(wider=False))
            await program_loop.run(self._evidence.docs(tuple(dict.fromkeys(ended.path))))
            if program_loop.is_over:
                self._is_over = True
                return
            await self._emit(PlanReady(plan=plan))  # the plan counts again, in place of the program
        await execute_path(self._context, ended, self._deps.planning.policy)

    async def _execute_approved_plan(self, planned: PathEnded, plan_approver: PlanApprover) -> None:
        """Show the plan to the user, and execute what the user returns; nothing if the plan is refused."""
        prior_tools = self._context.prior_tools
        tools = self._evidence.docs(planned.path)
        draft = draft_plan(self._context.request, tools, self._evidence.reader, prior_tools)
        plan = await plan_approver(
            self._context.plan_questions.build_question(
                draft, compile_plan(draft, {tool.id: tool for tool in tools}, self._context.prior_tool_ids)
            )
        )
        if plan is None:
            await self._emit(build_denial_event())
        else:
            await execute_plan(self._context, plan, planned)
