"""How likely a tool is part of what serves a request, from what speaks for it: a logistic model of few terms.

Fitted on requests of the trajectories that were held out of the graph and of memory, each of three groups of them with the same weight:
where the graph joins their tools, where it only knows one, and where it knows none (docs/evaluation.md).
"""

from agent.candidate import Kin

_CONSTANT = -4.24
_HIGH = 3.9
"""Of a score of 1; below ``_TELLING`` a score tells nothing but its order."""
_BEHIND = -2.0
_COVERS = 0.94
_SET_NAMED = 0.67
_NAMED = 0.94
_REMEMBERED = 4.4
_WALKED = 1.7
_SET_WALKED = 1.3

_TELLING = 0.7
_FAR = 0.3
"""Retriever's score from which it tells; how far behind the best it is no matter how far."""


def log_odds(kin: Kin) -> float:
    """The logarithm of the odds; 0 where it is as likely as not."""
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
