"""Transition weights, availability, and the ranking of candidates; computed from facts when read, never stored.

There are two forms of weights: *living* ones, from the evidence of :mod:`graph.evidence`, and those of the *thesis*
that Footpath is based on (3.4.1 static weights, 3.4.1.1 the score map, 3.4.2 dynamic weights). Exploration offers an
avoided tool first now and then, since it would otherwise get no calls and its evidence would never change.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.evidence import compute_remaining_share, to_timestamp
from graph.facts import HALF_LIFE_DAYS, Edge, Neighbour, ToolFacts, record

MUTED_FACTOR = 0.1
"""Factor that a muted edge's weight is multiplied by, before the weights are normalised again."""

UNTESTED_AVAILABILITY = 0.5
"""The availability that a tool without any evidence is ranked by."""

IMPORTED_CAP = 50
"""Maximum number of imported calls of a tool, or imported walks out of a node, that count.

It equals the limit of live evidence, so that any amount of imported evidence can be outweighed by runs.
"""

PRIOR = 1.0
"""Number of good and of bad calls that every tool is assumed to have had, so that a few real calls prove little."""

FORGIVEN_TROUBLE = 1.0
"""The amount of trouble that has no effect: one failure is not a series."""

WeightForm = Literal["living", "thesis"]
"""The formulas that weights and availability are computed by; see the module docstring."""


@dataclass(frozen=True, slots=True)
class WeightParameters:
    """Parameters of the weights; ``beta`` and ``gamma`` apply to the thesis's form only."""

    form: WeightForm = "living"
    alpha: float = 1.0
    """Slope of the score map."""
    half_life: float = HALF_LIFE_DAYS
    """Days without calls after which evidence against a tool counts half."""
    beta: float = 0.5
    """Share of imported evidence once there is live evidence."""
    gamma: float = 0.8
    """Decay of the sums of scores and signs with each addition; 1 keeps everything, as in the thesis."""

    def __post_init__(self) -> None:
        if not (0 < self.alpha < math.inf and 0 < self.half_life < math.inf):
            raise UsageError(f"alpha {self.alpha}, half-life {self.half_life}: both must be positive and finite")
        if not 0 <= self.beta <= 1:
            raise UsageError(f"beta {self.beta}: must lie between 0 and 1")
        if not 0 < self.gamma <= 1:
            raise UsageError(f"gamma {self.gamma}: must be above 0 and at most 1")


DEFAULT_WEIGHTS = WeightParameters()


@record
class WeightedEdge:
    """An out-edge with its weight and its target's availability."""

    target: ToolId
    weight: float
    """The weights out of a node sum to 1."""
    availability: float | None
    """None if the target is untested."""
    resolved: bool
    """True if the target has a document."""
    edge: Edge

    @property
    def rank_score(self) -> float:
        """Weight times availability, by which candidates are ranked; an untested tool counts as one half."""
        return self.weight * (UNTESTED_AVAILABILITY if self.availability is None else self.availability)


def score_map(x: float, alpha: float = 1.0) -> float:
    """Return f(x) of 3.4.1.1: αx + 1 for x ≥ 0, else e^(αx); positive, continuous and increasing, with f(0) = 1.

    Where the exponential underflows it stays at the smallest normal number, so that a sum of f is never zero.
    """
    return alpha * x + 1 if x >= 0 else max(math.exp(alpha * x), sys.float_info.min)


def compute_transition_weights(
    neighbours: Sequence[Neighbour], parameters: WeightParameters = DEFAULT_WEIGHTS, now: float | None = None
) -> list[WeightedEdge]:
    """Return the weights of all edges out of one node, in the given order.

    Marks: a banned edge is left out of the sums and has weight 0; a muted one counts with :data:`MUTED_FACTOR`; a
    pinned one counts as much as the heaviest. The weights then sum to 1, unless every edge is banned.

    Args:
        neighbours: *all* edges, including those to ``FINISH`` and unresolved tools, since all take part in the sums.
        parameters: form and parameters of the weights.
        now: moment for which availability is computed, in seconds since 1970.
    """
    now = to_timestamp() if now is None else now
    shares = (
        _compute_living_shares
        if parameters.form == "living"
        else partial(_compute_thesis_shares, parameters=parameters)
    )
    marked = any(neighbour.edge.mark for neighbour in neighbours)
    weights = _apply_marks(neighbours, shares) if marked else shares(neighbours)
    return [
        WeightedEdge(n.edge.target, weight, compute_availability(n.facts, parameters, now), n.resolved, n.edge)
        for n, weight in zip(neighbours, weights, strict=True)
    ]


_Shares = Callable[[Sequence[Neighbour]], list[float]]


def _apply_marks(neighbours: Sequence[Neighbour], shares: _Shares) -> list[float]:
    unbanned = [n for n in neighbours if n.edge.mark != "ban"]
    weights = zip(unbanned, shares(unbanned), strict=True)
    counted = {n.edge.target: w * MUTED_FACTOR if n.edge.mark == "mute" else w for n, w in weights}
    heaviest = max(counted.values(), default=0.0)
    counted |= {n.edge.target: heaviest for n in unbanned if n.edge.mark == "pin"}
    total = math.fsum(counted.values()) or 1.0  # all edges banned: every weight is 0
    return [counted.get(n.edge.target, 0.0) / total for n in neighbours]


def _compute_living_shares(neighbours: Sequence[Neighbour]) -> list[float]:
    """Return weights w_ij = e_ij / Σ_k e_ik, with e the imported walks plus the decayed live ones.

    Imported walks count for at most :data:`IMPORTED_CAP` out of all of i. Without any evidence all weights are equal.
    ``Finish`` is an edge like others.
    """
    imported = sum(neighbour.edge.imported for neighbour in neighbours)
    each = min(1.0, IMPORTED_CAP / imported) if imported else 0.0
    evidence = [each * neighbour.edge.imported + neighbour.edge.strength for neighbour in neighbours]
    total = math.fsum(evidence)
    return [one / total if total else 1 / len(evidence) for one in evidence]


def _compute_thesis_shares(neighbours: Sequence[Neighbour], parameters: WeightParameters) -> list[float]:
    """Return weights w_ij = β · n_ij / Σ_k n_ik + (1 - β) · f(s_j) / Σ_k f(s_k) (3.4.2.1).

    n are imported counts and s sums of scores. β is 1 before a node's first live walk, and 0 if nothing was imported.
    """
    imported = sum(neighbour.edge.imported for neighbour in neighbours)
    live = sum(neighbour.edge.live for neighbour in neighbours)
    beta = _compute_beta(imported, live, parameters)
    scores = [score_map(neighbour.facts.quality, parameters.alpha) for neighbour in neighbours]
    total = sum(scores)
    return [
        beta * n.edge.imported / (imported or 1) + (1 - beta) * (score / total)
        for n, score in zip(neighbours, scores, strict=True)
    ]


def compute_availability(
    facts: ToolFacts, parameters: WeightParameters = DEFAULT_WEIGHTS, now: float | None = None
) -> float | None:
    """Return the probability in [0, 1] that a call succeeds, or None if there is no evidence."""
    if not (facts.calls or facts.ok or facts.transient or facts.gone):
        return None
    if parameters.form == "thesis":
        return _compute_thesis_availability(facts, parameters)
    if not (facts.bad or facts.trouble):
        return compute_long_run_availability(facts)
    remaining = compute_remaining_share(facts.heard, to_timestamp() if now is None else now, parameters.half_life)
    return compute_long_run_availability(facts, remaining) * compute_recent_factor(facts, parameters, remaining)


def compute_long_run_availability(facts: ToolFacts, remaining: float = 1.0) -> float:
    """Return the share of good calls among the imported and live calls, smoothed with :data:`PRIOR`.

    At most :data:`IMPORTED_CAP` imported calls count. ``remaining`` is the part that remains, after decay, of the
    evidence against the tool.
    """
    each = IMPORTED_CAP / facts.calls if facts.calls > IMPORTED_CAP else 1.0
    good = PRIOR + each * facts.successes + facts.good
    bad = PRIOR + each * (facts.calls - facts.successes) + remaining * facts.bad
    return good / (good + bad)


def compute_recent_factor(
    facts: ToolFacts, parameters: WeightParameters = DEFAULT_WEIGHTS, remaining: float = 1.0
) -> float:
    """Return the factor for recent failures in a row: f(1 - trouble), at most 1.

    One failure is forgiven, five leave a tenth.
    """
    return min(1.0, score_map(FORGIVEN_TROUBLE - remaining * facts.trouble, parameters.alpha))


def is_failing(facts: ToolFacts, parameters: WeightParameters = DEFAULT_WEIGHTS, now: float | None = None) -> bool:
    """Return whether a tool's last live calls failed recently: the last one, or more than succeeded since."""
    remaining = compute_remaining_share(facts.heard, to_timestamp() if now is None else now, parameters.half_life)
    return remaining * facts.trouble > FORGIVEN_TROUBLE / 2


def _compute_thesis_availability(facts: ToolFacts, parameters: WeightParameters) -> float:
    """Return availability v = β · successes / calls + (1 - β) · f(s) / (f(s) + 1) (3.4.2.2).

    s is the sum of the signs of live calls. The thesis's sum over the neighbours is read as the tool's own f(s) and one
    neighbour without evidence: as printed, the value would exceed 1 and depend on the number of neighbours.
    """
    imported = facts.successes / facts.calls if facts.calls else 0.0
    beta = _compute_beta(facts.calls, facts.ok + facts.transient + facts.gone, parameters)
    mapped = score_map(facts.reliability, parameters.alpha)
    return beta * imported + (1 - beta) * mapped / (mapped + 1)


def _compute_beta(imported: int, live: int, parameters: WeightParameters) -> float:
    """Return the share of imported evidence: all of it before there is live evidence, none if nothing was imported."""
    if not imported:
        return 0.0
    return parameters.beta if live else 1.0


def select_top_candidates(weighted: Iterable[WeightedEdge], k: int) -> list[WeightedEdge]:
    """Return the ``k`` best tools to offer.

    Only tools with a document, never ``FINISH`` and never over a banned edge; pinned ones first, then by weight times
    availability, ties by id.
    """
    return rank_candidates(weighted)[:k]


def rank_candidates(weighted: Iterable[WeightedEdge]) -> list[WeightedEdge]:
    """Return all tools that can be offered, best first."""
    offered = [w for w in weighted if w.resolved and w.target != FINISH and w.edge.mark != "ban"]
    return sorted(offered, key=lambda w: (w.edge.mark != "pin", -w.rank_score, w.target))
