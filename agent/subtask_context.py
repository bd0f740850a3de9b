"""The context of one subtask, which its planners work with."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.conversation import EarlierRun, StepReferences
from agent.execution.call_cache import CachingExecutor
from agent.offer.tool_evidence import ToolEvidence
from agent.plans.plan_approval import PlanQuestionBuilder
from agent.policy.protocol import Subtask
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
"""Steps that a subtask builds on: those of earlier runs of the conversation, then those of earlier subtasks."""


@dataclass(frozen=True, slots=True)
class SubtaskContext:
    """What the planners of one subtask work with."""

    subtask: Subtask
    deps: RunDeps
    """Dependencies of the run, with the policy of this subtask."""
    run_name: str
    """Name of the run."""
    today: str
    """Date on which the run began."""
    evidence: ToolEvidence
    """Documents of tools, and their relevance to the subtask."""
    progress: SubtaskProgress
    """State of the subtask, folded from its events."""
    memo: SubtaskMemo
    """Recorded decisions, calls and questions of the subtask from before the run was interrupted."""
    emit: EmitEvent
    """Emits an event; ``progress`` reflects it when this returns."""
    wait_for_turn: Callable[[], Awaitable[None]]
    """Waits until all subtasks of lower numbers have ended; called before a change is made."""
    executor: CachingExecutor
    """Makes the calls, and reuses the results of those already made in the run."""
    call_environment: CallEnvironment
    """Makes the calls of the programs."""
    open_values: OpenValues
    """Finds the values that a plan leaves open."""
    plan_questions: PlanQuestionBuilder
    """Builds the questions whether a plan may be executed."""
    references: StepReferences
    """Translates references to earlier calls."""
    prior_steps: PriorSteps
    earlier_results: EarlierResults
    """Results of the conversation's earlier runs that a program may refer to by name."""
    follow_up_runs: Sequence[EarlierRun]
    """Earlier runs that the request may refer to; empty if the decomposition has resolved the references."""

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

        ``wider`` allows further tools to be offered if the program lacks something.
        """
        return ProgramRequest(
            self.request, self.today, self.earlier_results, may_widen_offer=wider, files=self.deps.user.files
        )

    def build_program_loop(self, program_request: ProgramRequest, deps: RunDeps | None = None) -> ProgramLoop:
        """Build the loop that writes and runs programs; ``deps`` replaces the dependencies of the subtask."""
        return ProgramLoop(
            program_request,
            deps or self.deps,
            self.evidence,
            self.call_environment,
            self.progress,
            self.memo,
            self.plan_questions,
        )
