"""One subtask of a run: serving it by a given plan, a program or a path, and judging the result."""

from dataclasses import replace
from functools import partial

from agent.conversation import StepReferences
from agent.files.origins import FileOrigins
from agent.offer.tool_evidence import ToolEvidence
from agent.planners.path import PathPlanner
from agent.planners.plan_execution import carry_out_plan
from agent.planners.program import ProgramPlanner
from agent.plans.approval import PlanQuestions
from agent.policy.ask_user import AskUserPolicy
from agent.policy.protocol import take_notices
from agent.policy.subtasks import Subtask
from agent.programs.open_values import OpenValues
from agent.programs.program_request import build_earlier_results
from agent.programs.program_runner import CallEnvironment, StepCount
from agent.resume_policy import ReplayPolicy
from agent.run_context import RunContext, build_call_context
from agent.subtask_context import PriorSteps, SubtaskContext
from agent.subtask_outcome import SubtaskOutcome
from agent.subtask_progress import SubtaskProgress
from domain.event import Event, PathEnded, ProgramEnded

UNREAD_FILE = "no program came out that reads the file"
"""Reason why a request with a file is given up without a program."""


class SubtaskRun(SubtaskOutcome):
    """One subtask from start to end; an object serves one subtask."""

    def __init__(
        self, subtask: Subtask, shared: RunContext, evidence: ToolEvidence, prior_steps: PriorSteps = ()
    ) -> None:
        """Prepare to serve a subtask. ``prior_steps`` are the steps that it builds on."""
        progress = SubtaskProgress(shared.meter, len(prior_steps))
        super().__init__(subtask, evidence, progress, shared.provenance, shared.deps.planning.policy, prior_steps)
        self._shared = shared
        self._memo = shared.log.get_memo(subtask.number)
        self._references = StepReferences(shared.request, shared.earlier, subtask.earlier, self.find_origin)
        # The tools of this planner were found and not chosen, so the user is not asked for their values.
        chosen = shared.deps.planning.planner != "retrieve"
        self._asks = AskUserPolicy(
            shared.deps.planning.policy, shared.user_questions, subtask.number, self._memo.find_answer, chosen=chosen
        )
        policy = ReplayPolicy(self._asks, self._memo, self._references.to_subtask_binding)
        self._context = self._build_context(replace(shared, deps=shared.deps.with_policy(policy)))

    def _build_context(self, shared: RunContext) -> SubtaskContext:
        """Build the context that planners work with; ``shared`` holds the policy of this subtask."""
        subtask, prior_steps, policy = self.subtask, self.prior_steps, shared.deps.planning.policy
        turn = partial(shared.scheduler.wait_for_turn, subtask.number)
        opened = OpenValues(subtask.description, policy, prior_steps)
        call_context, files = (
            build_call_context(shared, [tool for tool, _ in prior_steps]),
            FileOrigins(shared.deps.user.files.all),
        )
        parts = StepCount(len(prior_steps)), self._emit, turn, shared.user_questions, call_context, opened
        is_whole_request = subtask.description == shared.request
        return SubtaskContext(
            subtask=subtask,
            deps=shared.deps,
            run=shared.events.run,
            today=shared.today,
            evidence=self.evidence,
            progress=self.progress,
            memo=self._memo,
            emit=self._emit,
            turn=turn,
            executor=shared.executor,
            calling=CallEnvironment(subtask.number, {}, shared.executor, shared.meter, *parts, files=files),
            opened=opened,
            questions=PlanQuestions(subtask.number, subtask.description, prior_steps),
            references=self._references,
            prior_steps=prior_steps,
            earlier=build_earlier_results(shared.earlier, subtask.earlier, prior_steps, is_original=is_whole_request),
            follow_up=shared.earlier.runs if is_whole_request else (),
        )

    @property
    def reused_steps(self) -> PriorSteps:
        """Calls of earlier runs that the answer is based on if nothing was left to do; else empty."""
        return self.prior_steps[: len(self.subtask.earlier)] if self.progress.done_already else ()

    async def serve(self, *, unmet: str = "") -> None:
        """Serve the subtask as far as possible.

        ``unmet`` names dependencies that were not served; if it is not empty, the subtask is given up at once.
        """
        deps = self._context.deps
        await self._emit(self.subtask.to_event(len(self.prior_steps)))
        if unmet:
            reason = f"it builds on what could not be found: {unmet}"
            await self._emit(PathEnded(path=(), how="gave_up", reason=reason))
        elif self.subtask.reread:
            self.progress.done_already = True
            await self._emit(PathEnded(path=(), how="finished", reason="earlier results hold the answer"))
        elif deps.planning.plan is not None:
            await carry_out_plan(self._context, deps.planning.plan)
        else:
            await self._plan()

    async def _plan(self) -> None:
        """Serve by a solution or a program if the planner uses them; else, or if that fails, by a path.

        A path cannot read files, so a request with a file is given up without a program.
        """
        deps = self._context.deps
        first: ProgramEnded | None = None
        if deps.by_program or deps.takes_solutions:
            program = ProgramPlanner(self._context)
            await program.serve()
            if program.is_over:
                return
            if deps.user.files.new:
                await self._emit(PathEnded(path=(), how="gave_up", reason=program.failure_reason or UNREAD_FILE))
                return
            first = program.first_end
        await PathPlanner(self._context, first).serve()

    async def _emit(self, event: Event) -> None:
        """Emit an event, after pending events of the policy, and record it; replayed events are only recorded."""
        for extra_event in (*take_notices(self._context.deps.planning.policy), *self._asks.take_events()):
            if not self._memo.replay_event(extra_event):
                await self._forward(extra_event)
        run_event = self._references.to_run_event(event)
        self.note_event(run_event)
        if not self._memo.replay_event(run_event):
            await self._forward(run_event)

    async def _forward(self, event: Event) -> None:
        """Emit an event to the stream of the run, and measure how long its follower takes."""
        # The time that the follower takes is not part of planning or executing.
        began = self.progress.meter.elapsed
        async with self._shared.scheduler.idle(self.subtask.number):
            await self._shared.events.emit(self.subtask.number, event)
        self.progress.emit_seconds += self.progress.meter.elapsed - began
