"""What a run works with."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

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
from agent.resume import Past
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
class RunDeps:
    """``policy`` is this run's own; everything else may be shared between runs. ``at_once``: subtasks that are done side by side.

    ``reader``: what code tells of a request. ``offers``: makes the offer that a walk chooses from; without it there is the search alone.
    ``wrong_answers``: those to this request that its user has said are wrong. ``solutions``: programs that served earlier requests, or may serve one. ``sandbox``: where programs run; without it none is written. ``offer_tokens``: how much of an author's prompt its functions may take.

    ``executor``: makes the calls; ``layers``: what they pass before, as :func:`agent.execution.layers.build_executor` lists it. ``ledger``: one of them knows by itself which
    calls that change something were begun before the run was broken off, and what became of them. ``plan``: what is to be carried out; then nothing is planned.
    ``approves``: asked about each subtask's plan before its calls; what it answers is carried out. ``approver``: asked before each call
    is made; the usual one lets no call through that may change something.
    ``asker``: who is asked what the request leaves open; by default nobody is there.
    ``voices``: who has said what before the run, where that is more than its request, which its user said.
    ``used_up``: as :class:`agent.budget.Meter` asks it. ``taken_up``: where a store is out of reach the run breaks off with the store's
    error rather than ends, since somebody takes it up later. ``files``: that its user gave. ``phrase``: what a program answers is said anew by the policy. ``today``: the day that programs
    are told, as ``2026-11-23``; empty: that on which the run began. ``learner``: learns from the run as the last thing before its end. ``in_turn``: does the
    run's work so that others of the process have their turn.
    """

    store: GraphStore
    search: ToolFinder
    policy: Policy
    executor: Executor
    layers: tuple[Layer, ...] = ()
    weights: WeightParameters = field(default_factory=WeightParameters)
    settings: WalkSettings = field(default_factory=WalkSettings)
    choices: FieldChoices = field(default_factory=FieldChoices)
    secrets: Secrets | None = None
    memory: LongTermMemory | None = None
    solutions: Solutions | None = None
    wrong_answers: frozenset[str] = frozenset()
    flows: FlowStore | None = None
    reader: RequestReader = field(default_factory=PlainReader)
    offers: Offers | None = None
    sandbox: Sandbox | None = None
    offer_tokens: int = 1000
    recalled: int = 8
    at_once: int = 3
    planner: str = "dfs"
    ledger: bool = False
    plan: ProgramPlan | None = None
    approves: Approves | None = None
    used_up: Callable[[], str] = lambda: ""
    approver: Approver = field(default_factory=DenyChanges)
    asker: Asker = field(default_factory=NobodyThere)
    voices: Voices | None = None
    taken_up: bool = False
    today: str = ""
    phrase: bool = False
    files: GivenFiles = field(default_factory=GivenFiles)
    learner: Learner | None = None
    in_turn: InTurn | None = None

    @property
    def options(self) -> SearchOptions:
        """What its planner adds to the search of the tool graph."""
        return options_of(self.planner)

    @property
    def writes_programs(self) -> bool:
        """Whether programs are written. Not where a plan is given, nor over a path that is to be approved: that is drafted as a plan."""
        return (
            self.options.ends_in_program
            and self.sandbox is not None
            and self.policy.writes
            and self.plan is None
            and (self.approves is None or self.planner in BY_PROGRAM)
        )

    @property
    def by_program(self) -> bool:
        """Whether a request is served by a program over its offer, rather than by a path that is found first."""
        return self.planner in BY_PROGRAM and self.writes_programs

    @property
    def writes_on(self) -> bool:
        """Whether a program goes on from earlier results by itself; rules say first what a request means after others."""
        return self.policy.name != "offline"

    @property
    def reads_files(self) -> bool:
        """Whether something reads what is given with a request: a program, be it one that is given."""
        return self.plan is not None or (self.by_program and self.writes_on)

    @property
    def takes_solutions(self) -> bool:
        """Whether what served such a request before is taken as it stands, before anything is planned: by ``program``, where no file came with it."""
        return self.planner == "program" and self.writes_programs and not self.files.new


@dataclass(frozen=True, slots=True)
class Shared:
    """What the subtasks of one run share: what it works with, its account, and the calls that it has made. ``events``: the way out for
    what happens; ``request``: what it was asked.

    ``provenance``: where the values of its calls can have come from. ``asking``: what it asks its user. ``past``: what the run told before it was broken off. ``earlier``: the runs of its conversation before it.
    ``parts``: its subtasks beside each other, and the order in which they change things. ``announcements``: what its programs tell of their calls before they are made. ``today``: the day on which it began.
    """

    deps: RunDeps
    events: RunEvents
    meter: Meter
    executor: ReusingExecutor
    provenance: Provenance
    asking: Asking
    past: Past = field(default_factory=Past)
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
    return SubtaskLeave(shared.announcements, shared.asking.said, inputs, files=shared.deps.files.names)
