"""A policy that knows the relevant APIs: what the best choices could reach on the offered candidates."""

from agent.policy.delegating import Delegating
from agent.policy.protocol import Choice, PathQuestion, Policy, Situation, WholePath
from evaluation.api_keys import Key, key_of


class OraclePolicy(Delegating):
    """Advances to a relevant API wherever one is offered, and finishes where none is.

    It adds no tool too many and misses none that it saw. It has no look-ahead, so it is a lower bound of what the offered candidates allow.
    All other decisions are delegated.
    """

    def __init__(self, relevant: frozenset[Key], other: Policy) -> None:
        super().__init__(other)
        self.name = "oracle"
        self._relevant = relevant

    async def choose(self, situation: Situation) -> Choice:
        """Choose the relevant candidate that is nearest to the request."""
        walked = {key_of(tool.id) for tool in situation.path}
        right = [
            (max(candidate.relevance, default=0.0), -index)
            for index, candidate in enumerate(situation.candidates)
            if key_of(candidate.tool.id) in self._relevant - walked
        ]
        if right:
            return Choice("advance", "relevant", -max(right)[1])
        return Choice("finish", "no relevant tool is offered") if situation.path else Choice("give_up", "none offered")

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """Choose all relevant candidates, up to the longest path allowed."""
        right = [i for i, c in enumerate(question.candidates) if key_of(c.tool.id) in self._relevant]
        return WholePath(tuple(right[: question.longest]), "relevant" if right else "none offered")
