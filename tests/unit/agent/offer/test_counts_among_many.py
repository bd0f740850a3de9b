"""What counts otherwise where tools were picked out of a large catalogue."""

from agent.offer.offer import Kind, Signal
from agent.offer.weighing import OfferWeights

COUNTS = OfferWeights({"found": 0.5, "named": 2.0}, among_many={"found": 1.0})
SIGNALS: dict[Kind, Signal] = {"found": Signal(4.0), "named": Signal(0.5), "returns": Signal(1.0)}


def test_the_retriever_counts_more_and_the_rest_as_ever() -> None:
    few = {reason.kind: reason.share for reason in COUNTS.reasons(SIGNALS)}
    many = {reason.kind: reason.share for reason in COUNTS.reasons(SIGNALS, picked=True)}
    assert (few, many) == ({"found": 2.0, "named": 1.0}, {"found": 4.0, "named": 1.0})
