"""Rendering of an offer for a model: signatures within a token budget."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from agent.programs.signatures import Signature, signatures
from agent.text import estimated_tokens
from domain.tool import ToolDoc, ToolId
from graph.shapes import Shape


@dataclass(frozen=True, slots=True)
class OfferText:
    """Tools of an offer as text, in order of rank."""

    text: str
    signatures: tuple[Signature, ...]
    whole: int
    """Number of signatures, from the first, that are shown whole; the others show only name and parameters."""
    left_out: tuple[ToolId, ...] = ()
    """Tools at the end of the offer that did not fit at all."""

    @property
    def tokens(self) -> int:
        """Estimated number of tokens of the text, counted as for :attr:`Signature.tokens`."""
        return estimated_tokens(self.text) if self.text else 0


def render_offer(
    docs: Sequence[ToolDoc],
    budget: int | None = None,
    shapes: Mapping[ToolId, Shape] | None = None,
    taken: Collection[str] = (),
) -> OfferText:
    """Render the signatures of tools, best first, within ``budget`` tokens (None: no limit).

    As many as fit are shown whole, from the first, and the rest by name and parameters. If even that is too much, the last ones are left out
    rather than showing the best ones without their structure: half of the budget is reserved for those.
    ``shapes``: response shapes that are known better than from the documents. ``taken``: names that are in use for something else.
    """
    made = signatures(docs, shapes, taken)
    characters = None if budget is None else max(4 * budget - 1, 0)
    shown, whole = _fitting(made, characters)
    text = "\n".join(one.text if number < whole else one.short for number, one in enumerate(shown))
    return OfferText(text, tuple(shown), whole, tuple(one.tool for one in made[len(shown) :]))


def _fitting(made: Sequence[Signature], characters: int | None) -> tuple[Sequence[Signature], int]:
    """Return the signatures that fit, and how many of them are shown whole."""
    if characters is None:
        return made, len(made)
    left = characters + 1  # the last line has no end
    best = _how_many((len(one.text) + 1 for one in made), left // 2)
    left -= sum(len(one.text) + 1 for one in made[:best])
    more = _how_many((len(one.short) + 1 for one in made[best:]), left)
    left -= sum(len(one.short) + 1 for one in made[best : best + more])
    shown = made[: best + more]
    return shown, best + _how_many((len(one.text) - len(one.short) for one in shown[best:]), left)


def _how_many(sizes: Iterable[int], left: int) -> int:
    """Return how many items fit, from the first."""
    return sum(1 for _ in takewhile(lambda total: total <= left, accumulate(sizes)))
