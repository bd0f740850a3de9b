"""The offline policy's move where paths went through few tools: the best tool set first, then the tools in it.

The figures are the best of a grid on the trajectories' own requests, whose memories and paths were left out (docs/benchmarks.md).
"""

from collections.abc import Callable, Mapping

from agent.candidate import Candidate, Kin
from agent.changing import may_call
from agent.kinship import toolset_of
from agent.policy import Choice, Situation
from domain.tool import ToolDoc, ToolId

Missing = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]

_COVERS = 0.3
"""What a tool set that covers all of the request is worth, against a retriever's score of 1."""
_NAMED = 0.06
_REMEMBERED = 0.5
_WALKED = 0.2
_SHARPNESS = 12
"""As where memories vote: a vote is similarity to this power."""

_ENOUGH = 0.75
"""Share of the request from which the first tool's set is held to serve all of it."""
_NEAR = 0.05
"""How much better a tool of another set has to be, where the first's covers less."""
_AS_GOOD = 0.8
"""A third tool has to reach this share of the first's worth."""
_USUAL = 2
"""Tools of a path: the median of the trajectories."""


def kindred(situation: Situation, missing: Missing) -> Choice | None:
    """The move; None where kinship is not told, since past calls tell more."""
    kin = situation.kin
    if not kin:
        return None
    votes = _votes(situation)
    usable = [
        (at, candidate)
        for at, candidate in enumerate(situation.candidates)
        if may_call(candidate.tool, situation.request) and not missing(candidate.tool, situation.path)
    ]
    worth = {at: _worth(candidate, kin, votes) for at, candidate in usable}
    if not situation.path:
        first = max(
            usable, key=lambda one: (worth[one[0]] + _of_set(one[1].tool.id, kin), one[1].tool.id), default=None
        )
        return _advance(first, "its tool set covers the most of the request", kin) if first else None
    return _further(situation, kin, usable, worth)


def _further(
    situation: Situation, kin: Mapping[ToolId, Kin], usable: list[tuple[int, Candidate]], worth: dict[int, float]
) -> Choice:
    """A second tool, a third where it is nearly as good as the first was, or the end."""
    start = situation.path[0].id
    inside = [one for one in usable if toolset_of(one[1].tool.id) == toolset_of(start)]
    outside = [one for one in usable if one not in inside]
    best, other = _best(inside, worth), _best(outside, worth)
    near = best is not None and (other is None or worth[other[0]] - worth[best[0]] < _NEAR)
    cohesive = best is not None and (near or kin.get(start, _NONE).covers >= _ENOUGH)
    taken = best if cohesive else other
    if len(situation.path) < _USUAL and taken is not None:
        return _advance(taken, "goes with the first step" if cohesive else "serves what the first step does not", kin)
    good = _AS_GOOD * kin.get(start, _NONE).found
    if len(situation.path) == _USUAL and cohesive and best is not None and worth[best[0]] >= good > 0:
        return _advance(best, "is as good as the first step", kin)
    return Choice("finish", "no other tool at hand goes with these as past paths did")


_NONE = Kin(0.0, 0.0, 0.0, 0.0)


def _best(some: list[tuple[int, Candidate]], worth: dict[int, float]) -> tuple[int, Candidate] | None:
    return max(some, key=lambda one: (worth[one[0]], one[1].tool.id), default=None)


def _advance(one: tuple[int, Candidate], why: str, kin: Mapping[ToolId, Kin]) -> Choice:
    at, candidate = one
    known = kin.get(candidate.tool.id, _NONE)
    return Choice("advance", f"{why} (score {known.found:.2f}, its set covers {known.covers:.0%})", at)


def _worth(candidate: Candidate, kin: Mapping[ToolId, Kin], votes: Mapping[ToolId, float]) -> float:
    """What the retriever, memories, the last step's edges and the tool's name say of it."""
    known = kin.get(candidate.tool.id, _NONE)
    walked = candidate.weight if candidate.origin == "graph" else 0.0
    remembered = min(1.0, votes.get(candidate.tool.id, 0.0))
    return known.found + _REMEMBERED * remembered + _WALKED * walked + _NAMED * known.named


def _of_set(tool: ToolId, kin: Mapping[ToolId, Kin]) -> float:
    known = kin.get(tool, _NONE)
    return _COVERS * known.covers + _NAMED * known.set_named


def _votes(situation: Situation) -> dict[ToolId, float]:
    votes: dict[ToolId, float] = {}
    for one in situation.recalled:
        for tool in set(one.memory.path):
            votes[tool] = votes.get(tool, 0.0) + max(0.0, one.similarity) ** _SHARPNESS
    return votes
