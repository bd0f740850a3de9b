"""What a run works with."""

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
    """What is known of tools and of earlier runs. It may be shared between runs, but for what is the user's own."""

    store: GraphStore
    search: ToolFinder
    offers: Offers | None = None
    """Makes the offer that is chosen from; without it there is the search alone."""
    flows: FlowStore | None = None
    weights: WeightParameters = field(default_factory=WeightParameters)
    memory: LongTermMemory | None = None
    """Of the user."""
    solutions: Solutions | None = None
    """Programs that served earlier requests, or may serve one."""


@dataclass(frozen=True, slots=True)
class RunPlanning:
    """Who plans a run, and how."""

    policy: Policy
    """The run's own: it keeps the run's account."""
    planner: str = "dfs"
    plan: ProgramPlan | None = None
    """What is to be carried out; then nothing is planned."""
    reader: RequestReader = field(default_factory=PlainReader)
    """What code finds in a request."""
    walk: WalkSettings = field(default_factory=WalkSettings)
    recalled: int = 8
    """The most memories that are recalled."""
    sandbox: Sandbox | None = None
    """Where programs run; without it none is written."""
    offer_tokens: int = 1000
    """How much of an author's prompt the offered functions may take."""
    phrase: bool = False
    """Whether the policy says anew what a program answers."""
    at_once: int = 3
    """Subtasks that are done side by side."""


@dataclass(frozen=True, slots=True)
class RunCalls:
    """How the calls of a run are made."""

    executor: Executor
    layers: tuple[Layer, ...] = ()
    """What calls pass before the executor, as :func:`agent.execution.layers.build_executor` lists it."""
    approver: Approver = field(default_factory=DenyChanges)
    """Asked before each call; the usual one lets none through that may change something."""
    ledger: bool = False
    """Whether one of the layers knows which calls that change something were begun before the run was broken off, and what became of them."""
    secrets: Secrets | None = None
    choices: FieldChoices = field(default_factory=FieldChoices)
    """Which fields are kept of long responses."""


@dataclass(frozen=True, slots=True)
class RunUser:
    """What the user of a run has given and said, and how the user is asked."""

    asker: Asker = field(default_factory=NobodyThere)
    """Asked what the request leaves open."""
    approves: Approves | None = None
    """Asked about each subtask's plan before its calls; what it answers is carried out."""
    voices: Voices | None = None
    """Who has said what before the run, where that is more than its request, which its user said."""
    files: GivenFiles = field(default_factory=GivenFiles)
    wrong_answers: frozenset[str] = frozenset()
    """Answers to this request that its user has said are wrong."""


@dataclass(frozen=True, slots=True)
class RunHost:
    """What makes a run sees to for it."""

    used_up: Callable[[], str] = lambda: ""
    """As :class:`agent.budget.Meter` asks it."""
    taken_up: bool = False
    """Whether somebody takes the run up later: where a store is out of reach, the run then breaks off with the store's error rather than ends."""
    today: str = ""
    """The day that programs are told, as ``2026-11-23``; empty: that on which the run began."""
    learner: Learner | None = None
    """Learns from the run as the last thing before its end."""
    in_turn: InTurn | None = None
    """Does the run's work so that others of the process have their turn."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """What a run works with, by purpose."""

    knowledge: RunKnowledge
    planning: RunPlanning
    calls: RunCalls
    user: RunUser = field(default_factory=RunUser)
    host: RunHost = field(default_factory=RunHost)

    def with_policy(self, policy: Policy) -> "RunDeps":
        """The same with another policy."""
        return replace(self, planning=replace(self.planning, policy=policy))

    @property
    def options(self) -> SearchOptions:
        """What its planner adds to the search of the tool graph."""
        return options_of(self.planning.planner)

    @property
    def writes_programs(self) -> bool:
        """Whether programs are written. Not where a plan is given, nor over a path that is to be approved: that is drafted as a plan."""
        return (
            self.options.ends_in_program
            and self.planning.sandbox is not None
            and self.planning.policy.writes
            and self.planning.plan is None
            and (self.user.approves is None or self.planning.planner in BY_PROGRAM)
        )

    @property
    def by_program(self) -> bool:
        """Whether a request is served by a program over its offer, rather than by a path that is found first."""
        return self.planning.planner in BY_PROGRAM and self.writes_programs

    @property
    def writes_on(self) -> bool:
        """Whether a program goes on from earlier results by itself; rules say first what a request means after others."""
        return self.planning.policy.name != "offline"

    @property
    def reads_files(self) -> bool:
        """Whether something reads what is given with a request: a program, be it one that is given."""
        return self.planning.plan is not None or (self.by_program and self.writes_on)

    @property
    def takes_solutions(self) -> bool:
        """Whether what served such a request before is taken as it stands, before anything is planned: by ``program``, where no file came with it."""
        return self.planning.planner == "program" and self.writes_programs and not self.user.files.new


@dataclass(frozen=True, slots=True)
class Shared:
    """What the subtasks of one run share: what it works with, its account, and the calls that it has made. ``events``: the way out for
    what happens; ``request``: what it was asked.

    ``provenance``: where the values of its calls can have come from. ``asking``: what it asks its user. ``log``: what the run told before it was broken off. ``earlier``: the runs of its conversation before it.
    ``parts``: its subtasks beside each other, and the order in which they change things. ``announcements``: what its programs tell of their calls before they are made. ``today``: the day on which it began.
    """

    deps: RunDeps
    events: RunEvents
    meter: Meter
    executor: ReusingExecutor
    provenance: Provenance
    asking: Asking
    log: RunLog = field(default_factory=RunLog)
    earlier: Earlier = field(default_factory=Earlier)
    request: str = ""
    parts: Parts = field(default_factory=lambda: Parts(1))
    today: str = ""
    announcements: Announcements = field(default_factory=Announcements)


def leave_of(shared: Shared, given: Sequence[ToolDoc]) -> SubtaskLeave:
    """What tells of the calls of a subtask's programs. ``given``: the tools of the steps that it builds on, which are names of its programs."""
    inputs = {
        f"{EARLIER}_{number}": tool.id for number, tool in enumerate(given, start=1)
    }  # as earlier versions named them
    inputs |= {f"{EARLIER}[{number}]": tool.id for number, tool in enumerate(given)}
    return SubtaskLeave(shared.announcements, shared.asking.said, inputs, files=shared.deps.user.files.names)
