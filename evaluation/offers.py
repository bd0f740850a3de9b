"""Recall of offers: whether all needed tools are among the first 8, 16 and 24 offered, and what share is.

A needed tool counts as found where a copy of it is offered: the same API of the same tool set in another spelling or category, or
one that the offer holds to be alike. ``exact`` counts the ids alone.
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
"""Tools at the head of an offer whose signatures are counted in tokens."""


class Offered(Protocol):
    """A tool of an offer."""

    @property
    def id(self) -> ToolId: ...

    @property
    def alike(self) -> tuple[ToolId, ...]:
        """The tool's copies, which it stands for."""
        ...


Offers = Callable[[str, int], Awaitable[Sequence[Offered]]]
"""Maps a request and a maximum number of tools to the tools offered, best first."""

Tokens = Callable[[Sequence[ToolId]], Awaitable[int]]
"""Returns the length in tokens of the signatures of tools that are offered together."""


@dataclass(frozen=True, slots=True)
class Needed:
    """A tool that serves a request."""

    name: str
    """The name that its label gives it."""
    ids: frozenset[ToolId]
    """Documents of the tool; empty if the store has none, in which case it can only be missed."""

    def by_id(self, offered: Offered) -> bool:
        """Return whether an offered tool is this very tool."""
        return offered.id in self.ids

    def by_copy(self, offered: Offered) -> bool:
        """Return whether an offered tool is this tool or a copy that stands for it."""
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
    """Requests with the documents of their tools."""

    requests: tuple[Request, ...]
    unknown: dict[str, int]
    """Labels without a document, with the number of requests that name them."""


def resolved(labelled: Iterable[Labelled], documents: Collection[ToolId]) -> Resolved:
    """Resolve the labels of requests to documents: ids as they are, an API's key to every copy of the API."""
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
    """One offer for a request, compared with the tools that it needs."""

    request: Request
    places: tuple[int | None, ...]
    """For each needed tool the position, from 0, of the first offered tool that counts as it; None: not offered."""
    exact: tuple[int | None, ...]
    """For each needed tool the position of the tool itself; None: not offered."""
    tokens: int
    """Tokens of the signatures of the first :data:`TOLD` tools."""
    seconds: float | None = None
    """Wall time of making the offer; None if the request had already been embedded for another way."""

    def found(self, size: int, *, exact: bool = False) -> float:
        """Return the share of the needed tools among the first ``size``."""
        places = self.exact if exact else self.places
        return sum(place is not None and place < size for place in places) / len(places)


async def measure_all(
    requests: Iterable[Request],
    ways: Sequence[tuple[Offers, list[Measured]]],
    tokens: Tokens,
    ask: Callable[[str], None],
) -> None:
    """Measure the offers of each way for each request, and append the results to the list paired with that way.

    Requests are completed one by one, so that the results compare fairly whenever the run is stopped. The ways take turns at being the
    first, which alone is timed: a request's vector is cached after it. ``ask`` is called with each request before.
    """
    for number, request in enumerate(requests):
        ask(request.query)
        # Only the first way is timed: it embeds the request, and the others find the vector in the cache.
        first = number % len(ways)
        found = {at: await _measured(request, ways[at][0], tokens, timed=at == first) for at in _turn(first, len(ways))}
        for at, (_, into) in enumerate(ways):
            into.append(found[at])


def _turn(first: int, count: int) -> list[int]:
    return [(first + step) % count for step in range(count)]


async def _measured(request: Request, offers: Offers, tokens: Tokens, *, timed: bool) -> Measured:
    """Measure one offer of the largest size; smaller offers are its beginning."""
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
