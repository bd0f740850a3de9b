"""Seventh check: whether sample requests find a tool among the first, and which tools it would displace."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from admission.findings import UNNAMED, failed, passed, skipped, warned
from domain.model import JsonObject
from domain.source import Finding
from domain.tool import ToolDoc, ToolId
from retriever.search import ToolHit

FIRST = 5
"""The tool should be among so many first results."""
_ENOUGH = 0.5
_TOLD = 5


class Finds(Protocol):
    """Search over the tools of a store."""

    async def start_tools_of(self, requests: Sequence[str], limit: int) -> list[list[ToolHit]]:
        """Return the best tools of each request, best first."""
        ...


@dataclass(frozen=True, slots=True)
class Served:
    """Request that these tools have served."""

    request: str
    tools: tuple[ToolId, ...]
    told: bool = True
    """Its words may be shown: requests shared by everybody may, those of one user may not."""


@dataclass(frozen=True, slots=True)
class WhatIf:
    """A store's search as it is, and as it would be with additional tools."""

    before: Finds
    after: Finds
    served: Callable[[str], Awaitable[Sequence[Served]]]
    """Returns the served requests that are most like the given one."""
    hidden: frozenset[ToolId] = frozenset()
    """Tools whose names are not shown."""

    def named(self, tool: ToolId) -> str:
        """Return the name of a tool in findings."""
        return UNNAMED if tool in self.hidden else tool


WithTools = Callable[[Sequence[ToolDoc]], Awaitable[WhatIf]]


async def findable(
    requests: Mapping[ToolId, tuple[str, ...]], given: frozenset[ToolId], what_if: WhatIf
) -> dict[ToolId, Finding]:
    """Return a finding for each tool.

    The second argument names the tools whose requests people gave; the requests of the others were generated from their documents.
    """
    asked = list(dict.fromkeys(request for some in requests.values() for request in some))
    hits = dict(zip(asked, await what_if.after.start_tools_of(asked, FIRST), strict=True)) if asked else {}
    pushed = await _pushed_out(asked, set(requests), what_if)
    found: dict[ToolId, Finding] = {}
    for tool, some in requests.items():
        if not some:
            found[tool] = skipped(
                "findable", "nothing is known that people would ask it for", "give requests, as people would word them"
            )
            continue
        ranks = {request: _rank(tool, hits[request]) for request in some}
        named = [(one, what_if.named(other)) for one, other in pushed.get(tool, [])]
        found[tool] = _finding(ranks, named, given=tool in given)
    return found


def _rank(tool: ToolId, hits: Sequence[ToolHit]) -> int | None:
    """Return the rank of a tool, from 1. A similar tool of the same tool set that represents it counts as well."""
    return next((place for place, hit in enumerate(hits, start=1) if tool == hit.id or tool in hit.alike), None)


def _finding(ranks: Mapping[str, int | None], pushed: Sequence[tuple[Served, str]], *, given: bool) -> Finding:
    good = sum(rank is not None for rank in ranks.values())
    by = "given" if given else "made from its document"
    told = f"{good} of {len(ranks)} requests ({by}) find it among the first {FIRST}"
    evidence: JsonObject = {
        "ranks": dict(ranks),
        "given": given,
        "pushed_out": [{"tool": tool, "request": one.request if one.told else ""} for one, tool in pushed[:20]],
    }
    missed = [request for request, rank in ranks.items() if rank is None][:_TOLD]
    if good < _ENOUGH * len(ranks):
        advice = "say in its description what people ask it for, in their words: " + "; ".join(
            f"“{one}”" for one in missed
        )
        if not given:
            advice += "; where nobody would ask so, check it with requests of your own"
        return failed("findable", told, advice, **evidence)
    if pushed:
        names = ", ".join(dict.fromkeys(tool for _, tool in pushed[:_TOLD]))
        advice = "say in its description what it is not for, or which of the two people should get"
        return warned("findable", f"{told}; it would push out {names}, which served such requests", advice, **evidence)
    return passed("findable", told, **evidence)


async def _pushed_out(
    asked: Sequence[str], new: set[ToolId], what_if: WhatIf
) -> dict[ToolId, list[tuple[Served, ToolId]]]:
    """Return, for each new tool, the served tools that it would displace from the first results of requests they served."""
    served: dict[str, Served] = {}
    for request in asked:
        for one in await what_if.served(request):
            served.setdefault(one.request, one)
    if not served:
        return {}
    before = await what_if.before.start_tools_of(list(served), FIRST)
    after = await what_if.after.start_tools_of(list(served), FIRST)
    found: dict[ToolId, list[tuple[Served, ToolId]]] = {}
    for one, old, now in zip(served.values(), before, after, strict=True):
        was, is_ = ({hit.id for hit in hits} for hits in (old, now))
        for tool in (set(one.tools) & was) - is_ - new:
            for newcomer in sorted((is_ - was) & new):
                found.setdefault(newcomer, []).append((one, tool))
    return found
