"""Comparison of two encoders on the same requests: offered tools, needed tools among them, and costs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from domain.encoder_comparison import EncoderComparison, EncoderFigures, Example
from domain.tool import ToolId
from evaluation.offers import OfferedEntry, OfferMeasurement, OfferProvider

FIRST = 16
"""Tools at the head of an offer by which requests gain and lose."""
_MAX_EXAMPLES = 8
_MAX_REQUEST_LENGTH = 300


@dataclass(frozen=True, slots=True)
class EncoderRun:
    """Offers of one encoder, with their measurements."""

    offers: OfferProvider
    measured: list[OfferMeasurement] = field(default_factory=list[OfferMeasurement])
    ids: dict[str, tuple[ToolId, ...]] = field(default_factory=dict[str, tuple[ToolId, ...]])
    """Ids of the offered tools, by request."""

    async def make_offer(self, request: str, limit: int) -> Sequence[OfferedEntry]:
        """Make an offer and record its ids."""
        offered = await self.offers(request, limit)
        self.ids[request] = tuple(one.id for one in offered)
        return offered


@dataclass(frozen=True, slots=True)
class EncoderProfile:
    """Identity and costs of an encoder."""

    identity: str
    dimension: int
    """Length of its vectors."""
    bytes: int
    """Size of the index."""
    reranked: bool
    """True if its results are reranked."""
    cost: float | None


def compare_encoders(
    old: tuple[EncoderRun, EncoderProfile],
    new: tuple[EncoderRun, EncoderProfile],
    origins: Mapping[str, int],
    shown_ids: Collection[str],
) -> EncoderComparison:
    """Compare two encoders over the requests that both have offers for.

    Args:
        old: measurements and costs of the encoder in use.
        new: the same of the other encoder.
        origins: where the requests come from, with their numbers.
        shown_ids: ids of the requests whose texts may be shown.
    """
    pairs = list(zip(old[0].measured, new[0].measured, strict=True))
    gained = [pair for pair in pairs if pair[1].compute_recall(FIRST) > pair[0].compute_recall(FIRST)]
    lost = [pair for pair in pairs if pair[1].compute_recall(FIRST) < pair[0].compute_recall(FIRST)]
    overlaps = [_compute_overlap(old[0].ids[one.request.query], new[0].ids[one.request.query]) for one, _ in pairs]
    return EncoderComparison(
        old=_compute_figures(*old), new=_compute_figures(*new), requests=len(pairs), origins=dict(origins),
        overlap=float(np.mean(overlaps)) if overlaps else 1.0, gained=len(gained), lost=len(lost),
        gains=_select_examples(gained, shown_ids), losses=_select_examples(lost, shown_ids),
        unshown=sum(one.request.id not in shown_ids for one, _ in (*gained, *lost)),
    )  # fmt: skip


def _compute_figures(run: EncoderRun, profile: EncoderProfile) -> EncoderFigures:
    rows = run.measured
    seconds = [one.seconds for one in rows if one.seconds is not None] or [0.0]
    shares = {size: [one.compute_recall(size) for one in rows] or [0.0] for size in (8, FIRST)}
    return EncoderFigures(
        identity=profile.identity, dimension=profile.dimension, bytes=profile.bytes, reranked=profile.reranked, cost=profile.cost,
        recall8=float(np.mean(shares[8])), recall16=float(np.mean(shares[FIRST])),
        complete8=float(np.mean([one == 1 for one in shares[8]])),
        complete16=float(np.mean([one == 1 for one in shares[FIRST]])),
        seconds=float(np.median(seconds)), seconds95=float(np.quantile(seconds, 0.95)),
    )  # fmt: skip


def _select_examples(
    pairs: Sequence[tuple[OfferMeasurement, OfferMeasurement]], shown_ids: Collection[str]
) -> tuple[Example, ...]:
    selected = [pair for pair in pairs if pair[0].request.id in shown_ids][:_MAX_EXAMPLES]
    return tuple(
        Example(
            request=one.request.query[:_MAX_REQUEST_LENGTH],
            needed=tuple(needed.name for needed in one.request.needed),
            old=_count_from_one(one.places),
            new=_count_from_one(other.places),
        )
        for one, other in selected
    )


def _count_from_one(places: Sequence[int | None]) -> tuple[int | None, ...]:
    return tuple(None if place is None else place + 1 for place in places)


def _compute_overlap(old: Sequence[ToolId], new: Sequence[ToolId]) -> float:
    first, second = set(old[:FIRST]), set(new[:FIRST])
    return len(first & second) / max(len(first), len(second), 1)
