"""A policy that knows the relevant APIs: what the best choices could reach on the candidates that are offered."""

from agent.policies.offline import OfflinePolicy
from agent.policy import Choice, Situation
from domain.tool import ToolDoc
from evaluation.names import Key, key_of


class OraclePolicy(OfflinePolicy):
    """Advances to a relevant API wherever one is offered, and finishes where none is: no tool too many, none missed that it saw.

    It goes without look-ahead, so it is a lower bound of what the offered candidates allow.
    """

    name = "oracle"

    def __init__(self, relevant: frozenset[Key]) -> None:
        super().__init__()
        self._relevant = relevant

    async def choose(self, situation: Situation) -> Choice:
        """The relevant candidate that is nearest to the request."""
        walked = {key_of(tool.id) for tool in situation.path}
        right = [
            (max(candidate.relevance, default=0.0), -index)
            for index, candidate in enumerate(situation.candidates)
            if self._wanted(candidate.tool) and key_of(candidate.tool.id) not in walked
        ]
        if right:
            return Choice("advance", "relevant", -max(right)[1])
        return Choice("finish", "no relevant tool is offered") if situation.path else Choice("give_up", "none offered")

    def _wanted(self, tool: ToolDoc) -> bool:
        return key_of(tool.id) in self._relevant
