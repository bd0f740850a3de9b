"""What each kind of reason counts. A tool's score is the sum of its signals, each times the weight of its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent.offer.offer import Kind, Reason, Signal

_FITTED: Mapping[Kind, float] = {
    "found": 0.3, "service": 0.4, "named": 0.8, "returns": 0.4, "supplies": 0.5, "resolves": 0.4, "consumes": 0.8, "joins": 0.35,
    "holds": 0.2, "sibling": 0.25, "follows": 0.1, "precedes": 0.1, "walked": 0.29, "served": 0.1, "failing": -1.0, "crowded": -0.2,
}  # fmt: skip
"""Fitted on the even lines of the requests of docs/offers.md, with each source of requests counting the same."""


@dataclass(frozen=True, slots=True)
class OfferWeights:
    """In log-odds: how much a signal of 1 adds to a tool's score."""

    of: Mapping[Kind, float] = field(default_factory=lambda: _FITTED)

    def reasons(self, signals: Mapping[Kind, Signal]) -> tuple[Reason, ...]:
        """The weightiest first; what counts for nothing is left out."""
        told = [Reason(kind, self.of.get(kind, 0.0) * signal.value, signal) for kind, signal in signals.items()]
        return by_weight(one for one in told if one.share)


def by_weight(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The weightiest first."""
    return tuple(sorted(reasons, key=lambda one: (-abs(one.share), one.kind)))
