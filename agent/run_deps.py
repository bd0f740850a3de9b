"""What a run works with."""

from collections.abc import Callable
from dataclasses import dataclass, field

from agent.evidence import ToolFinder
from agent.executor import Executor
from agent.field_choices import FieldChoices
from agent.leave import Leave
from agent.memory import LongTermMemory
from agent.plans.approving import Approves
from agent.policy import Policy
from agent.provenance import Voices
from agent.secrets import Secrets
from agent.walk_settings import WalkSettings
from domain.plan_document import PlanDocument
from graph.flows import FlowStore
from graph.store import GraphStore
from graph.weights import WeightParameters


@dataclass(frozen=True, slots=True)
class RunDeps:
    """``policy`` is this run's own; everything else may be shared between runs. ``at_once``: subtasks that are done side by side.

    ``ledger``: the executor knows by itself which
    calls that change something were begun before the run was broken off, and what became of them. ``document``: the steps that are to be carried out; then nothing is planned.
    ``approves``: asked about each subtask's plan before its calls; what it answers is carried out. ``leave``: asked before each call is made.
    ``voices``: who has said what before the run, where that is more than its request, which its user said.
    ``used_up``: as :class:`agent.budget.Meter` asks it. ``taken_up``: where a store is out of reach the run breaks off with the store's
    error rather than ends, since somebody takes it up later.
    """

    store: GraphStore
    search: ToolFinder
    policy: Policy
    executor: Executor
    weights: WeightParameters = field(default_factory=WeightParameters)
    settings: WalkSettings = field(default_factory=WalkSettings)
    choices: FieldChoices = field(default_factory=FieldChoices)
    secrets: Secrets | None = None
    memory: LongTermMemory | None = None
    flows: FlowStore | None = None
    recalled: int = 8
    at_once: int = 3
    planner: str = "dfs"
    ledger: bool = False
    document: PlanDocument | None = None
    approves: Approves | None = None
    used_up: Callable[[], str] = lambda: ""
    leave: Leave | None = None
    voices: Voices | None = None
    taken_up: bool = False
