"""The result of comparing two encoders on the same requests."""

from domain.model import Model


class Example(Model):
    """A request for which the new encoder finds more or fewer tools."""

    request: str
    needed: tuple[str, ...]
    old: tuple[int | None, ...]
    """Rank of each needed tool with the old encoder, from 1; None if it was not offered."""
    new: tuple[int | None, ...]
    """The same with the new encoder."""


class EncoderFigures(Model):
    """Quality, speed and cost of one encoder."""

    identity: str
    dimension: int
    recall8: float
    """Share of the needed tools among the first 8."""
    recall16: float
    complete8: float
    """Share of requests with all of their tools among the first 8."""
    complete16: float
    seconds: float
    """Time to find the tools of a request."""
    seconds95: float
    bytes: int
    """Size of all vectors."""
    reranked: bool
    """Ordered by a re-ranker that was trained with this encoder."""
    cost: float | None = None
    """Cost of a request, if the price is known."""


class EncoderComparison(Model):
    """Figures of two encoders and how their offers differ."""

    old: EncoderFigures
    new: EncoderFigures
    requests: int
    origins: dict[str, int]
    """Origins of the requests, with the number from each."""
    overlap: float
    """Share of the first 16 tools that both offer."""
    gained: int
    """Requests with more of their tools among the first 16."""
    lost: int
    """Requests with fewer of them."""
    gains: tuple[Example, ...] = ()
    """Examples of the gained requests."""
    losses: tuple[Example, ...] = ()
    """Examples of the lost requests."""
    unshown: int = 0
    """Requests left out of the examples because their wording is private to their users."""
