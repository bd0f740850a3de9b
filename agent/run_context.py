"""Dependencies of a run, and the state that its subtasks share."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from agent.asking import Asker, Asking, NobodyThere
from agent.budget import Meter
from agent.compression.field_selection import FieldChoices
from agent.conversation import Earlier
from agent.execution.announcements import Announcements
from agent.execution.approval import Approver
from agent.execution.approvers import DenyChanges
from agent.execution.call_cache import ReusingExecutor
from agent.execution.executor import Executor
from agent.execution.layers import Layer
from agent.execution.provenance import Provenance, Voices
from agent.execution.secrets import Secrets
from agent.files.given import GivenFiles
from agent.learning.learner import Learner
from agent.memory.long_term import LongTermMemory
from agent.offer.maker import Offers
from agent.offer.tool_facts import ToolFinder
from agent.planners.by_name import options_of
from agent.plans.approval import Approves
from agent.policy.protocol import Policy
from agent.programs.earlier import EARLIER
from agent.programs.leave import SubtaskLeave
from agent.programs.protocol import Sandbox
from agent.request_reader import PlainReader, RequestReader
from agent.resume import RunLog
from agent.run_events import InTurn, RunEvents
from agent.scheduler import Parts
from agent.search.settings import SearchOptions, WalkSettings
from agent.solutions.protocol import Solutions
from domain.program import ProgramPlan
from domain.tool import ToolDoc
from graph.dataflow import FlowStore
from graph.store import GraphStore
from graph.weights import WeightParameters

BY_PROGRAM = frozenset({"program", "solution"})
"""Planners that serve a request by a program over its offer."""


@dataclass(frozen=True, slots=True)
class RunKnowledge:
    """Knowledge of tools and of earlier runs. It may be shared between runs, except for the user's own parts."""

    store: GraphStore
    search: ToolFinder
    offers: Offers | None = None
    """Selects the tools to choose from; without it only the search does."""
    flows: FlowStore | None = None
    weights: WeightParameters = field(default_factory=WeightParameters)
    memory: LongTermMemory | None = None
    """Memory of the user."""
    solutions: Solutions | None = None
    """Programs that served earlier requests or may serve this one."""


@dataclass(frozen=True, slots=True)
class RunPlanning:
    """How a run is planned, and by which policy."""

    policy: Policy
    """The run's own policy: it keeps the run's account."""
    planner: str = "dfs"
    plan: ProgramPlan | None = None
    """A plan to execute; with one, nothing is planned."""
    reader: RequestReader = field(default_factory=PlainReader)
    """Analyses the request by code."""
    walk: WalkSettings = field(default_factory=WalkSettings)
    recalled: int = 8
    """Limit of memories that are recalled."""
    sandbox: Sandbox | None = None
    """Runs programs; without it none is written."""
    offer_tokens: int = 1000
    """Limit of the offered functions in an author's prompt, in tokens."""
    phrase: bool = False
    """The policy rephrases the answer of a program."""
    at_once: int = 3
    """Number of subtasks that are served concurrently."""


@dataclass(frozen=True, slots=True)
class RunCalls:
    """How the calls of a run are made."""

    executor: Executor
    layers: tuple[Layer, ...] = ()
    """Layers that calls pass before the executor, in the order of :func:`agent.execution.layers.build_executor`."""
    approver: Approver = field(default_factory=DenyChanges)
    """Asked before each call; the default denies every call that may change something."""
    ledger: bool = False
    """One of the layers knows which changing calls were started before an interruption, and their results."""
    secrets: Secrets | None = None
    choices: FieldChoices = field(default_factory=FieldChoices)
    """Selects the fields that are kept of long responses."""


@dataclass(frozen=True, slots=True)
class RunUser:
    """Data and statements of a run's user, and the ways to ask the user."""

    asker: Asker = field(default_factory=NobodyThere)
    """Answers questions about what the request leaves open."""
    approves: Approves | None = None
    """Asked about each subtask's plan before its calls; the plan that it returns is executed."""
    voices: Voices | None = None
    """Statements from before the run; None if the request is the only one."""
    files: GivenFiles = field(default_factory=GivenFiles)
    wrong_answers: frozenset[str] = frozenset()
    """Answers to this request that the user has marked as wrong."""


@dataclass(frozen=True, slots=True)
class RunHost:
    """Services of the process that hosts a run."""

    used_up: Callable[[], str] = lambda: ""
    """Names an exhausted shared limit, as in :class:`agent.budget.Meter`."""
    taken_up: bool = False
    """The run can be resumed later.

    If a store is unreachable, it breaks off with the store's error instead of ending.
    """
    today: str = ""
    """The date given to programs, such as ``2026-11-23``; empty stands for the day on which the run began."""
    learner: Learner | None = None
    """Learns from the run just before its end."""
    in_turn: InTurn | None = None
    """Runs the work in turns with that of other runs in the process."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """Everything that a run works with, grouped by purpose."""

    knowledge: RunKnowledge
    planning: RunPlanning
    calls: RunCalls
    user: RunUser = field(default_factory=RunUser)
    host: RunHost = field(default_factory=RunHost)

    def with_policy(self, policy: Policy) -> "RunDeps":
        """Return a copy with another policy."""
        return replace(self, planning=replace(self.planning, policy=policy))

    @property
    def options(self) -> SearchOptions:
        """The planner's options for the search of the tool graph."""
        return options_of(self.planning.planner)

    @property
    def writes_programs(self) -> bool:
        """Return whether programs are written.

        None are written if a plan is given, or over a path that the user must approve: such a path is drafted as a plan.
        """
        return (
            self.options.ends_in_program
            and self.planning.sandbox is not None
            and self.planning.policy.writes
            and self.planning.plan is None
            and (self.user.approves is None or self.planning.planner in BY_PROGRAM)
        )

    @property
    def by_program(self) -> bool:
        """Return whether a program over the offered tools serves the request, without searching for a path first."""
        return self.planning.planner in BY_PROGRAM and self.writes_programs

    @property
    def writes_on(self) -> bool:
        """Return whether a program can continue from earlier results itself.

        The offline policy resolves references by rules first.
        """
        return self.planning.policy.name != "offline"

    @property
    def reads_files(self) -> bool:
        """Return whether files that come with a request can be read: by a given plan or by a program."""
        return self.planning.plan is not None or (self.by_program and self.writes_on)

    @property
    def takes_solutions(self) -> bool:
        """Return whether a matching solution is used unchanged before anything is planned.

        Only the planner ``program`` does so, and only if no file came with the request.
        """
        return self.planning.planner == "program" and self.writes_programs and not self.user.files.new


@dataclass(frozen=True, slots=True)
class Shared:
    """State that the subtasks of one run share."""

    deps: RunDeps
    events: RunEvents
    """Stream that all events of the run are emitted to."""
    meter: Meter
    executor: ReusingExecutor
    """Makes the calls, and reuses the results of those already made."""
    provenance: Provenance
    """Knows where the values of the calls can have come from."""
    asking: Asking
    """Questions to the user."""
    log: RunLog = field(default_factory=RunLog)
    """Events from before the run was interrupted."""
    earlier: Earlier = field(default_factory=Earlier)
    """Earlier runs of the conversation."""
    request: str = ""
    """The user's words."""
    parts: Parts = field(default_factory=lambda: Parts(1))
    """Runs the subtasks concurrently, and orders their changes."""
    today: str = ""
    """Date on which the run began."""
    announcements: Announcements = field(default_factory=Announcements)
    """Calls that programs announce before they are made."""


def leave_of(shared: Shared, given: Sequence[ToolDoc]) -> SubtaskLeave:
    """Build the object that announces the calls of a subtask's programs.

    ``prior_tools`` are the tools of the steps that the subtask builds on; programs refer to their results by name.
    """
    inputs = {
        f"{EARLIER}_{number}": tool.id for number, tool in enumerate(given, start=1)
    }  # the names of earlier versions, which stored programs may still use
    inputs |= {f"{EARLIER}[{number}]": tool.id for number, tool in enumerate(given)}
    return SubtaskLeave(shared.announcements, shared.asking.said, inputs, files=shared.deps.user.files.names)
