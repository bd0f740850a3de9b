"""An offer as a model is shown it: signatures under a budget of tokens."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from agent.programs.signatures import Signature, signatures
from agent.text import estimated_tokens
from domain.tool import ToolDoc, ToolId
from graph.shapes import Shape


@dataclass(frozen=True, slots=True)
class OfferText:
    """The tools of an offer in order, the first ``whole`` with all that is known, the others by name and parameters.

    ``left_out``: those for which the budget had no place at all, from the end of the offer.
    """

    text: str
    signatures: tuple[Signature, ...]
    whole: int
    left_out: tuple[ToolId, ...] = ()

    @property
    def tokens(self) -> int:
        """Of the text, estimated as :attr:`Signature.tokens` are."""
        return estimated_tokens(self.text) if self.text else 0


def render_offer(
    docs: Sequence[ToolDoc],
    budget: int | None = None,
    shapes: Mapping[ToolId, Shape] | None = None,
    taken: Collection[str] = (),
) -> OfferText:
    """The signatures of tools, best first, within ``budget`` tokens (None: whatever they take).

    As many as fit are shown whole, from the first; the rest by name and parameters; where even that is too much, the last are left out,
    rather than that what is best is told without its structure: half of the budget is for that.
    ``shapes``: what is known of responses besides what documents say. ``taken``: names that are something else's.
    """
    made = signatures(docs, shapes, taken)
    characters = None if budget is None else max(4 * budget - 1, 0)
    shown, whole = _fitting(made, characters)
    text = "\n".join(one.text if number < whole else one.short for number, one in enumerate(shown))
    return OfferText(text, tuple(shown), whole, tuple(one.tool for one in made[len(shown) :]))


def _fitting(made: Sequence[Signature], characters: int | None) -> tuple[Sequence[Signature], int]:
    """What has a place, and how many of it whole."""
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
    """How many of these fit, from the first."""
    return sum(1 for _ in takewhile(lambda total: total <= left, accumulate(sizes)))
