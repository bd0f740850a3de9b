"""What each kind of reason counts. A tool's score is the sum of its signals, each times the weight of its kind."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agent.offer.offer import Kind, Reason, Signal

_FITTED: Mapping[Kind, float] = {
    "found": 0.3, "service": 0.3, "named": 0.75, "returns": 0.4, "supplies": 0.35, "resolves": 0.4, "consumes": 0.5, "joins": 0.4,
    "holds": 0.2, "sibling": 0.2, "follows": 0.1, "precedes": 0.1, "walked": 0.19, "served": 0.1, "failing": -1.0,
}  # fmt: skip
"""Fitted on the even lines of the requests of docs/offers.md, with each source of requests counting the same."""


@dataclass(frozen=True, slots=True)
class OfferWeights:
    """In log-odds: how much a signal of 1 adds to a tool's score."""

    of: Mapping[Kind, float] = field(default_factory=lambda: _FITTED)

    def reasons(self, signals: Mapping[Kind, Signal]) -> tuple[Reason, ...]:
        """The weightiest first; what counts for nothing is left out."""
        told = [Reason(kind, self.of.get(kind, 0.0) * signal.value, signal) for kind, signal in signals.items()]
        return tuple(sorted((one for one in told if one.share), key=lambda one: (-abs(one.share), one.kind)))
