"""Which tools a request is offered, against those that it needs: whether all of them are among the first 8, 16 and 24, and how many are.

A needed tool counts as found where a copy of it is offered: the same API of the same tool set in another spelling or category, or
one that the offer holds for alike. ``exact`` counts the ids alone.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.tool import ToolId
from evaluation.api_keys import Key, key_of
from evaluation.offer_requests import Labelled
from retriever.words import standard_names

SIZES = (8, 16, 24)
TOLD = 16
"""Of the first so many tools the signatures are counted."""


class Offered(Protocol):
    """A tool of an offer. ``alike``: its copies, which it stands for."""

    @property
    def id(self) -> ToolId: ...

    @property
    def alike(self) -> tuple[ToolId, ...]: ...


Offers = Callable[[str, int], Awaitable[Sequence[Offered]]]
"""A request, and how many tools at most, to the tools that it is offered, best first."""

Tokens = Callable[[Sequence[ToolId]], Awaitable[int]]
"""How long tools are that are offered together, written as signatures."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A tool that serves a request, with the ``name`` of its label. ``ids``: the documents that are it, none where the store has none: it
    can only be missed.
    """

    name: str
    ids: frozenset[ToolId]

    def by_id(self, offered: Offered) -> bool:
        """Whether that is the tool itself."""
        return offered.id in self.ids

    def by_copy(self, offered: Offered) -> bool:
        """Whether that is the tool, or stands for it."""
        if not self.ids.isdisjoint((offered.id, *offered.alike)):
            return True
        return any(standard_names(one) == standard_names(offered.id) for one in self.ids)


@dataclass(frozen=True, slots=True)
class Request:
    """A request with the tools that serve it together."""

    id: str
    query: str
    group: str
    needed: tuple[Needed, ...]


@dataclass(frozen=True, slots=True)
class Resolved:
    """Requests with what the store has of their tools. ``unknown``: labels without a document, with how many requests name them."""

    requests: tuple[Request, ...]
    unknown: dict[str, int]


def resolved(labelled: Iterable[Labelled], documents: Collection[ToolId]) -> Resolved:
    """The requests with the documents that their labels mean: those ids, or every copy of an API that is labelled by its key."""
    copies: dict[Key, set[ToolId]] = {}
    asked = list(labelled)
    if any(isinstance(label, tuple) for one in asked for label in one.relevant):
        for tool in documents:
            copies.setdefault(key_of(tool), set()).add(tool)
    known, unknown, requests = frozenset(documents), dict[str, int](), list[Request]()
    for one in asked:
        needed: list[Needed] = []
        for label in one.relevant:
            ids = frozenset(copies.get(label, ())) if isinstance(label, tuple) else known & {label}
            name = "/".join(label) if isinstance(label, tuple) else label
            if not ids:
                unknown[name] = unknown.get(name, 0) + 1
            needed.append(Needed(name, ids))
        requests.append(Request(one.id, one.query, one.group, tuple(needed)))
    return Resolved(tuple(requests), unknown)


@dataclass(frozen=True, slots=True)
class Measured:
    """An offer for a request. ``places``: of each needed tool the place, from 0, of the first that counts as it; ``exact``: of the tool
    itself; None where it is not offered. ``tokens``: of the first :data:`TOLD`. ``seconds``: wall time of making the offer; None
    where the request was read before, as for another way to offer.
    """

    request: Request
    places: tuple[int | None, ...]
    exact: tuple[int | None, ...]
    tokens: int
    seconds: float | None = None

    def found(self, size: int, *, exact: bool = False) -> float:
        """Share of the needed tools among the first ``size``."""
        places = self.exact if exact else self.places
        return sum(place is not None and place < size for place in places) / len(places)


async def measure_all(
    requests: Iterable[Request],
    ways: Sequence[tuple[Offers, list[Measured]]],
    tokens: Tokens,
    ask: Callable[[str], None],
) -> None:
    """Each request in each way, into the list beside it, so that what is there compares fairly whenever it is stopped.

    The ways take turns at being the first, whose time counts: what a request comes to as a vector is remembered. ``ask`` is told of
    each request before.
    """
    for number, request in enumerate(requests):
        ask(request.query)
        first = number % len(ways)
        found = {at: await _measured(request, ways[at][0], tokens, timed=at == first) for at in _turn(first, len(ways))}
        for at, (_, into) in enumerate(ways):
            into.append(found[at])


def _turn(first: int, count: int) -> list[int]:
    return [(first + step) % count for step in range(count)]


async def _measured(request: Request, offers: Offers, tokens: Tokens, *, timed: bool) -> Measured:
    """One offer, of the largest size: smaller ones are its beginning."""
    began = time.perf_counter()
    offered = await offers(request.query, max(SIZES))
    seconds = time.perf_counter() - began
    return Measured(
        request,
        tuple(_place(one.by_copy, offered) for one in request.needed),
        tuple(_place(one.by_id, offered) for one in request.needed),
        await tokens([one.id for one in offered[:TOLD]]),
        seconds if timed else None,
    )


def _place(counts: Callable[[Offered], bool], offered: Sequence[Offered]) -> int | None:
    return next((place for place, one in enumerate(offered) if counts(one)), None)
