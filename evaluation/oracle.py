"""A policy that knows the relevant APIs: what the best choices could reach on the offered candidates."""

from agent.policy.delegating_policy import DelegatingPolicy
from agent.policy.protocol import MoveQuestion, NextMove, PathQuestion, Policy, WholePath
from evaluation.api_names import ApiName, get_api_name


class OraclePolicy(DelegatingPolicy):
    """Advances to a relevant API wherever one is offered, and finishes where none is.

    It adds no tool too many and misses none that it saw. It has no look-ahead, so it is a lower bound of what the offered candidates allow.
    All other decisions are delegated.
    """

    def __init__(self, relevant: frozenset[ApiName], other: Policy) -> None:
        super().__init__(other)
        self.name = "oracle"
        self._relevant = relevant

    async def choose(self, situation: MoveQuestion) -> NextMove:
        """Choose the relevant candidate that is nearest to the request."""
        walked = {get_api_name(tool.id) for tool in situation.path}
        right = [
            (max(candidate.relevance, default=0.0), -index)
            for index, candidate in enumerate(situation.candidates)
            if get_api_name(candidate.tool.id) in self._relevant - walked
        ]
        if right:
            return NextMove("advance", "relevant", -max(right)[1])
        return (
            NextMove("finish", "no relevant tool is offered") if situation.path else NextMove("give_up", "none offered")
        )

    async def plan_path(self, question: PathQuestion) -> WholePath:
        """Choose all relevant candidates, up to the longest path allowed."""
        right = [i for i, c in enumerate(question.candidates) if get_api_name(c.tool.id) in self._relevant]
        return WholePath(tuple(right[: question.max_steps]), "relevant" if right else "none offered")
