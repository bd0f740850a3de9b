"""What a comparison of two encoders found, on the same requests."""

from domain.model import Model


class Example(Model):
    """A request that gains or loses. ``old``, ``new``: the place of each needed tool in the offer, from 1; None where it is not among it."""

    request: str
    needed: tuple[str, ...]
    old: tuple[int | None, ...]
    new: tuple[int | None, ...]


class EncoderFigures(Model):
    """``recall8``: share of the needed tools among the first 8; ``complete8``: of requests all of whose tools are. Seconds of finding the tools of a request.

    ``cost`` of a request, where the price is known. ``bytes``: of all vectors. ``reranked``: ordered by a re-ranker that has learnt with this encoder.
    """

    identity: str
    dimension: int
    recall8: float
    recall16: float
    complete8: float
    complete16: float
    seconds: float
    seconds95: float
    bytes: int
    reranked: bool
    cost: float | None = None


class EncoderComparison(Model):
    """``origins``: where the requests are from, with how many. ``overlap``: the share of the first 16 that both offer.

    ``gained``, ``lost``: how many requests have more, or fewer, of their tools among the first 16; some of them as examples. Of ``unshown`` ones the words
    are their users' own.
    """

    old: EncoderFigures
    new: EncoderFigures
    requests: int
    origins: dict[str, int]
    overlap: float
    gained: int
    lost: int
    gains: tuple[Example, ...] = ()
    losses: tuple[Example, ...] = ()
    unshown: int = 0
