"""Dependencies of a run, grouped by purpose, and the state that its subtasks share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent.budget import BudgetMeter
from agent.compression.field_selection import FieldChoices
from agent.conversation import ConversationHistory
from agent.execution.approval import AnnouncedCallRegistry, Approver, DenyChangesApprover
from agent.execution.call_cache import CachingExecutor
from agent.execution.executor import Executor
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.execution.run_executor import ExecutorLayerFactory
from agent.execution.secret_store import SecretStore
from agent.files.given_files import GivenFiles
from agent.learning.learner import RunLearner
from agent.memory.long_term import LongTermMemory
from agent.offer.offer_maker import OfferSource
from agent.offer.tool_evidence import ToolFinder
from agent.planners.registry import get_search_options
from agent.plans.plan_approval import PlanApprover
from agent.policy.protocol import Policy
from agent.programs.call_context import SubtaskCallContext
from agent.programs.program_request import EARLIER
from agent.programs.program_types import Sandbox
from agent.request_reader import PlainReader, RequestReader
from agent.resume import RunLog
from agent.run_events import RunEventStream, RunInTurns
from agent.scheduler import SubtaskScheduler
from agent.search.dfs import SearchOptions, SearchSettings
from agent.solutions.protocol import SolutionAccess
from agent.user_questions import NoUser, UserChannel, UserQuestions
from domain.program import ProgramPlan
from domain.tool import ToolDoc
from graph.dataflow import FlowStore
from graph.store import GraphStore
from graph.weights import WeightParameters

PROGRAM_PLANNERS = frozenset({"program", "solution"})
"""Planners that first try to serve a request by one program over the tools offered for it."""


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """Knowledge of tools and of earlier runs.

    Runs may share it, except for the memory and the solutions, which belong to a user.
    """

    store: GraphStore
    """The tool graph."""
    search: ToolFinder
    """Searches the tools for a request."""
    offers: OfferSource | None = None
    """Selects the tools to choose from; without it only the search does."""
    flows: FlowStore | None = None
    """Observed flows of values between tools."""
    weights: WeightParameters = field(default_factory=WeightParameters)
    memory: LongTermMemory | None = None
    """Memory of the user."""
    solutions: SolutionAccess | None = None
    """Programs that served earlier requests or may serve this one."""


@dataclass(frozen=True, slots=True)
class RunPlanning:
    """How a run is planned, and by which policy."""

    policy: Policy
    """The run's own policy: it keeps the run's account."""
    planner: str = "dfs"
    """Name of the planner (:mod:`agent.planners.registry`)."""
    plan: ProgramPlan | None = None
    """A plan to execute; with one, nothing is planned."""
    reader: RequestReader = field(default_factory=PlainReader)
    """Analyses the request by code."""
    walk_settings: SearchSettings = field(default_factory=SearchSettings)
    """Settings of the search in the tool graph."""
    max_recalled: int = 8
    """Limit of memories that are recalled."""
    sandbox: Sandbox | None = None
    """Runs programs; without it none is written."""
    offer_tokens: int = 1000
    """Limit in tokens of the description of offered functions in the prompt for a program."""
    rephrases_answers: bool = False
    """The policy rephrases the answer of a program."""
    max_parallel_subtasks: int = 3
    """Number of subtasks that are served concurrently."""


@dataclass(frozen=True, slots=True)
class RunCallOptions:
    """How the calls of a run are made."""

    executor: Executor
    layers: tuple[ExecutorLayerFactory, ...] = ()
    """Layers that calls pass before the executor, in the order of :func:`agent.execution.run_executor.build_run_executor`."""
    approver: Approver = field(default_factory=DenyChangesApprover)
    """Asked before each call; the default denies every call that may change something."""
    has_ledger: bool = False
    """True if one of the layers records which changing calls were started before an interruption, and their results."""
    secrets: SecretStore | None = None
    """Keys of the user for the tools."""
    field_choices: FieldChoices = field(default_factory=FieldChoices)
    """Selects the fields that are kept of long responses."""


@dataclass(frozen=True, slots=True)
class RunUser:
    """Data and statements of a run's user, and the ways to ask the user."""

    channel: UserChannel = field(default_factory=NoUser)
    """Answers questions about what the request leaves open."""
    plan_approver: PlanApprover | None = None
    """Approves each plan before its calls; the plan that it returns, which the user may have edited, is executed.

    None if plans need no approval.
    """
    statements: RunStatements | None = None
    """Statements of the user from before the run; None if the request is the only one."""
    files: GivenFiles = field(default_factory=GivenFiles)
    """Files that come with the request or earlier ones."""
    wrong_answers: frozenset[str] = frozenset()
    """Answers to this request that the user has marked as wrong."""


@dataclass(frozen=True, slots=True)
class RunHost:
    """Services of the process that hosts a run."""

    find_exhausted_quota: Callable[[], str] = lambda: ""
    """Returns the name of an exhausted shared limit, as in :class:`agent.budget.BudgetMeter`."""
    is_resumable: bool = False
    """True if the run can be resumed later.

    If a store is unreachable, the run then raises the error of the store instead of ending as failed.
    """
    today: str = ""
    """Date given to programs, such as ``2026-11-23``; if empty, the day on which the run began."""
    learner: RunLearner | None = None
    """Learns from the run just before its end."""
    run_in_turns: RunInTurns | None = None
    """Runs the work of the run in turns with other work of the process; None if it need not yield."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """Everything that a run works with, grouped by purpose."""

    knowledge: RunKnowledge
    planning: RunPlanning
    calls: RunCallOptions
    user: RunUser = field(default_factory=RunUser)
    host: RunHost = field(default_factory=RunHost)

    def with_policy(self, policy: Policy) -> "RunDeps":
        """Return a copy with another policy."""
        return replace(self, planning=replace(self.planning, policy=policy))

    @property
    def options(self) -> SearchOptions:
        """The planner's options for the search of the tool graph."""
        return get_search_options(self.planning.planner)

    @property
    def writes_programs(self) -> bool:
        """Return whether programs may be written.

        They are not if a plan is given, nor over a path that the user must approve: such a path is drafted as a plan.
        """
        return (
            self.options.ends_in_program
            and self.planning.sandbox is not None
            and self.planning.policy.can_write_programs
            and self.planning.plan is None
            and (self.user.plan_approver is None or self.planning.planner in PROGRAM_PLANNERS)
        )

    @property
    def tries_program_first(self) -> bool:
        """Return whether one program over the offered tools is tried before any search for a path."""
        return self.planning.planner in PROGRAM_PLANNERS and self.writes_programs

    @property
    def can_use_earlier_results(self) -> bool:
        """Return whether the author of a program can use earlier results by itself.

        The offline policy cannot: its rules resolve references to earlier requests during decomposition.
        """
        return self.planning.policy.name != "offline"

    @property
    def can_read_files(self) -> bool:
        """Return whether files that come with a request can be read, by a given plan or by a program."""
        return self.planning.plan is not None or (self.tries_program_first and self.can_use_earlier_results)

    @property
    def reuses_solutions(self) -> bool:
        """Return whether a matching solution of the library is used unchanged before anything is planned.

        Only the planner ``program`` does so, and only if no file came with the request, which a solution could not
        read.
        """
        return self.planning.planner == "program" and self.writes_programs and not self.user.files.new


@dataclass(frozen=True, slots=True)
class RunContext:
    """State that the subtasks of one run share."""

    deps: RunDeps
    events: RunEventStream
    """Stream that all events of the run are emitted to."""
    meter: BudgetMeter
    """Usage of the run, measured against its budget."""
    executor: CachingExecutor
    """Makes the calls, and reuses the results of those already made."""
    provenance: ProvenanceTracker
    """Knows where the values of the calls can have come from."""
    user_questions: UserQuestions
    """Questions to the user."""
    log: RunLog = field(default_factory=RunLog)
    """Events from before the run was interrupted."""
    history: ConversationHistory = field(default_factory=ConversationHistory)
    """Earlier runs of the conversation."""
    request: str = ""
    """The user's words."""
    scheduler: SubtaskScheduler = field(default_factory=lambda: SubtaskScheduler(1))
    """Runs the subtasks concurrently, and orders their changes."""
    today: str = ""
    """Date on which the run began."""
    announcements: AnnouncedCallRegistry = field(default_factory=AnnouncedCallRegistry)
    """Calls that programs announce before they are made."""


def build_call_context(context: RunContext, prior_tools: Sequence[ToolDoc]) -> SubtaskCallContext:
    """Build the object that announces the calls of a subtask's programs.

    ``prior_tools`` are the tools of the steps that the subtask builds on; programs refer to their results by name.
    """
    inputs = {
        f"{EARLIER}_{number}": tool.id for number, tool in enumerate(prior_tools, start=1)
    }  # the names of earlier versions, which stored programs may still use
    inputs |= {f"{EARLIER}[{number}]": tool.id for number, tool in enumerate(prior_tools)}
    return SubtaskCallContext(
        context.announcements,
        context.user_questions.statements,
        inputs,
        files=context.deps.user.files.names_by_variable,
    )
