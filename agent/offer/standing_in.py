"""Stand-ins for failing tools where no link of the graph names one: the likeliest tool of the same shape.

A tool that does the same takes the same values: as many, of the same types. Words do not reveal it, or the retriever
would have found both alike, and one of the two fails. So the tool of that shape that fits the request best is as good
a choice as the other was.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace

from agent.offer.candidates import Candidate
from agent.offer.tool_facts import Evidence
from domain.tool import ToolDoc, ToolId, tool_id_parts

NEARLY = 0.95
"""Share of the failing tool's relevance that its stand-in gets at least."""

_LIKELY = 0.5
"""Share of the failing tool's relevance that a tool must have by itself to stand in for it."""


def same_shape(one: ToolDoc, other: ToolDoc) -> bool:
    """Return whether two safe tools of one category require values, and of the same types."""
    alike = tool_id_parts(one.id)[0] == tool_id_parts(other.id)[0] and one.safe and other.safe
    return alike and bool(one.required) and _types(one) == _types(other)


def _types(tool: ToolDoc) -> list[tuple[str, str]]:
    """Return the types and formats of the required parameters, sorted."""
    return sorted((one.type, one.format or "") for one in tool.required)


def standing_in(candidates: Iterable[Candidate], failed: Iterable[ToolId], evidence: Evidence) -> tuple[Candidate, ...]:
    """Return the candidates, with the stand-ins for the ``failed`` tools marked.

    A stand-in becomes about as relevant as the tool that it replaces.
    """
    known = tuple(candidates)
    found: dict[ToolId, tuple[float, ...]] = {}
    for tool in failed:
        chosen = _instead_of(tool, known, evidence)
        if chosen is not None:
            found[chosen] = evidence.relevance(tool)
    return tuple(_lifted(candidate, found) for candidate in known)


def _instead_of(failed: ToolId, candidates: tuple[Candidate, ...], evidence: Evidence) -> ToolId | None:
    """Return the working tool of the same shape that fits best, if one is at least half as relevant."""
    doc = evidence.doc(failed)
    able = [c for c in candidates if c.tool.id != failed and not c.missing and not evidence.failing(c.tool.id)]
    least = _LIKELY * max(evidence.relevance(failed), default=0.0)
    likely = [c for c in able if same_shape(doc, c.tool) and max(c.relevance, default=0.0) >= least]
    best = max(likely, key=lambda c: (max(c.relevance, default=0.0), c.weight), default=None)
    return best.tool.id if best is not None else None


def _lifted(candidate: Candidate, found: Mapping[ToolId, tuple[float, ...]]) -> Candidate:
    """Return a candidate marked and made more relevant if it stands in for a failing tool."""
    if candidate.tool.id not in found:
        return candidate
    pairs = zip(candidate.relevance, found[candidate.tool.id], strict=True)
    return replace(candidate, relevance=tuple(max(own, NEARLY * other) for own, other in pairs), standing_in=True)
