"""What counts otherwise where tools were picked out of a large catalogue."""

from agent.offer.offer_maker import OfferWeights
from agent.offer.tool_offer import OfferSignal, ReasonKind

COUNTS = OfferWeights({"found": 0.5, "named": 2.0}, among_many={"found": 1.0})
SIGNALS: dict[ReasonKind, OfferSignal] = {
    "found": OfferSignal(4.0),
    "named": OfferSignal(0.5),
    "returns": OfferSignal(1.0),
}


def test_the_retriever_counts_more_and_the_rest_as_ever() -> None:
    few = {reason.kind: reason.share for reason in COUNTS.compute_reasons(SIGNALS)}
    many = {reason.kind: reason.share for reason in COUNTS.compute_reasons(SIGNALS, picked=True)}
    assert (few, many) == ({"found": 2.0, "named": 1.0}, {"found": 4.0, "named": 1.0})
