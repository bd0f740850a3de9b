"""Results that a decision named beyond the next one: taken without asking again where weights and coupling make it safe."""

from collections.abc import Sequence
from dataclasses import dataclass

from agent.offer.candidates import Candidate
from agent.policy.protocol import Choice
from domain.tool import ToolId

_WELL_TRODDEN = 0.5
"""Weight from which past paths agree so much on another tool that the decision is asked for again."""


@dataclass(slots=True)
class Foresight:
    """What is still to come of the last decision. ``last``: it finishes the path behind these tools."""

    tools: tuple[ToolId, ...] = ()
    last: bool = False
    reason: str = ""
    unserved: str = ""

    def note(self, choice: Choice) -> None:
        """A new decision replaces what was foreseen; so does a change of direction."""
        advance = choice.action == "advance"
        self.tools = choice.then if advance else ()
        self.last = advance and choice.last
        self.reason = choice.reason
        self.unserved = choice.unserved

    def move(self, candidates: Sequence[Candidate]) -> Choice | None:
        """The foreseen move, where it is still a good one at this node; None: ask. What was foreseen is forgotten then."""
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
    """All its inputs are there; and a field of the path feeds it, or past paths do not mostly go elsewhere."""
    most = max((c.weight for c in candidates if c.origin == "graph"), default=0.0)
    return not candidate.missing and bool(candidate.feeds or most < _WELL_TRODDEN or candidate.weight >= most)
