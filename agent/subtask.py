"""Execution of one subtask: by a given plan, by a program, or by a path if the others come to nothing."""

from dataclasses import replace
from functools import partial

from agent.conversation import References
from agent.files.origins import FileOrigins
from agent.offer.tool_facts import Evidence
from agent.planners.carrying_out import carry_out_plan
from agent.planners.path import PathPlanner
from agent.planners.program import ProgramPlanner
from agent.plans.approval import PlanQuestions
from agent.policy.asking_back import AskingBack
from agent.policy.protocol import told_notices
from agent.policy.subtasks import Subtask
from agent.programs.earlier import earlier_results
from agent.programs.open_values import OpenValues
from agent.programs.running import Calling, StepCount
from agent.resume_policy import ReplayPolicy
from agent.run_context import Shared, leave_of
from agent.subtask_context import Given, SubtaskContext
from agent.subtask_outcome import SubtaskOutcome
from agent.subtask_progress import Progress
from domain.event import Event, PathEnded, ProgramEnded

UNREAD = "no program came out that reads the file"


class SubtaskRun(SubtaskOutcome):
    """One subtask from start to end. Used once."""

    def __init__(self, subtask: Subtask, shared: Shared, evidence: Evidence, given: Given = ()) -> None:
        """Prepare to serve a subtask. ``prior_steps`` are the steps that it builds on."""
        progress = Progress(shared.meter, len(given))
        super().__init__(subtask, evidence, progress, shared.provenance, shared.deps.planning.policy, given)
        self._shared = shared
        self._memo = shared.log.of(subtask.number)
        self._references = References(shared.request, shared.earlier, subtask.earlier, self.whence)
        chosen = shared.deps.planning.planner != "retrieve"
        self._asks = AskingBack(
            shared.deps.planning.policy, shared.asking, subtask.number, self._memo.answer, chosen=chosen
        )
        policy = ReplayPolicy(self._asks, self._memo, self._references.own_binding)
        self._context = self._build_context(replace(shared, deps=shared.deps.with_policy(policy)))

    def _build_context(self, shared: Shared) -> SubtaskContext:
        """Build the context of the subtask's planners. ``shared`` holds the subtask's own policy."""
        subtask, given, policy = self.subtask, self.given, shared.deps.planning.policy
        turn = partial(shared.parts.turn, subtask.number)
        opened = OpenValues(subtask.description, policy, given)
        leave, files = leave_of(shared, [tool for tool, _ in given]), FileOrigins(shared.deps.user.files.all)
        parts = StepCount(len(given)), self._tell, turn, shared.asking, leave, opened
        whole = subtask.description == shared.request
        return SubtaskContext(
            subtask=subtask,
            deps=shared.deps,
            run=shared.events.run,
            today=shared.today,
            evidence=self.evidence,
            progress=self.progress,
            memo=self._memo,
            tell=self._tell,
            turn=turn,
            executor=shared.executor,
            calling=Calling(subtask.number, {}, shared.executor, shared.meter, *parts, files=files),
            opened=opened,
            questions=PlanQuestions(subtask.number, subtask.description, given),
            references=self._references,
            given=given,
            earlier=earlier_results(shared.earlier, subtask.earlier, given, whole=whole),
            follow_up=shared.earlier.runs if whole else (),
        )

    @property
    def reread(self) -> Given:
        """The calls of earlier runs that the answer is based on, if the subtask made none of its own."""
        return self.given[: len(self.subtask.earlier)] if self.progress.done_already else ()

    async def serve(self, *, lacking: str = "") -> None:
        """Serve the subtask as far as possible.

        ``unmet`` names dependencies that were not served; with any, the subtask is given up at once.
        """
        deps = self._context.deps
        await self._tell(self.subtask.started(len(self.given)))
        if lacking:
            reason = f"it builds on what could not be found: {lacking}"
            await self._tell(PathEnded(path=(), how="gave_up", reason=reason))
        elif self.subtask.reread:
            self.progress.done_already = True
            await self._tell(PathEnded(path=(), how="finished", reason="earlier results hold the answer"))
        elif deps.planning.plan is not None:
            await carry_out_plan(self._context, deps.planning.plan)
        else:
            await self._plan()

    async def _plan(self) -> None:
        """Serve by a program if programs are written or solutions used; else, or if that fails, by a path.

        A path cannot read files.
        """
        deps = self._context.deps
        first: ProgramEnded | None = None
        if deps.by_program or deps.takes_solutions:
            program = ProgramPlanner(self._context)
            await program.serve()
            if program.over:
                return
            if deps.user.files.new:
                await self._tell(PathEnded(path=(), how="gave_up", reason=program.why_not or UNREAD))
                return
            first = program.first
        await PathPlanner(self._context, first).serve()

    async def _tell(self, event: Event) -> None:
        """Record an event and emit it, after pending events of the policy. Replayed events are not emitted again."""
        for besides in (*told_notices(self._context.deps.planning.policy), *self._asks.told()):
            if not self._memo.replays(besides):
                await self._hand_over(besides)
        told = self._references.told(event)
        self.noted(told)
        if not self._memo.replays(told):
            await self._hand_over(told)

    async def _hand_over(self, event: Event) -> None:
        began = self.progress.meter.elapsed
        async with self._shared.parts.resting(self.subtask.number):
            await self._shared.events.tell(self.subtask.number, event)
        self.progress.heard_seconds += self.progress.meter.elapsed - began
