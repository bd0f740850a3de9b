"""The weights of the tool graph: transition weights and availability, computed from facts when read, never stored.

Two forms: *living* weights, which the evidence of :mod:`graph.evidence` makes, and the *thesis's* own, sections 3.4.1 (static
weights), 3.4.1.1 (the score map) and 3.4.2 (dynamic weights) of what Footpath comes from.
"""

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.evidence import as_of, seconds
from graph.facts import HALF_LIFE, Edge, Neighbour, ToolFacts, record

MUTED = 0.1
"""The part of its weight that a muted edge keeps before the weights are made to sum to 1 again."""

UNTESTED = 0.5
"""The availability by which a tool without any evidence is ranked."""

IMPORTED = 50
"""Imported calls of a tool, and imported walks out of a node, count for at most so many: as many as live ones can come to. Much of it
moves slowly, little quickly, and neither drowns what runs here have seen.
"""

PRIOR = 1.0
"""A good and a bad call that every tool is taken to have had: one call, or a few, prove nothing."""

FORGIVEN = 1.0
"""The trouble that a tool is forgiven: one failure is no series."""

Form = Literal["living", "thesis"]


@dataclass(frozen=True, slots=True)
class WeightParameters:
    """``alpha``: slope of the score map. ``half_life``: days of silence after which what speaks against a tool counts half.

    Of the thesis's form alone, ``beta``: the share of what was imported once anything is live; ``gamma``: what is left of the sums of
    scores and of signs with each that is added (1: all, as in the thesis).
    """

    form: Form = "living"
    alpha: float = 1.0
    half_life: float = HALF_LIFE
    beta: float = 0.5
    gamma: float = 0.8

    def __post_init__(self) -> None:
        if not (0 < self.alpha < math.inf and 0 < self.half_life < math.inf):
            raise UsageError(f"alpha {self.alpha}, half-life {self.half_life}: both must be positive and finite")
        if not 0 <= self.beta <= 1:
            raise UsageError(f"beta {self.beta}: must lie between 0 and 1")
        if not 0 < self.gamma <= 1:
            raise UsageError(f"gamma {self.gamma}: must be above 0 and at most 1")


DEFAULTS = WeightParameters()


@record
class Weighted:
    """An out-edge with its weight (the weights out of a node sum to 1) and its target's availability (None: untested)."""

    target: ToolId
    weight: float
    availability: float | None
    resolved: bool
    edge: Edge

    @property
    def rank_score(self) -> float:
        """Weight times availability, by which candidates are ranked; an untested tool counts as one half."""
        return self.weight * (UNTESTED if self.availability is None else self.availability)


def score_map(x: float, alpha: float = 1.0) -> float:
    """f(x) of 3.4.1.1: αx + 1 from zero on, e^(αx) below; positive, continuous and increasing, with f(0) = 1.

    Where the exponential underflows it stays at the smallest normal number, so that a sum of f is never zero.
    """
    return alpha * x + 1 if x >= 0 else max(math.exp(alpha * x), sys.float_info.min)


def transition_weights(
    neighbours: Sequence[Neighbour], parameters: WeightParameters = DEFAULTS, now: float | None = None
) -> list[Weighted]:
    """Weights of all edges out of one node, in the order given. ``neighbours`` must be *all* of them, ``FINISH`` and unresolved
    ones included, since all take part in the sums. ``now``: the moment, in seconds since 1970, of which availability is told.

    Marks: a banned edge leaves the sums and weighs nothing; of a muted one :data:`MUTED` counts; a pinned one counts as the
    heaviest does. Then the weights are made to sum to 1 again, but where every edge is banned.
    """
    now = seconds() if now is None else now
    shares = _living if parameters.form == "living" else partial(_thesis, parameters=parameters)
    marked = any(neighbour.edge.mark for neighbour in neighbours)
    weights = _marked(neighbours, shares) if marked else shares(neighbours)
    return [
        Weighted(n.edge.target, weight, availability(n.facts, parameters, now), n.resolved, n.edge)
        for n, weight in zip(neighbours, weights, strict=True)
    ]


_Shares = Callable[[Sequence[Neighbour]], list[float]]


def _marked(neighbours: Sequence[Neighbour], shares: _Shares) -> list[float]:
    kept = [n for n in neighbours if n.edge.mark != "ban"]
    weights = zip(kept, shares(kept), strict=True)
    counted = {n.edge.target: w * MUTED if n.edge.mark == "mute" else w for n, w in weights}
    heaviest = max(counted.values(), default=0.0)
    counted |= {n.edge.target: heaviest for n in kept if n.edge.mark == "pin"}
    total = math.fsum(counted.values()) or 1.0
    return [counted.get(n.edge.target, 0.0) / total for n in neighbours]


def _living(neighbours: Sequence[Neighbour]) -> list[float]:
    """Weights as w_ij = e_ij / Σ_k e_ik, with e the imported walks, of all out of i at most :data:`IMPORTED`, and what is left of the live ones.

    All are alike where nothing is left of any. ``Finish`` is an edge like others.
    """
    imported = sum(neighbour.edge.imported for neighbour in neighbours)
    each = min(1.0, IMPORTED / imported) if imported else 0.0
    evidence = [each * neighbour.edge.imported + neighbour.edge.strength for neighbour in neighbours]
    total = math.fsum(evidence)
    return [one / total if total else 1 / len(evidence) for one in evidence]


def _thesis(neighbours: Sequence[Neighbour], parameters: WeightParameters) -> list[float]:
    """Weights as w_ij = β · n_ij / Σ_k n_ik + (1 - β) · f(s_j) / Σ_k f(s_k), over imported counts n and sums s of scores (3.4.2.1).

    β is 1 before a node's first live walk, and 0 where nothing was imported.
    """
    imported = sum(neighbour.edge.imported for neighbour in neighbours)
    live = sum(neighbour.edge.live for neighbour in neighbours)
    beta = _beta(imported, live, parameters)
    scores = [score_map(neighbour.facts.quality, parameters.alpha) for neighbour in neighbours]
    total = sum(scores)
    return [
        beta * n.edge.imported / (imported or 1) + (1 - beta) * (score / total)
        for n, score in zip(neighbours, scores, strict=True)
    ]


def availability(facts: ToolFacts, parameters: WeightParameters = DEFAULTS, now: float | None = None) -> float | None:
    """The chance that a call succeeds, in [0, 1], or None where there is no evidence."""
    if not (facts.calls or facts.ok or facts.transient or facts.gone):
        return None
    if parameters.form == "thesis":
        return _thesis_availability(facts, parameters)
    known = as_of(facts, seconds() if now is None else now, parameters.half_life)
    return in_the_long_run(known) * of_late(known, parameters)


def in_the_long_run(facts: ToolFacts) -> float:
    """The share of good calls among the imported ones, of which :data:`IMPORTED` count, the live ones and :data:`PRIOR`."""
    each = min(1.0, IMPORTED / facts.calls) if facts.calls else 0.0
    good = PRIOR + each * facts.successes + facts.good
    bad = PRIOR + each * (facts.calls - facts.successes) + facts.bad
    return good / (good + bad)


def of_late(facts: ToolFacts, parameters: WeightParameters = DEFAULTS) -> float:
    """What failures in a row leave of that: f(1 - trouble), at most 1. One is forgiven, five leave a tenth."""
    return min(1.0, score_map(FORGIVEN - facts.trouble, parameters.alpha))


def is_failing(facts: ToolFacts, parameters: WeightParameters = DEFAULTS, now: float | None = None) -> bool:
    """Whether a tool's last live calls failed, and not too long ago: one of them, or more than went well since."""
    return as_of(facts, seconds() if now is None else now, parameters.half_life).trouble > FORGIVEN / 2


def _thesis_availability(facts: ToolFacts, parameters: WeightParameters) -> float:
    """Availability as v = β · successes / calls + (1 - β) · f(s) / (f(s) + 1), with s the sum of the signs of live calls (3.4.2.2).

    The sum over the neighbours is read as the tool's own f(s) and one neighbour of which nothing is known: as printed it would
    exceed 1, and depend on how many neighbours there are.
    """
    imported = facts.successes / facts.calls if facts.calls else 0.0
    beta = _beta(facts.calls, facts.ok + facts.transient + facts.gone, parameters)
    mapped = score_map(facts.reliability, parameters.alpha)
    return beta * imported + (1 - beta) * mapped / (mapped + 1)


def _beta(imported: int, live: int, parameters: WeightParameters) -> float:
    """The share of what was imported: all of it before anything is live, none where nothing was imported."""
    if not imported:
        return 0.0
    return parameters.beta if live else 1.0


def top_candidates(weighted: Iterable[Weighted], k: int) -> list[Weighted]:
    """The ``k`` best tools to offer: those with a document, pinned ones first, then by weight times availability, ties by id.

    Never ``FINISH``, nor over a banned edge.
    """
    return rank(weighted)[:k]


def rank(weighted: Iterable[Weighted]) -> list[Weighted]:
    """All tools that can be offered, best first."""
    offered = [w for w in weighted if w.resolved and w.target != FINISH and w.edge.mark != "ban"]
    return sorted(offered, key=lambda w: (w.edge.mark != "pin", -w.rank_score, w.target))
