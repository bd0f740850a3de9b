"""Prior of tools from their tool sets, where past paths used few of the tools found.

It combines coverage, names, past use and memories.

Past paths stay in one tool set (nine of ten transitions of the trajectories do). So in a catalogue larger than what
was ever used, the tool set counts as much as the tool in it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from agent.memory.long_term import standing
from agent.offer.candidate_pool import Pool
from agent.offer.candidates import Kin
from agent.offer.tool_facts import Evidence
from domain.tool import ToolId, tool_id_parts

UNEXPLORED = 0.5
"""Share of tools found without an edge from which the prior is used at all."""

MANY = 10
"""Number of tools that must be found: among few, their documents decide."""

_OFTEN = 16
"""Paths through a tool from which it counts as fully used; on a logarithmic scale, since a few say most."""
_SHARPNESS = 6
"""Power of the similarity by which a memory votes, so that the most similar ones count much more."""

_WORD = re.compile(r"[a-z0-9]+")
_EMPTY = frozenset({"api", "the", "a", "of", "for", "and", "to", "in", "by", "get", "data", "free", "all", "search", "v1", "v2", "v3"})  # fmt: skip


async def kinship(request: str, pool: Pool, evidence: Evidence) -> dict[ToolId, Kin]:
    """Return the prior of each tool that was found or is remembered.

    It is empty if few tools were found, if past paths went through most of them, or if none of them was ever used.
    """
    found = [tool for tool in pool.found if evidence.has(tool)]
    if len(found) < MANY:
        return {}
    walked = {tool: await _walked(tool, evidence) for tool in found}
    if sum(share > 0 for share in walked.values()) > (1 - UNEXPLORED) * len(found):
        return {}
    remembered = _remembered(evidence)
    walked |= {tool: await _walked(tool, evidence) for tool in remembered}
    if not any(walked.values()):  # no path has taught anything here: documents tell more
        return {}
    set_walked: dict[tuple[str, str], float] = {}
    for tool, share in walked.items():
        set_walked[toolset_of(tool)] = max(share, set_walked.get(toolset_of(tool), 0.0))
    covered, said, best = _covered(found, evidence), _said(request), max(pool.found[tool] for tool in found)
    return {
        tool: Kin(
            found=pool.found.get(tool, 0.0),
            behind=best - pool.found.get(tool, 0.0),
            covers=covered.get(toolset_of(tool), 0.0),
            set_named=_named(tool_id_parts(tool)[1], said),
            named=_named(tool_id_parts(tool)[2], said),
            walked=share,
            set_walked=set_walked[toolset_of(tool)],
            remembered=remembered.get(tool, 0.0),
        )
        for tool, share in walked.items()
    }


async def _walked(tool: ToolId, evidence: Evidence) -> float:
    """Return how often past paths went through a tool, in [0, 1].

    Each path left the tool by an edge, the last step by the edge to Finish, so out-edges count all of them.
    """
    times = sum(way.edge.imported + way.edge.live for way in await evidence.neighbours(tool))
    return min(1.0, math.log1p(times) / math.log(_OFTEN))


def _remembered(evidence: Evidence) -> dict[ToolId, float]:
    """Return the votes of memories of similar requests, by similarity and by how their paths have fared since."""
    votes: dict[ToolId, float] = {}
    for one in evidence.recalled:
        for tool in set(one.memory.path):
            vote = standing(one.memory) * max(0.0, one.similarity) ** _SHARPNESS
            votes[tool] = min(1.0, votes.get(tool, 0.0) + vote)
    return votes


def toolset_of(tool: ToolId) -> tuple[str, str]:
    """Return the category and tool set of a tool."""
    category, toolset, _ = tool_id_parts(tool)
    return category, toolset


def relatives(kin: Mapping[ToolId, Kin], path: Sequence[ToolId], closed: Iterable[ToolId]) -> list[ToolId]:
    """Return the tools to offer for their prior, best first: two of the path's own tool sets and two of others."""
    left = [tool for tool in kin if tool not in set(closed)]
    best = sorted(left, key=lambda tool: (-log_odds(kin[tool]), tool))
    own = {toolset_of(tool) for tool in path}
    inside = [tool for tool in best if toolset_of(tool) in own]
    outside = [tool for tool in best if toolset_of(tool) not in own]
    return [*inside[:2], *outside[:2]]


def _covered(found: Sequence[ToolId], evidence: Evidence) -> dict[tuple[str, str], float]:
    """Return how much of the request the found tools of each tool set cover together.

    That is their best relevance per clause, summed, as a share of the sum of the best there is.
    """
    best = [0.0] * len(evidence.clauses)
    sets: dict[tuple[str, str], list[float]] = {}
    for tool in found:
        relevance = evidence.relevance(tool)
        own = sets.setdefault(toolset_of(tool), [0.0] * len(best))
        for i, value in enumerate(relevance):
            own[i], best[i] = max(own[i], value), max(best[i], value)
    return {toolset: sum(values) / (sum(best) or 1.0) for toolset, values in sets.items()}


def _said(request: str) -> frozenset[str]:
    """Return the request's words, each in singular and plural."""
    words = _WORD.findall(request.lower())
    return frozenset([*words, *(f"{word}s" for word in words), *(word.removesuffix("s") for word in words)])


def _named(name: str, said: frozenset[str]) -> float:
    """Return the share of a name's distinctive words that the request has."""
    words = [word for word in _WORD.findall(name.lower()) if word not in _EMPTY]
    return sum(word in said for word in words) / len(words) if words else 0.0


_CONSTANT = -4.24
_HIGH = 3.9
"""Weight of a retriever's score of 1; below ``_TELLING`` a score says nothing but its order."""
_BEHIND = -2.0
_COVERS = 0.94
_SET_NAMED = 0.67
_NAMED = 0.94
_REMEMBERED = 4.4
_WALKED = 1.7
_SET_WALKED = 1.3

_TELLING = 0.7
"""Retriever's score from which it is informative."""
_FAR = 0.3
"""Distance to the best score beyond which a larger one makes no difference."""


def log_odds(kin: Kin) -> float:
    """Return the log-odds that a tool is the right one; 0 means as likely as not."""
    return (
        _CONSTANT
        + _HIGH * max(0.0, kin.found - _TELLING) / (1 - _TELLING)
        + _BEHIND * min(_FAR, kin.behind) / _FAR
        + _COVERS * kin.covers
        + _SET_NAMED * kin.set_named
        + _NAMED * kin.named
        + _REMEMBERED * kin.remembered
        + _WALKED * kin.walked
        + _SET_WALKED * kin.set_walked
    )
