"""What each kind of reason counts. A tool's score is the sum of its signals, each times the weight of its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent.offer.offer import Kind, Reason, Signal

_FITTED: Mapping[Kind, float] = {
    "found": 0.3, "service": 0.4, "named": 0.8, "returns": 0.4, "supplies": 0.5, "resolves": 0.4, "consumes": 0.8, "joins": 0.35,
    "holds": 0.2, "sibling": 0.25, "follows": 0.1, "precedes": 0.1, "walked": 0.29, "served": 0.1, "failing": -1.0, "crowded": -0.2,
}  # fmt: skip
"""Fitted on the even lines of the requests of docs/offers.md, with each source of requests counting the same."""

_AMONG_MANY: Mapping[Kind, float] = {"found": 2.0, "follows": 1.0, "precedes": 5.0, "walked": 0.4}
"""What counts otherwise where the retriever has picked its tools out of many: its judgement was taught on such, and what was walked is the
exception there. Chosen on the even lines of the requests over 45,113 tools.
"""


@dataclass(frozen=True, slots=True)
class OfferWeights:
    """In log-odds: how much a signal of 1 adds to a tool's score. ``among_many``: where tools were picked out of a large catalogue."""

    of: Mapping[Kind, float] = field(default_factory=lambda: _FITTED)
    among_many: Mapping[Kind, float] = field(default_factory=lambda: _AMONG_MANY)

    def reasons(self, signals: Mapping[Kind, Signal], *, picked: bool = False) -> tuple[Reason, ...]:
        """The weightiest first; what counts for nothing is left out. ``picked``: the tools were, out of a large catalogue."""
        counts = {**self.of, **self.among_many} if picked else self.of
        told = [Reason(kind, counts.get(kind, 0.0) * signal.value, signal) for kind, signal in signals.items()]
        return by_weight(one for one in told if one.share)


def by_weight(reasons: Iterable[Reason]) -> tuple[Reason, ...]:
    """The weightiest first."""
    return tuple(sorted(reasons, key=lambda one: (-abs(one.share), one.kind)))
