"""The offline policy's move where a call has failed: the tool that does the same, if it can be called."""

from collections.abc import Callable

from agent.changing import may_call
from agent.policy import Choice, Situation
from domain.tool import ToolDoc

Missing = Callable[[ToolDoc, tuple[ToolDoc, ...]], frozenset[str]]


def substituted(situation: Situation, missing: Missing) -> Choice | None:
    """Advance to the first substitute whose inputs are all there; None where none is on offer."""
    for at, candidate in enumerate(situation.candidates):
        usable = candidate.origin == "substitute" and may_call(candidate.tool, situation.request)
        if usable and not missing(candidate.tool, situation.path):
            return Choice("advance", "does the same as the tool whose call failed", at)
    return None
