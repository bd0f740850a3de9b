"""Weights of the kinds of evidence. A tool's score is the sum of its signals, each times the weight of its kind."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from agent.offer.offer import OfferReason, OfferSignal, ReasonKind

_FITTED: Mapping[ReasonKind, float] = {
    "found": 0.3, "service": 0.4, "named": 0.8, "returns": 0.4, "supplies": 0.5, "resolves": 0.4, "consumes": 0.8, "joins": 0.35,
    "holds": 0.2, "sibling": 0.25, "follows": 0.1, "precedes": 0.1, "walked": 0.29, "served": 0.1, "failing": -1.0, "crowded": -0.2,
}  # fmt: skip
"""Fitted on the even lines of the requests of docs/offers.md, where each source of requests counts the same."""

_AMONG_MANY: Mapping[ReasonKind, float] = {"found": 2.0, "follows": 1.0, "precedes": 5.0, "walked": 0.4}
"""Weights that differ if the retriever selected its tools from a large catalogue.

Its judgement was trained on such catalogues, and tools with past use are the exception there. Chosen on the even
lines of the requests over 45,113 tools.
"""


@dataclass(frozen=True, slots=True)
class OfferWeights:
    """Weights of evidence in log-odds: how much a signal of 1 adds to a tool's score."""

    by_kind: Mapping[ReasonKind, float] = field(default_factory=lambda: _FITTED)
    """Weight of each kind."""
    among_many: Mapping[ReasonKind, float] = field(default_factory=lambda: _AMONG_MANY)
    """Weights that replace them if the tools were selected from a large catalogue."""

    def compute_reasons(
        self, signals: Mapping[ReasonKind, OfferSignal], *, picked: bool = False
    ) -> tuple[OfferReason, ...]:
        """Return the reasons for a tool, the weightiest first, without those that count for nothing.

        ``picked``: whether the tools were selected from a large catalogue.
        """
        counts = {**self.by_kind, **self.among_many} if picked else self.by_kind
        weighted = [OfferReason(kind, counts.get(kind, 0.0) * signal.value, signal) for kind, signal in signals.items()]
        return sort_by_weight(one for one in weighted if one.share)


def sort_by_weight(reasons: Iterable[OfferReason]) -> tuple[OfferReason, ...]:
    """Return the reasons, the weightiest first."""
    return tuple(sorted(reasons, key=lambda one: (-abs(one.share), one.kind)))
