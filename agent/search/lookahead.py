"""Lookahead: steps that a decision named in advance are taken without asking again where that is safe."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.offer.candidates import Candidate
from agent.policy.protocol import Choice
from domain.tool import ToolId

_WELL_TRODDEN = 0.5
"""Weight from which past paths agree on another tool so strongly that the policy is asked again."""


@dataclass(slots=True)
class Foresight:
    """Steps of the last decision that are still to be taken."""

    tools: tuple[ToolId, ...] = ()
    last: bool = False
    """The decision finishes the path after these tools."""
    reason: str = ""
    unserved: str = ""

    def note(self, choice: Choice) -> None:
        """Replace the planned steps by those of a new decision; a decision other than to advance clears them."""
        advance = choice.action == "advance"
        self.tools = choice.then if advance else ()
        self.last = advance and choice.last
        self.reason = choice.reason
        self.unserved = choice.unserved

    def move(self, candidates: Sequence[Candidate]) -> Choice | None:
        """Return the planned move if it is still good at this node.

        Otherwise forget the plan and return None: the policy must be asked.
        """
        if not self.tools:
            finished = Choice("finish", self.reason, unserved=self.unserved) if self.last else None
            self.last = False
            return finished
        wanted, self.tools = self.tools[0], self.tools[1:]
        index = next((at for at, candidate in enumerate(candidates) if candidate.tool.id == wanted), None)
        if index is None or not _safe(candidates[index], candidates):
            self.tools, self.last = (), False
            return None
        return Choice("advance", self.reason, index)


def _safe(candidate: Candidate, candidates: Sequence[Candidate]) -> bool:
    """Return whether a candidate may be taken without asking.

    It must have all its inputs, and be fed by a field of the path unless past paths do not favour another tool.
    """
    most = max((c.weight for c in candidates if c.origin == "graph"), default=0.0)
    return not candidate.missing and bool(candidate.feeds or most < _WELL_TRODDEN or candidate.weight >= most)
