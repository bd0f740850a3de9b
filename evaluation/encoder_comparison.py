"""Comparison of two encoders on the same requests: offered tools, needed tools among them, and costs."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from domain.encoder_comparison import EncoderComparison, EncoderFigures, Example
from domain.tool import ToolId
from evaluation.offers import Measured, Offered, Offers

FIRST = 16
"""Tools at the head of an offer by which requests gain and lose."""
_SHOWN = 8
_LONGEST = 300


@dataclass(frozen=True, slots=True)
class Way:
    """Offers of one encoder, with their measurements."""

    offers: Offers
    measured: list[Measured] = field(default_factory=list[Measured])
    ids: dict[str, tuple[ToolId, ...]] = field(default_factory=dict[str, tuple[ToolId, ...]])
    """Ids of the offered tools, by request."""

    async def told(self, request: str, limit: int) -> Sequence[Offered]:
        """Make an offer and record its ids."""
        offered = await self.offers(request, limit)
        self.ids[request] = tuple(one.id for one in offered)
        return offered


@dataclass(frozen=True, slots=True)
class Taken:
    """Identity and costs of an encoder."""

    identity: str
    dimension: int
    bytes: int
    reranked: bool
    cost: float | None


def compared(
    old: tuple[Way, Taken], new: tuple[Way, Taken], origins: Mapping[str, int], shown: Collection[str]
) -> EncoderComparison:
    """Compare two encoders over the requests that both have offers for.

    Args:
        old: measurements and costs of the encoder in use.
        new: the same of the other encoder.
        origins: where the requests come from, with their numbers.
        shown: ids of the requests whose texts may be shown.
    """
    pairs = list(zip(old[0].measured, new[0].measured, strict=True))
    gained = [pair for pair in pairs if pair[1].found(FIRST) > pair[0].found(FIRST)]
    lost = [pair for pair in pairs if pair[1].found(FIRST) < pair[0].found(FIRST)]
    overlaps = [_shared(old[0].ids[one.request.query], new[0].ids[one.request.query]) for one, _ in pairs]
    return EncoderComparison(
        old=_figures(*old), new=_figures(*new), requests=len(pairs), origins=dict(origins),
        overlap=float(np.mean(overlaps)) if overlaps else 1.0, gained=len(gained), lost=len(lost),
        gains=_examples(gained, shown), losses=_examples(lost, shown),
        unshown=sum(one.request.id not in shown for one, _ in (*gained, *lost)),
    )  # fmt: skip


def _figures(way: Way, taken: Taken) -> EncoderFigures:
    rows = way.measured
    seconds = [one.seconds for one in rows if one.seconds is not None] or [0.0]
    shares = {size: [one.found(size) for one in rows] or [0.0] for size in (8, FIRST)}
    return EncoderFigures(
        identity=taken.identity, dimension=taken.dimension, bytes=taken.bytes, reranked=taken.reranked, cost=taken.cost,
        recall8=float(np.mean(shares[8])), recall16=float(np.mean(shares[FIRST])),
        complete8=float(np.mean([one == 1 for one in shares[8]])),
        complete16=float(np.mean([one == 1 for one in shares[FIRST]])),
        seconds=float(np.median(seconds)), seconds95=float(np.quantile(seconds, 0.95)),
    )  # fmt: skip


def _examples(pairs: Sequence[tuple[Measured, Measured]], shown: Collection[str]) -> tuple[Example, ...]:
    told = [pair for pair in pairs if pair[0].request.id in shown][:_SHOWN]
    return tuple(
        Example(
            request=one.request.query[:_LONGEST],
            needed=tuple(needed.name for needed in one.request.needed),
            old=_from_one(one.places),
            new=_from_one(other.places),
        )
        for one, other in told
    )


def _from_one(places: Sequence[int | None]) -> tuple[int | None, ...]:
    return tuple(None if place is None else place + 1 for place in places)


def _shared(old: Sequence[ToolId], new: Sequence[ToolId]) -> float:
    first, second = set(old[:FIRST]), set(new[:FIRST])
    return len(first & second) / max(len(first), len(second), 1)
