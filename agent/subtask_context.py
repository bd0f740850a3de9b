"""Context that the planners of one subtask work with."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.conversation import EarlierRun, StepReferences
from agent.execution.call_cache import CachingExecutor
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.approval import PlanQuestions
from agent.policy.subtasks import Subtask
from agent.programs.open_values import OpenValues
from agent.programs.program_loop import ProgramLoop
from agent.programs.program_request import EarlierResults, ProgramRequest
from agent.programs.program_runner import CallEnvironment
from agent.resume import SubtaskMemo
from agent.run_context import RunDeps
from agent.run_events import EmitEvent
from agent.subtask_progress import SubtaskProgress
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId

PriorSteps = tuple[tuple[ToolDoc, StepResult], ...]
"""Prior steps that a subtask builds on: from the conversation's earlier runs, then from earlier subtasks."""


@dataclass(frozen=True, slots=True)
class SubtaskContext:
    """Context of one subtask of a run."""

    subtask: Subtask
    deps: RunDeps
    """Dependencies of the run, with the subtask's own policy."""
    run: str
    """Name of the run."""
    today: str
    """Date on which the run began."""
    evidence: ToolEvidence
    progress: SubtaskProgress
    memo: SubtaskMemo
    """Recorded decisions, calls and questions of the subtask from before the run was interrupted."""
    emit: EmitEvent
    """Records and emits an event; the progress reflects it when this returns."""
    turn: Callable[[], Awaitable[None]]
    """Waits until all subtasks of lower numbers have ended; called before a change is made."""
    executor: CachingExecutor
    calling: CallEnvironment
    """Makes the calls of the subtask's programs."""
    opened: OpenValues
    questions: PlanQuestions
    references: StepReferences
    prior_steps: PriorSteps
    earlier: EarlierResults
    """Results of the conversation's earlier runs that a program may refer to by name."""
    follow_up: Sequence[EarlierRun]
    """Earlier runs that the request may continue from."""

    @property
    def request(self) -> str:
        """The text of the subtask's request."""
        return self.subtask.description

    @property
    def prior_tools(self) -> tuple[ToolDoc, ...]:
        """Tools of the prior steps."""
        return tuple(tool for tool, _ in self.prior_steps)

    @property
    def prior_tool_ids(self) -> tuple[ToolId, ...]:
        """Ids of the tools of the prior steps."""
        return tuple(tool.id for tool, _ in self.prior_steps)

    def build_program_request(self, *, wider: bool) -> ProgramRequest:
        """Build the request that a program is written for.

        With ``wider``, more tools may be offered if the program lacks something.
        """
        return ProgramRequest(self.request, self.today, self.earlier, wider=wider, files=self.deps.user.files)

    def build_program_loop(self, program_request: ProgramRequest, deps: RunDeps | None = None) -> ProgramLoop:
        """Build the loop that writes and runs programs for the subtask. ``deps`` replaces the subtask's own dependencies."""
        return ProgramLoop(
            program_request, deps or self.deps, self.evidence, self.calling, self.progress, self.memo, self.questions
        )
