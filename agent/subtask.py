"""One subtask: by a plan that is given, by a program, or by a path; each goes on where the one before it came to nothing."""

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
    """One subtask from start to end; made, used once and dropped. ``given``: the steps that it builds on."""

    def __init__(self, subtask: Subtask, shared: Shared, evidence: Evidence, given: Given = ()) -> None:
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
        """``shared``: with the subtask's own policy."""
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
        """The calls of earlier runs that it rests on, where it made none of its own."""
        return self.given[: len(self.subtask.earlier)] if self.progress.done_already else ()

    async def serve(self, *, lacking: str = "") -> None:
        """Do all that can be done for it. ``lacking``: what it builds on and is not there; then nothing is done."""
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
        """By a program, where programs are written or taken; where nothing comes out of that, by a path, which reads no files."""
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
        """Take an event in, and tell it, after what the policy has to say of itself; not what was told before the run was broken off."""
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
