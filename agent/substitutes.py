"""Tools that do the same as one whose call has failed, from the links of the graph where it keeps any."""

import logging
from collections.abc import Sequence
from typing import Protocol

from domain.errors import FootpathError
from domain.tool import ToolId

MOST = 3
_log = logging.getLogger(__name__)


class Substitute(Protocol):
    """``other`` can do the job of a tool; ``score`` in [0, 1]."""

    @property
    def other(self) -> ToolId: ...

    @property
    def score(self) -> float: ...


class SubstituteReads(Protocol):
    """The part of a link store that a run reads."""

    async def substitutes(self, tool: ToolId) -> Sequence[Substitute]:
        """What can stand in for a tool, best first."""
        ...


async def stand_ins(links: SubstituteReads | None, tool: ToolId | None) -> list[ToolId]:
    """The best substitutes of a tool; none where the links cannot be read, which is no reason to end a run."""
    if links is None or tool is None:
        return []
    try:
        found = await links.substitutes(tool)
    except FootpathError as error:
        _log.warning("the substitutes of %s cannot be read: %s", tool, error)
        return []
    return [one.other for one in found[:MOST]]
