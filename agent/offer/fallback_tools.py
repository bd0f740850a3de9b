"""Stand-ins for failing tools where no link of the graph names one: the likeliest tool of the same shape.

A tool that does the same takes the same values: as many, of the same types. Words do not reveal it, or the retriever
would have found both alike, and one of the two fails. So the tool of that shape that fits the request best is as good
a choice as the other was.
"""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

from agent.offer.candidates import Candidate
from agent.offer.tool_evidence import ToolEvidence
from domain.tool import ToolDoc, ToolId, split_tool_id

LIFTED_SHARE = 0.95
"""Share of the failing tool's relevance that its stand-in gets at least."""

_LEAST_SHARE = 0.5
"""Share of the failing tool's relevance that a tool must have by itself to stand in for it."""


def has_same_shape(first: ToolDoc, second: ToolDoc) -> bool:
    """Return whether two safe tools of one category require values, and of the same types."""
    alike = split_tool_id(first.id)[0] == split_tool_id(second.id)[0] and first.safe and second.safe
    return alike and bool(first.required) and _list_types(first) == _list_types(second)


def _list_types(tool: ToolDoc) -> list[tuple[str, str]]:
    """Return the types and formats of the required parameters, sorted."""
    return sorted((one.type, one.format or "") for one in tool.required)


def mark_stand_ins(
    candidates: Iterable[Candidate], failed: Iterable[ToolId], evidence: ToolEvidence
) -> tuple[Candidate, ...]:
    """Return the candidates, with the stand-ins for the ``failed`` tools marked.

    A stand-in becomes about as relevant as the tool that it replaces.
    """
    all_candidates = tuple(candidates)
    stand_in_relevance: dict[ToolId, tuple[float, ...]] = {}
    for tool in failed:
        chosen = _select_stand_in(tool, all_candidates, evidence)
        if chosen is not None:
            stand_in_relevance[chosen] = evidence.relevance(tool)
    return tuple(_lift_candidate(candidate, stand_in_relevance) for candidate in all_candidates)


def _select_stand_in(failed: ToolId, candidates: tuple[Candidate, ...], evidence: ToolEvidence) -> ToolId | None:
    """Return the working tool of the same shape that fits best, if one is at least half as relevant."""
    doc = evidence.doc(failed)
    able = [c for c in candidates if c.tool.id != failed and not c.missing and not evidence.is_failing(c.tool.id)]
    least = _LEAST_SHARE * max(evidence.relevance(failed), default=0.0)
    likely = [c for c in able if has_same_shape(doc, c.tool) and max(c.relevance, default=0.0) >= least]
    best = max(likely, key=lambda c: (max(c.relevance, default=0.0), c.weight), default=None)
    return best.tool.id if best is not None else None


def _lift_candidate(candidate: Candidate, stand_in_relevance: Mapping[ToolId, tuple[float, ...]]) -> Candidate:
    """Return a candidate marked and made more relevant if it stands in for a failing tool."""
    if candidate.tool.id not in stand_in_relevance:
        return candidate
    pairs = zip(candidate.relevance, stand_in_relevance[candidate.tool.id], strict=True)
    return replace(candidate, relevance=tuple(max(own, LIFTED_SHARE * other) for own, other in pairs), standing_in=True)


MAX_SUBSTITUTES = 3
"""Substitutes of one tool."""
MAX_SOURCES = 20
"""Tools that may give what a failed one gave; most of them need inputs that are missing."""


async def find_stand_ins(evidence: ToolEvidence, tool: ToolId | None) -> list[ToolId]:
    """Return the best substitutes of a tool."""
    neighbourhood = await evidence.around(tool) if tool is not None else None
    return [one.other for one in neighbourhood.substitutes[:MAX_SUBSTITUTES]] if neighbourhood else []


async def find_sources(evidence: ToolEvidence, tool: ToolId, parameters: Collection[str]) -> list[ToolId]:
    """Return the tools that can fill one of these parameters of a tool, best first."""
    neighbourhood = await evidence.around(tool)
    feeds = neighbourhood.feeds if neighbourhood else ()
    return list(dict.fromkeys(one.source for one in feeds if one.parameter in parameters))[:MAX_SOURCES]
