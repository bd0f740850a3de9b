"""The offline policy's move where few tools have been walked: the likeliest tool first, then what goes with it."""

from statistics import median_high

from agent.offer.candidates import ToolCandidate
from agent.offer.toolset_prior import compute_log_odds, get_toolset
from agent.policy.protocol import MoveQuestion, NextMove
from offline.change_orders import may_call
from offline.routes import MissingFinder

_TOGETHER = 1.0
"""Log-odds that a tool gains if a tool of its set is in the path already."""
_FOLLOWS = 3.0
"""Log-odds that a tool gains if every past path continued with it after the last step."""
_MAX_STEPS = 3
"""Longest path that priors may build: each further tool is a guess, and costs a call."""


def choose_by_toolset(situation: MoveQuestion, missing: MissingFinder) -> NextMove | None:
    """Choose a move by the priors of tool sets.

    None if there are no priors (past calls then say more), or if no tool with a prior can be called and the path is
    empty.
    """
    if not situation.toolset_priors:
        return None
    odds_by_index = {
        at: _estimate_log_odds(candidate, situation)
        for at, candidate in enumerate(situation.candidates)
        if candidate.tool.id in situation.toolset_priors
        and candidate.tool not in situation.path
        and may_call(candidate.tool, situation.request)
        and not missing(candidate.tool, situation.path)
    }
    best = max(odds_by_index, key=lambda at: (odds_by_index[at], situation.candidates[at].tool.id), default=None)
    if best is not None and (
        len(situation.path) < _estimate_length(situation)
        or (len(situation.path) < _MAX_STEPS and odds_by_index[best] >= 0)
    ):
        return NextMove("advance", _explain(situation.candidates[best], situation), best)
    return NextMove("finish", "no other tool at hand is likely to go with these") if situation.path else None


def _estimate_length(situation: MoveQuestion) -> int:
    """Estimate how many tools serve the request: the median path length of recalled requests, 1 if there are none."""
    path_lengths = [len(one.memory.path) for one in situation.recalled]
    return min(_MAX_STEPS, max(1, median_high(path_lengths))) if path_lengths else 1


def _estimate_log_odds(candidate: ToolCandidate, situation: MoveQuestion) -> float:
    """Estimate the log-odds that a tool serves the request, given the path so far."""
    together = _has_set_in_path(candidate, situation)
    follows = candidate.weight if candidate.origin == "graph" else 0.0
    return compute_log_odds(situation.toolset_priors[candidate.tool.id]) + _TOGETHER * together + _FOLLOWS * follows


def _has_set_in_path(candidate: ToolCandidate, situation: MoveQuestion) -> bool:
    return any(get_toolset(candidate.tool.id) == get_toolset(step.id) for step in situation.path)


def _explain(candidate: ToolCandidate, situation: MoveQuestion) -> str:
    """Explain which evidence supports a tool, the strongest first."""
    prior = situation.toolset_priors[candidate.tool.id]
    reasons = [f"score {prior.found:.2f}", f"its set covers {prior.covers:.0%}"]
    if candidate.origin == "graph" and candidate.weight > 0:
        reasons.insert(0, f"follows the last step in {candidate.weight:.0%} of past paths")
    elif _has_set_in_path(candidate, situation):
        reasons.insert(0, "goes with the tools of its set")
    if prior.remembered > 0:
        reasons.append("similar requests were served with it")
    elif prior.walked > 0:
        reasons.append("past paths went through it")
    return ", ".join(reasons)
