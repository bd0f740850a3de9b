"""What the planners of one subtask work with: what is asked, what is known of it, what was done for it, and the way to tell what happens."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from agent.conversation import EarlierRun, References
from agent.execution.call_cache import ReusingExecutor
from agent.offer.tool_facts import Evidence
from agent.plans.approval import PlanQuestions
from agent.policy.subtasks import Subtask
from agent.programs.earlier import Asked, EarlierResults
from agent.programs.open_values import OpenValues
from agent.programs.running import Calling
from agent.programs.serving import Serving
from agent.resume import Memo
from agent.run_context import RunDeps
from agent.run_events import Tell
from agent.subtask_progress import Progress
from domain.plan import StepResult
from domain.tool import ToolDoc, ToolId

Given = tuple[tuple[ToolDoc, StepResult], ...]
"""Steps that a subtask builds on: of the conversation's earlier runs, then of earlier subtasks."""


@dataclass(frozen=True, slots=True)
class SubtaskContext:
    """One for each subtask of a run."""

    subtask: Subtask
    deps: RunDeps
    """What the run works with; the policy is the subtask's own."""
    run: str
    """The name of the run."""
    today: str
    """The day on which it began."""
    evidence: Evidence
    progress: Progress
    memo: Memo
    """What the subtask decided, called and asked before the run was broken off."""
    tell: Tell
    """Takes an event in and tells it; what it changes has changed when this returns."""
    turn: Callable[[], Awaitable[None]]
    """Waits until all subtasks of lower numbers have ended; before a change is made."""
    executor: ReusingExecutor
    calling: Calling
    """What the calls of its programs are made with."""
    opened: OpenValues
    questions: PlanQuestions
    references: References
    given: Given
    earlier: EarlierResults
    """Results of the conversation's earlier runs that a program may name."""
    follow_up: Sequence[EarlierRun]
    """The earlier runs that the request may go on from."""

    @property
    def request(self) -> str:
        """What is asked of this subtask."""
        return self.subtask.description

    @property
    def given_tools(self) -> tuple[ToolDoc, ...]:
        """The tools of the steps that it builds on."""
        return tuple(tool for tool, _ in self.given)

    @property
    def given_ids(self) -> tuple[ToolId, ...]:
        """Their ids."""
        return tuple(tool.id for tool, _ in self.given)

    def asked(self, *, wider: bool) -> Asked:
        """What a program is written for; earlier results are names of it. ``wider``: it may be offered more tools for what it lacks."""
        return Asked(self.request, self.today, self.earlier, wider=wider, files=self.deps.user.files)

    def serving(self, asked: Asked, deps: RunDeps | None = None) -> Serving:
        """What writes and runs programs for it."""
        return Serving(asked, deps or self.deps, self.evidence, self.calling, self.progress, self.memo, self.questions)
