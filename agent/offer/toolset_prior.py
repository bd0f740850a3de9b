"""Prior of tools from their tool sets, where past paths used few of the tools found.

It combines coverage, names, past use and memories.

Past paths stay in one tool set (nine of ten transitions of the trajectories do). So in a catalogue larger than what
was ever used, the tool set counts as much as the tool in it.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence

from agent.memory.long_term import compute_trust
from agent.offer.candidate_pool import CandidatePool
from agent.offer.candidates import ToolsetPrior
from agent.offer.tool_evidence import ToolEvidence
from domain.tool import ToolId, split_tool_id

MIN_UNEXPLORED_SHARE = 0.5
"""Share of tools found without an edge from which the prior is used at all."""

MIN_FOUND = 10
"""Number of tools that must be found: among few, their documents decide."""

_FULLY_WALKED = 16
"""Paths through a tool from which it counts as fully used; on a logarithmic scale, since a few say most."""
_SHARPNESS = 6
"""Power of the similarity by which a memory votes, so that the most similar ones count much more."""

_WORD = re.compile(r"[a-z0-9]+")
_STOP_WORDS = frozenset({"api", "the", "a", "of", "for", "and", "to", "in", "by", "get", "data", "free", "all", "search", "v1", "v2", "v3"})  # fmt: skip


async def compute_toolset_priors(
    request: str, pool: CandidatePool, evidence: ToolEvidence
) -> dict[ToolId, ToolsetPrior]:
    """Return the prior of each tool that was found or is remembered.

    It is empty if few tools were found, if past paths went through most of them, or if none of them was ever used.
    """
    found_tools = [tool for tool in pool.found if evidence.has(tool)]
    if len(found_tools) < MIN_FOUND:
        return {}
    walked = {tool: await _measure_walks(tool, evidence) for tool in found_tools}
    if sum(share > 0 for share in walked.values()) > (1 - MIN_UNEXPLORED_SHARE) * len(found_tools):
        return {}
    remembered = _count_memory_votes(evidence)
    walked |= {tool: await _measure_walks(tool, evidence) for tool in remembered}
    if not any(walked.values()):  # no path has taught anything here: documents tell more
        return {}
    set_walked: dict[tuple[str, str], float] = {}
    for tool, share in walked.items():
        set_walked[get_toolset(tool)] = max(share, set_walked.get(get_toolset(tool), 0.0))
    coverage, request_words, best = (
        _measure_coverage(found_tools, evidence),
        _collect_request_words(request),
        max(pool.found[tool] for tool in found_tools),
    )
    return {
        tool: ToolsetPrior(
            found=pool.found.get(tool, 0.0),
            behind=best - pool.found.get(tool, 0.0),
            covers=coverage.get(get_toolset(tool), 0.0),
            set_named=_match_name(split_tool_id(tool)[1], request_words),
            named=_match_name(split_tool_id(tool)[2], request_words),
            walked=share,
            set_walked=set_walked[get_toolset(tool)],
            remembered=remembered.get(tool, 0.0),
        )
        for tool, share in walked.items()
    }


async def _measure_walks(tool: ToolId, evidence: ToolEvidence) -> float:
    """Return how often past paths went through a tool, in [0, 1].

    Each path left the tool by an edge, the last step by the edge to Finish, so out-edges count all of them.
    """
    times = sum(way.edge.imported + way.edge.live for way in await evidence.neighbours(tool))
    return min(1.0, math.log1p(times) / math.log(_FULLY_WALKED))


def _count_memory_votes(evidence: ToolEvidence) -> dict[ToolId, float]:
    """Return the votes of memories of similar requests, by similarity and by how their paths have fared since."""
    votes: dict[ToolId, float] = {}
    for recalled in evidence.recalled:
        for tool in set(recalled.memory.path):
            vote = compute_trust(recalled.memory) * max(0.0, recalled.similarity) ** _SHARPNESS
            votes[tool] = min(1.0, votes.get(tool, 0.0) + vote)
    return votes


def get_toolset(tool: ToolId) -> tuple[str, str]:
    """Return the category and tool set of a tool."""
    category, toolset, _ = split_tool_id(tool)
    return category, toolset


def select_related_tools(
    priors: Mapping[ToolId, ToolsetPrior], path: Sequence[ToolId], closed: Iterable[ToolId]
) -> list[ToolId]:
    """Return the tools to offer for their prior, best first: two of the path's own tool sets and two of others."""
    open_tools = [tool for tool in priors if tool not in set(closed)]
    best = sorted(open_tools, key=lambda tool: (-compute_log_odds(priors[tool]), tool))
    own = {get_toolset(tool) for tool in path}
    inside = [tool for tool in best if get_toolset(tool) in own]
    outside = [tool for tool in best if get_toolset(tool) not in own]
    return [*inside[:2], *outside[:2]]


def _measure_coverage(found_tools: Sequence[ToolId], evidence: ToolEvidence) -> dict[tuple[str, str], float]:
    """Return how much of the request the found tools of each tool set cover together.

    That is their best relevance per clause, summed, as a share of the sum of the best there is.
    """
    best = [0.0] * len(evidence.clauses)
    sets: dict[tuple[str, str], list[float]] = {}
    for tool in found_tools:
        relevance = evidence.relevance(tool)
        own = sets.setdefault(get_toolset(tool), [0.0] * len(best))
        for i, value in enumerate(relevance):
            own[i], best[i] = max(own[i], value), max(best[i], value)
    return {toolset: sum(values) / (sum(best) or 1.0) for toolset, values in sets.items()}


def _collect_request_words(request: str) -> frozenset[str]:
    """Return the request's words, each in singular and plural."""
    words = _WORD.findall(request.lower())
    return frozenset([*words, *(f"{word}s" for word in words), *(word.removesuffix("s") for word in words)])


def _match_name(name: str, request_words: frozenset[str]) -> float:
    """Return the share of a name's distinctive words that the request has."""
    words = [word for word in _WORD.findall(name.lower()) if word not in _STOP_WORDS]
    return sum(word in request_words for word in words) / len(words) if words else 0.0


_INTERCEPT = -4.24
_SCORE_WEIGHT = 3.9
"""Weight of a retriever's score of 1; below ``_INFORMATIVE_SCORE`` a score says nothing but its order."""
_GAP_WEIGHT = -2.0
_COVERAGE_WEIGHT = 0.94
_SET_NAME_WEIGHT = 0.67
_NAME_WEIGHT = 0.94
_MEMORY_WEIGHT = 4.4
_WALK_WEIGHT = 1.7
_SET_WALK_WEIGHT = 1.3

_INFORMATIVE_SCORE = 0.7
"""Retriever's score from which it is informative."""
_MAX_GAP = 0.3
"""Distance to the best score beyond which a larger one makes no difference."""


def compute_log_odds(prior: ToolsetPrior) -> float:
    """Return the log-odds that a tool is the right one; 0 means as likely as not."""
    return (
        _INTERCEPT
        + _SCORE_WEIGHT * max(0.0, prior.found - _INFORMATIVE_SCORE) / (1 - _INFORMATIVE_SCORE)
        + _GAP_WEIGHT * min(_MAX_GAP, prior.behind) / _MAX_GAP
        + _COVERAGE_WEIGHT * prior.covers
        + _SET_NAME_WEIGHT * prior.set_named
        + _NAME_WEIGHT * prior.named
        + _MEMORY_WEIGHT * prior.remembered
        + _WALK_WEIGHT * prior.walked
        + _SET_WALK_WEIGHT * prior.set_walked
    )
