"""Seventh check: whether sample requests find a tool among the first, and which tools it would displace."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from admission.findings import HIDDEN_TOOL, report_failure, report_pass, report_skip, report_warning
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from domain.tool_source import Finding
from retriever.search import ToolHit

TOP_K = 5
"""The tool should be among so many first results."""
_MIN_SHARE = 0.5
_MAX_SHOWN = 5


class StartToolSearch(Protocol):
    """Search over the tools of a store."""

    async def find_tools_for_all(self, requests: Sequence[str], limit: int) -> list[list[ToolHit]]:
        """Return the best tools of each request, best first."""
        ...


@dataclass(frozen=True, slots=True)
class ServedRequest:
    """Request that these tools have served."""

    request: str
    tools: tuple[ToolId, ...]
    may_be_shown: bool = True
    """Its words may be shown: requests shared by everybody may, those of one user may not."""


@dataclass(frozen=True, slots=True)
class SearchComparison:
    """A store's search as it is, and as it would be with additional tools."""

    before: StartToolSearch
    after: StartToolSearch
    find_served: Callable[[str], Awaitable[Sequence[ServedRequest]]]
    """Returns the served requests that are most like the given one."""
    hidden: frozenset[ToolId] = frozenset()
    """Tools whose names are not shown."""

    def get_display_name(self, tool: ToolId) -> str:
        """Return the name of a tool in findings."""
        return HIDDEN_TOOL if tool in self.hidden else tool


SearchWithTools = Callable[[Sequence[ToolDoc]], Awaitable[SearchComparison]]


async def check_findability(
    requests: Mapping[ToolId, tuple[str, ...]], given_tools: frozenset[ToolId], comparison: SearchComparison
) -> dict[ToolId, Finding]:
    """Return a finding for each tool.

    ``given_tools``: tools whose requests people wrote; those of the others were generated from their documents.
    """
    all_requests = list(dict.fromkeys(request for tool_requests in requests.values() for request in tool_requests))
    hits = (
        dict(zip(all_requests, await comparison.after.find_tools_for_all(all_requests, TOP_K), strict=True))
        if all_requests
        else {}
    )
    displaced = await _find_displaced(all_requests, set(requests), comparison)
    findings: dict[ToolId, Finding] = {}
    for tool, tool_requests in requests.items():
        if not tool_requests:
            findings[tool] = report_skip(
                "findable", "nothing is known that people would ask it for", "give requests, as people would word them"
            )
            continue
        ranks = {request: _find_rank(tool, hits[request]) for request in tool_requests}
        displaced_names = [
            (served_request, comparison.get_display_name(other)) for served_request, other in displaced.get(tool, [])
        ]
        findings[tool] = _build_finding(ranks, displaced_names, requests_given=tool in given_tools)
    return findings


def _find_rank(tool: ToolId, hits: Sequence[ToolHit]) -> int | None:
    """Return the rank of a tool, from 1. A similar tool of the same tool set that represents it counts as well."""
    return next((rank for rank, hit in enumerate(hits, start=1) if tool == hit.id or tool in hit.alike), None)


def _build_finding(
    ranks: Mapping[str, int | None], displaced: Sequence[tuple[ServedRequest, str]], *, requests_given: bool
) -> Finding:
    good = sum(rank is not None for rank in ranks.values())
    origin = "given" if requests_given else "made from its document"
    message = f"{good} of {len(ranks)} requests ({origin}) find it among the first {TOP_K}"
    evidence: JsonObject = {
        "ranks": dict(ranks),
        "given": requests_given,
        "pushed_out": [
            {"tool": tool, "request": one.request if one.may_be_shown else ""} for one, tool in displaced[:20]
        ],
    }
    missed = [request for request, rank in ranks.items() if rank is None][:_MAX_SHOWN]
    if good < _MIN_SHARE * len(ranks):
        advice = "say in its description what people ask it for, in their words: " + "; ".join(
            f"“{one}”" for one in missed
        )
        if not requests_given:
            advice += "; where nobody would ask so, check it with requests of your own"
        return report_failure("findable", message, advice, **evidence)
    if displaced:
        names = ", ".join(dict.fromkeys(tool for _, tool in displaced[:_MAX_SHOWN]))
        advice = "say in its description what it is not for, or which of the two people should get"
        return report_warning(
            "findable", f"{message}; it would push out {names}, which served such requests", advice, **evidence
        )
    return report_pass("findable", message, **evidence)


async def _find_displaced(
    requests: Sequence[str], new: set[ToolId], comparison: SearchComparison
) -> dict[ToolId, list[tuple[ServedRequest, ToolId]]]:
    """Return, for each new tool, the served tools that it would displace from the first results of requests they served."""
    served: dict[str, ServedRequest] = {}
    for request in requests:
        for served_request in await comparison.find_served(request):
            served.setdefault(served_request.request, served_request)
    if not served:
        return {}
    before = await comparison.before.find_tools_for_all(list(served), TOP_K)
    after = await comparison.after.find_tools_for_all(list(served), TOP_K)
    displaced: dict[ToolId, list[tuple[ServedRequest, ToolId]]] = {}
    for served_request, old, now in zip(served.values(), before, after, strict=True):
        ids_before, ids_after = ({hit.id for hit in hits} for hits in (old, now))
        for tool in (set(served_request.tools) & ids_before) - ids_after - new:
            for newcomer in sorted((ids_after - ids_before) & new):
                displaced.setdefault(newcomer, []).append((served_request, tool))
    return displaced
