"""The formulas of the tool graph: transition weights and availability, computed from facts when read, never stored.

Sections name the thesis that Footpath comes from: 3.4.1 static weights, 3.4.1.1 the score map, 3.4.2 dynamic weights.
"""

import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from domain.errors import UsageError
from domain.tool import FINISH, ToolId
from graph.facts import Edge, Neighbour, ToolFacts, record

MUTED = 0.1
"""The part of its weight that a muted edge keeps before the weights are made to sum to 1 again."""

UNTESTED = 0.5
"""The availability by which a tool without any evidence is ranked."""

HARD_ERROR = 4
"""How many soft errors a hard one weighs as evidence."""


@dataclass(frozen=True, slots=True)
class WeightParameters:
    """``alpha``: slope of the score map. ``n0``: how much live evidence outweighs half of the imported one.

    ``fixed_beta``: the share of the imported weight once anything is live, as in the paper; None lets it shrink with use.
    """

    alpha: float = 1.0
    n0: float = 5.0
    fixed_beta: float | None = None

    def __post_init__(self) -> None:
        if not (0 < self.alpha < math.inf and 0 < self.n0 < math.inf):
            raise UsageError(f"alpha {self.alpha}, n0 {self.n0}: both must be positive and finite")
        if self.fixed_beta is not None and not 0 <= self.fixed_beta <= 1:
            raise UsageError(f"fixed_beta {self.fixed_beta}: must lie between 0 and 1, or be left out")


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


def transition_weights(neighbours: Sequence[Neighbour], parameters: WeightParameters = DEFAULTS) -> list[Weighted]:
    """Weights of all edges out of one node, in the order given (3.4.2).

    w_ij = β · n_ij / Σ_k n_ik + (1 - β) · f(q_j) / Σ_k f(q_k), over imported counts n and qualities q. ``neighbours``
    must be *all* out-edges of the node, ``FINISH`` and unresolved ones included, since all take part in the sums.

    Marks: a banned edge leaves the sums and weighs nothing; of a muted one :data:`MUTED` counts; a pinned one counts as the
    heaviest does. Then the weights are made to sum to 1 again, but where every edge is banned.
    """
    if any(neighbour.edge.mark for neighbour in neighbours):
        return _marked(neighbours, parameters)
    return _unmarked(neighbours, parameters)


def _marked(neighbours: Sequence[Neighbour], parameters: WeightParameters) -> list[Weighted]:
    kept = _unmarked([n for n in neighbours if n.edge.mark != "ban"], parameters)
    counted = {w.target: w.weight * MUTED if w.edge.mark == "mute" else w.weight for w in kept}
    heaviest = max(counted.values(), default=0.0)
    counted |= {w.target: heaviest for w in kept if w.edge.mark == "pin"}
    total = math.fsum(counted.values()) or 1.0
    return [
        Weighted(
            n.edge.target,
            counted.get(n.edge.target, 0.0) / total,
            availability(n.facts, parameters),
            n.resolved,
            n.edge,
        )
        for n in neighbours
    ]


def _unmarked(neighbours: Sequence[Neighbour], parameters: WeightParameters) -> list[Weighted]:
    imported = live = 0
    total = 0.0
    alpha = parameters.alpha
    scores: list[float] = []
    for neighbour in neighbours:
        imported += neighbour.edge.imported
        live += neighbour.edge.live
        quality = 0.0 if neighbour.edge.target == FINISH else neighbour.facts.quality
        score = score_map(quality, alpha)
        scores.append(score)
        total += score
    beta = _imported_share(imported, live, parameters)
    static, dynamic = beta / (imported or 1), (1 - beta)
    return [
        Weighted(
            n.edge.target,
            static * n.edge.imported + dynamic * (score / total),
            availability(n.facts, parameters),
            n.resolved,
            n.edge,
        )
        for n, score in zip(neighbours, scores, strict=True)
    ]


def availability(facts: ToolFacts, parameters: WeightParameters = DEFAULTS) -> float | None:
    """The chance that a call succeeds, in [0, 1], or None where there is no evidence (3.4.2, as Footpath reads it).

    v = β · successes / calls + (1 - β) · f(a) / (f(a) + 1), with β = n₀ / (n₀ + ok + transient + 4 · gone). Without a
    live call the first term stands alone, without an imported one the second.
    """
    live = facts.ok + facts.transient + HARD_ERROR * facts.gone
    imported = facts.successes / facts.calls if facts.calls else None
    if not live:
        return imported
    mapped = score_map(facts.reliability, parameters.alpha)
    current = mapped / (mapped + 1)
    if imported is None:
        return current
    beta = parameters.n0 / (parameters.n0 + live)
    return beta * imported + (1 - beta) * current


def top_candidates(weighted: Iterable[Weighted], k: int) -> list[Weighted]:
    """The ``k`` best tools to offer: those with a document, pinned ones first, then by weight times availability, ties by id.

    Never ``FINISH``, nor over a banned edge.
    """
    return rank(weighted)[:k]


def rank(weighted: Iterable[Weighted]) -> list[Weighted]:
    """All tools that can be offered, best first."""
    offered = [w for w in weighted if w.resolved and w.target != FINISH and w.edge.mark != "ban"]
    return sorted(offered, key=lambda w: (w.edge.mark != "pin", -w.rank_score, w.target))


def _imported_share(imported: int, live: int, parameters: WeightParameters) -> float:
    """β of a node: 1 before its first run, 0 where nothing was imported, then shrinking with its live transitions."""
    if not imported:
        return 0.0
    if not live:
        return 1.0
    if parameters.fixed_beta is not None:
        return parameters.fixed_beta
    return parameters.n0 / (parameters.n0 + live)
