"""Measure offers: whether the tools that a request needs are among the first 8, 16 and 24 offered, and what share is.

A needed tool also counts as found if a copy of it is offered: the same API of the same tool set in another spelling or
category, or one that the offer holds to be alike. ``exact`` counts the ids alone. The figures are means by group with
bootstrap intervals, and paired differences to another way of making offers.
"""

import time
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from domain.tool import ToolId
from evaluation.api_names import ApiName, get_api_name
from evaluation.offer_requests import LabelledRequest
from retriever.words import normalize_tool_name

SIZES = (8, 16, 24)
"""Sizes of offers for which recall is computed."""
COUNTED_SIGNATURES = 16
"""Tools at the head of an offer whose signatures are counted in tokens."""


class OfferedEntry(Protocol):
    """A tool of an offer."""

    @property
    def id(self) -> ToolId: ...

    @property
    def alike(self) -> tuple[ToolId, ...]:
        """The tool's copies, which it stands for."""
        ...


OfferProvider = Callable[[str, int], Awaitable[Sequence[OfferedEntry]]]
"""Maps a request and a maximum number of tools to the tools offered, best first."""

TokenCounter = Callable[[Sequence[ToolId]], Awaitable[int]]
"""Returns the length in tokens of the signatures of tools that are offered together."""


@dataclass(frozen=True, slots=True)
class NeededTool:
    """A tool that serves a request."""

    name: str
    """The name that its label gives it."""
    ids: frozenset[ToolId]
    """Documents of the tool; empty if the store has none, in which case it can only be missed."""

    def matches_id(self, offered: OfferedEntry) -> bool:
        """Return whether an offered tool is this very tool."""
        return offered.id in self.ids

    def matches_copy(self, offered: OfferedEntry) -> bool:
        """Return whether an offered tool is this tool or a copy that stands for it."""
        if not self.ids.isdisjoint((offered.id, *offered.alike)):
            return True
        return any(normalize_tool_name(one) == normalize_tool_name(offered.id) for one in self.ids)


@dataclass(frozen=True, slots=True)
class ResolvedRequest:
    """A request with the tools that serve it together."""

    id: str
    query: str
    group: str
    needed: tuple[NeededTool, ...]


@dataclass(frozen=True, slots=True)
class ResolvedRequests:
    """Requests with the documents of their tools."""

    requests: tuple[ResolvedRequest, ...]
    unknown: dict[str, int]
    """Labels without a document, with the number of requests that name them."""


def resolve_requests(labelled: Iterable[LabelledRequest], documents: Collection[ToolId]) -> ResolvedRequests:
    """Resolve the labels of requests to documents: ids as they are, an API's key to every copy of the API."""
    copies: dict[ApiName, set[ToolId]] = {}
    label_list = list(labelled)
    if any(isinstance(label, tuple) for one in label_list for label in one.relevant):
        for tool in documents:
            copies.setdefault(get_api_name(tool), set()).add(tool)
    known_ids, unknown, requests = frozenset(documents), dict[str, int](), list[ResolvedRequest]()
    for one in label_list:
        needed: list[NeededTool] = []
        for label in one.relevant:
            ids = frozenset(copies.get(label, ())) if isinstance(label, tuple) else known_ids & {label}
            name = "/".join(label) if isinstance(label, tuple) else label
            if not ids:
                unknown[name] = unknown.get(name, 0) + 1
            needed.append(NeededTool(name, ids))
        requests.append(ResolvedRequest(one.id, one.query, one.group, tuple(needed)))
    return ResolvedRequests(tuple(requests), unknown)


@dataclass(frozen=True, slots=True)
class OfferMeasurement:
    """One offer for a request, compared with the tools that it needs."""

    request: ResolvedRequest
    places: tuple[int | None, ...]
    """For each needed tool the position, from 0, of the first offered tool that counts as it; None: not offered."""
    exact: tuple[int | None, ...]
    """For each needed tool the position of the tool itself; None: not offered."""
    tokens: int
    """Tokens of the signatures of the first :data:`COUNTED_SIGNATURES` tools."""
    seconds: float | None = None
    """Wall time of making the offer; None if the request had already been embedded for another way."""

    def compute_recall(self, size: int, *, exact: bool = False) -> float:
        """Return the share of the needed tools among the first ``size``."""
        places = self.exact if exact else self.places
        return sum(place is not None and place < size for place in places) / len(places)


async def measure_all(
    requests: Iterable[ResolvedRequest],
    ways: Sequence[tuple[OfferProvider, list[OfferMeasurement]]],
    tokens: TokenCounter,
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
        measurements = {
            at: await _measure_offer(request, ways[at][0], tokens, timed=at == first)
            for at in _order_ways(first, len(ways))
        }
        for at, (_, into) in enumerate(ways):
            into.append(measurements[at])


def _order_ways(first: int, count: int) -> list[int]:
    return [(first + step) % count for step in range(count)]


async def _measure_offer(
    request: ResolvedRequest, offers: OfferProvider, tokens: TokenCounter, *, timed: bool
) -> OfferMeasurement:
    """Measure one offer of the largest size; smaller offers are its beginning."""
    began = time.perf_counter()
    offered = await offers(request.query, max(SIZES))
    seconds = time.perf_counter() - began
    return OfferMeasurement(
        request,
        tuple(_find_place(one.matches_copy, offered) for one in request.needed),
        tuple(_find_place(one.matches_id, offered) for one in request.needed),
        await tokens([one.id for one in offered[:COUNTED_SIGNATURES]]),
        seconds if timed else None,
    )


def _find_place(counts: Callable[[OfferedEntry], bool], offered: Sequence[OfferedEntry]) -> int | None:
    return next((place for place, one in enumerate(offered) if counts(one)), None)
