"""A request to its parts: what is asked, once per thing that it is asked of."""

from dataclasses import dataclass
from functools import lru_cache

from offline.nlp.clauses import asks
from offline.nlp.coordination import coordinated

MOST = 6
"""More parts than this are not told apart: each costs calls."""


@dataclass(frozen=True, slots=True)
class Part:
    """``text``: what is asked, of one thing; ``whole``: the request with nothing but that thing where several stand side by side.

    ``clauses``: the clauses (:func:`offline.nlp.clauses.clauses`) that it is made of. ``named``: the thing, where it is one of several.
    """

    text: str
    whole: str
    clauses: tuple[str, ...]
    named: str = ""


@lru_cache(maxsize=64)
def parts(request: str) -> tuple[Part, ...]:
    """The parts in order, at most ``MOST``."""
    found: list[Part] = []
    for ask in asks(request):
        side_by_side = coordinated(ask.text)
        if not side_by_side:
            found.append(Part(ask.text, request, ask.clauses))
        for text, named in side_by_side:
            whole = request.replace(ask.text, text) if ask.text in request else text
            found.append(Part(text, whole, ask.clauses, named))
    return tuple(found[:MOST])
