"""Facts that a graph store keeps. Weights are computed from them in ``graph.weights``, never stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeVar, dataclass_transform

from domain.tool import FINISH, ToolId

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a slotted dataclass that the type checker treats as frozen.

    Python's own guard makes an object three times as expensive to create, and a neighbour query mostly creates such
    objects.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


LiveOutcome = Literal["ok", "transient", "gone"]
"""Class of a live call's outcome; errors of the caller are never recorded."""

Mark = Literal["pin", "mute", "ban"]
"""An administrator's mark on an edge; ``graph.weights`` defines its effect on weights."""

HALF_LIFE_DAYS = 7.0
"""Days without a call after which the evidence against a tool counts half, unless a setting says otherwise."""

MAX_LESSONS = 50
"""Maximum number of lessons about a tool that are kept as evidence, the newest ones."""


@record
class ToolFacts:
    """Counts and evidence of one tool."""

    calls: int = 0
    """Imported calls of known outcome."""
    successes: int = 0
    """Imported calls that went well."""
    ok: int = 0
    """Live calls that went well."""
    transient: int = 0
    """Live calls that failed for the time being."""
    gone: int = 0
    """Live calls of an operation that no longer exists."""
    quality: float = 0.0
    """Decaying sum of the scores of runs (thesis, 3.4.2.1)."""
    reliability: float = 0.0
    """Decaying sum of +1 for each good and -1 for each failed live call (thesis, 3.4.2.2)."""
    good: float = 0.0
    """Live evidence for the tool, as of ``heard`` (:mod:`graph.evidence`)."""
    bad: float = 0.0
    """Live evidence against the tool, as of ``heard``."""
    trouble: float = 0.0
    """Weight of recent failures in a row, as of ``heard``."""
    heard: float = 0.0
    """Time of the last reported call, in seconds since 1970; 0 if unknown."""


@record
class Edge:
    """A transition with its counts. One that was never walked exists only while it is marked."""

    source: ToolId
    target: ToolId
    """May be ``FINISH``."""
    imported: int = 0
    """Walks in imported trajectories."""
    live: int = 0
    """Walks in runs, failed ones not counted."""
    mark: Mark | None = None
    strength: float = 0.0
    """Live evidence for the edge; falls with each walk from its source to another target (:mod:`graph.evidence`)."""


@record
class Neighbour:
    """An out-edge with the facts of its target, as one read returns them."""

    edge: Edge
    facts: ToolFacts
    resolved: bool
    """The target has a document."""


@record
class ToolLesson:
    """The lesson of one run about one tool."""

    run: str
    """The run's key."""
    at: datetime
    """Time of the run."""
    score: float | None = None
    """Mean score; None if the tool was not scored."""
    outcomes: tuple[LiveOutcome, ...] = ()
    """Outcomes of its calls, in order."""

    @property
    def moment(self) -> str:
        """The time of the run as text that sorts by time (UTC)."""
        return self.at.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(slots=True)
class GraphBatch:
    """Counts of a set of trajectories and recorded calls. Merging is associative and commutative except for the key."""

    key: str
    """Identifies the source (a hash of its content): a store applies each key once."""
    transitions: Counter[tuple[ToolId, ToolId]] = field(default_factory=Counter[tuple[ToolId, ToolId]])
    """Counts of (source, target) pairs, ``FINISH`` included."""
    calls: Counter[ToolId] = field(default_factory=Counter[ToolId])
    """Calls of known outcome, by tool."""
    successes: Counter[ToolId] = field(default_factory=Counter[ToolId])
    """Calls that went well, by tool."""
    nodes: set[ToolId] = field(default_factory=set[ToolId])
    """Tools without an edge or count. All other tool ids that occur become nodes, too, even without a document."""
    records: set[str] = field(default_factory=set[str])
    """Keys of the single records counted here; they share one key space with ``key``.

    A store marks them as applied together with ``key``, so that a source that grew, or was cut into other batches, adds
    only what is new.
    """

    def merge(self, other: "GraphBatch") -> None:
        """Add the counts of ``other`` to these. The key stays."""
        self.transitions.update(other.transitions)
        self.calls.update(other.calls)
        self.successes.update(other.successes)
        self.nodes |= other.nodes
        self.records |= other.records


@dataclass(frozen=True, slots=True)
class LiveBatch:
    """Evidence of one run, applied once by its key."""

    key: str
    """The run's id."""
    transitions: Mapping[tuple[ToolId, ToolId], int]
    """Number of walks of each transition, failed ones included."""
    scores: tuple[tuple[ToolId, float], ...]
    """Score Δ in [-1, 1] of each tool of the path, in order; ``FINISH`` may be scored like any tool."""
    outcomes: tuple[tuple[ToolId, LiveOutcome], ...]
    """Class of each call, in order."""
    decay: float = 0.8
    """Decay γ of the sums of scores and signs with each addition (docs/architecture.md)."""
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    """Time of the run, with a time zone."""
    half_life: float = HALF_LIFE_DAYS
    """Days without a call after which the evidence against a tool counts half."""

    def build_lessons(self) -> dict[ToolId, ToolLesson]:
        """Return the lesson about each tool that was scored or called."""
        scores: dict[ToolId, list[float]] = {}
        outcomes: dict[ToolId, list[LiveOutcome]] = {}
        for tool, score in self.scores:
            if tool != FINISH:
                scores.setdefault(tool, []).append(score)
        for tool, outcome in self.outcomes:
            outcomes.setdefault(tool, []).append(outcome)
        return {
            tool: ToolLesson(
                self.key,
                self.at,
                # Databases store -0.0 as 0.0. Adding zero does the same.
                sum(tool_scores) / len(tool_scores) + 0.0 if (tool_scores := scores.get(tool)) else None,
                tuple(outcomes.get(tool, ())),
            )
            for tool in sorted({*scores, *outcomes})
        }


@dataclass(frozen=True, slots=True)
class GraphState:
    """A part of a store's content that :meth:`graph.store.GraphStore.restore` sets as it is, rather than adding it.

    All parts together with the documents make up a store.
    """

    nodes: Mapping[ToolId, ToolFacts] = field(default_factory=dict[ToolId, ToolFacts])
    edges: Sequence[Edge] = ()
    keys: Sequence[str] = ()
    """Applied keys, those of records among them."""
    lessons: Sequence[tuple[ToolId, ToolLesson]] = ()
    """Lessons by tool; the newest :data:`MAX_LESSONS` of each tool stay."""


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """Sizes of a stored graph."""

    documents: int
    nodes: int
    """Without ``FINISH``, so that ``nodes = documents + unresolved``."""
    unresolved: int
    transitions: int
    """Distinct edges, except those to ``FINISH``."""
    finish_transitions: int
    """Distinct edges to ``FINISH``."""
    batches: int
    """All applied keys, those of records among them."""
