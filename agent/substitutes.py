"""Tools that do the same as one whose call has failed, or that give what it gave, from the links of the graph where it keeps any."""

import logging
from collections.abc import Awaitable, Collection, Sequence
from typing import Protocol, TypeVar

from domain.errors import FootpathError, StoreUnreachableError
from domain.tool import ToolId

MOST = 3
SOURCES = 20
"""Tools that may give what a failed one gave, of which most want what is not there."""

_log = logging.getLogger(__name__)
Link = TypeVar("Link")


class Substitute(Protocol):
    """``other`` can do the job of a tool; ``score`` in [0, 1]."""

    @property
    def other(self) -> ToolId: ...

    @property
    def score(self) -> float: ...


class Source(Protocol):
    """A response of ``source`` can fill ``parameter`` of a tool; ``score`` in [0, 1]."""

    @property
    def source(self) -> ToolId: ...

    @property
    def parameter(self) -> str: ...

    @property
    def score(self) -> float: ...


class SubstituteReads(Protocol):
    """The part of a link store that a run reads."""

    async def feeds_into(self, tool: ToolId) -> Sequence[Source]:
        """What can fill a tool's parameters, best first."""
        ...

    async def substitutes(self, tool: ToolId) -> Sequence[Substitute]:
        """What can stand in for a tool, best first."""
        ...


async def stand_ins(links: SubstituteReads | None, tool: ToolId | None) -> list[ToolId]:
    """The best substitutes of a tool; none where the links cannot be read, which is no reason to end a run."""
    if links is None or tool is None:
        return []
    found = await _read(links.substitutes(tool), f"the substitutes of {tool}")
    return [one.other for one in found[:MOST]]


async def sources(links: SubstituteReads | None, tool: ToolId, parameters: Collection[str]) -> list[ToolId]:
    """What can fill one of these parameters of a tool, best first; none where the links cannot be read."""
    if links is None:
        return []
    found = await _read(links.feeds_into(tool), f"what feeds {tool}")
    return list(dict.fromkeys(one.source for one in found if one.parameter in parameters))[:SOURCES]


async def _read(links: Awaitable[Sequence[Link]], what: str) -> Sequence[Link]:
    try:
        return await links
    except StoreUnreachableError:
        raise  # the links are where the graph is: a run cannot go on without
    except FootpathError as error:
        _log.warning("%s cannot be read: %s", what, error)
        return []
