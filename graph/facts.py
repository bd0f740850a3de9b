"""The facts that a graph store keeps. Weights are computed from them in ``graph.weights``, never stored."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Literal, TypeVar, dataclass_transform

from domain.tool import FINISH, ToolId

T = TypeVar("T")


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """A slotted dataclass that the type checker holds frozen.

    Python's own guard makes an object three times as dear, and a neighbour query is mostly making such objects.
    """
    return dataclass(slots=True, unsafe_hash=True)(cls)


LiveOutcome = Literal["ok", "transient", "gone"]
"""Class of a live call's outcome; the caller's own errors are never recorded."""

Mark = Literal["pin", "mute", "ban"]
"""An administrator's word on an edge; what each does to the weights says ``graph.weights``."""

HALF_LIFE = 7.0
"""Days without a call after which what speaks against a tool counts half, unless a setting says otherwise."""

LESSONS = 50
"""Of what runs taught about a tool, the newest so many are kept as evidence."""


@record
class ToolFacts:
    """Per tool: imported calls of known outcome and successes, live outcomes by class, and what runs said of it.

    ``quality`` and ``reliability`` are the thesis's sums of scores and of signs. ``good``, ``bad`` and ``trouble`` are the live
    evidence of :mod:`graph.evidence`, as it stood when calls were last heard of: at ``heard``, in seconds since 1970 (0: unknown).
    """

    calls: int = 0
    successes: int = 0
    ok: int = 0
    transient: int = 0
    gone: int = 0
    quality: float = 0.0
    reliability: float = 0.0
    good: float = 0.0
    bad: float = 0.0
    trouble: float = 0.0
    heard: float = 0.0


@record
class Edge:
    """A transition with its counts. ``target`` may be ``FINISH``. One that was never walked is there only while it is marked.

    ``strength``: what is left of its live walks, less with each walk that took another way (:mod:`graph.evidence`).
    """

    source: ToolId
    target: ToolId
    imported: int = 0
    live: int = 0
    mark: Mark | None = None
    strength: float = 0.0


@record
class Neighbour:
    """An out-edge with the facts of its target, as one read returns them. ``resolved``: the target has a document."""

    edge: Edge
    facts: ToolFacts
    resolved: bool


@record
class Lesson:
    """What one run taught about one tool: the run's key, when it was, its mean score (None: not scored), its calls' outcomes."""

    run: str
    at: datetime
    score: float | None = None
    outcomes: tuple[LiveOutcome, ...] = ()

    @property
    def moment(self) -> str:
        """When it was, as text that sorts as the moments do."""
        return self.at.astimezone(UTC).isoformat(timespec="microseconds")


@dataclass(slots=True)
class GraphBatch:
    """Counts of a set of trajectories and recorded calls. Merging is associative and commutative but for the key.

    ``key`` identifies the source (a hash of its content): a store applies each key once. ``transitions`` counts
    (source, target) pairs, ``FINISH`` included; ``calls`` and ``successes`` count calls of known outcome by tool.
    Every tool id that occurs becomes a node, with or without a document; ``nodes`` adds those without an edge or count.
    ``records`` are keys of the single records counted here: a store marks them as applied together with ``key``, so that a
    source that grew, or was cut into other batches, adds only what is new. They share one key space with ``key``.
    """

    key: str
    transitions: Counter[tuple[ToolId, ToolId]] = field(default_factory=Counter[tuple[ToolId, ToolId]])
    calls: Counter[ToolId] = field(default_factory=Counter[ToolId])
    successes: Counter[ToolId] = field(default_factory=Counter[ToolId])
    nodes: set[ToolId] = field(default_factory=set[ToolId])
    records: set[str] = field(default_factory=set[str])

    def merge(self, other: "GraphBatch") -> None:
        """Add the counts of ``other`` to these. The key stays."""
        self.transitions.update(other.transitions)
        self.calls.update(other.calls)
        self.successes.update(other.successes)
        self.nodes |= other.nodes
        self.records |= other.records


@dataclass(frozen=True, slots=True)
class LiveBatch:
    """What one run teaches, applied once by its ``key`` (the run's id).

    ``transitions``: how often each was walked, in vain too. ``scores``: Δ in [-1, 1] of each tool of the path, in order; ``FINISH``
    may be scored as any tool is. ``outcomes``: the class of each call, in order. ``decay`` is γ of docs/architecture.md. ``at``: when
    the run was, with its zone. ``half_life``: days without a call after which what speaks against a tool counts half.
    """

    key: str
    transitions: Mapping[tuple[ToolId, ToolId], int]
    scores: tuple[tuple[ToolId, float], ...]
    outcomes: tuple[tuple[ToolId, LiveOutcome], ...]
    decay: float = 0.8
    at: datetime = field(default_factory=lambda: datetime.now(UTC))
    half_life: float = HALF_LIFE

    def lessons(self) -> dict[ToolId, Lesson]:
        """What it teaches about each tool that was scored or called."""
        scores: dict[ToolId, list[float]] = {}
        outcomes: dict[ToolId, list[LiveOutcome]] = {}
        for tool, score in self.scores:
            if tool != FINISH:
                scores.setdefault(tool, []).append(score)
        for tool, outcome in self.outcomes:
            outcomes.setdefault(tool, []).append(outcome)
        return {
            tool: Lesson(
                self.key,
                self.at,
                sum(given) / len(given) + 0.0 if (given := scores.get(tool)) else None,
                tuple(outcomes.get(tool, ())),
            )
            for tool in sorted({*scores, *outcomes})
        }


@dataclass(frozen=True, slots=True)
class GraphState:
    """A part of what a store holds, as it is: to be set, not added. All of them together, and the documents, are a store.

    ``keys`` are applied keys, those of records among them. Of ``lessons`` about a tool the newest :data:`LESSONS` stay.
    """

    nodes: Mapping[ToolId, ToolFacts] = field(default_factory=dict[ToolId, ToolFacts])
    edges: Sequence[Edge] = ()
    keys: Sequence[str] = ()
    lessons: Sequence[tuple[ToolId, Lesson]] = ()


@dataclass(frozen=True, slots=True)
class GraphStatistics:
    """Sizes of a stored graph. ``transitions`` counts distinct edges, those to ``FINISH`` apart.

    ``nodes`` leaves ``FINISH`` out, so that ``nodes = documents + unresolved``. ``batches`` counts all
    applied keys, those of records among them.
    """

    documents: int
    nodes: int
    unresolved: int
    transitions: int
    finish_transitions: int
    batches: int
