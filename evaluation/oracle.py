"""A policy that knows the relevant APIs: what the best choices could reach on the candidates that are offered."""

from collections.abc import AsyncIterator, Sequence

from agent.decomposition import DecomposeQuestion, Decomposition
from agent.judgements import Adoption, Proposal, Reflection, ReflectionQuestion, ScoreQuestion
from agent.policy import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    FieldsQuestion,
    PathQuestion,
    Policy,
    Situation,
    WholePath,
)
from domain.plan import StepResult
from domain.tool import ToolDoc
from evaluation.names import Key, key_of


class OraclePolicy:
    """Advances to a relevant API wherever one is offered, and finishes where none is: no tool too many, none missed that it saw.

    It goes without look-ahead, so it is a lower bound of what the offered candidates allow. All other decisions are another's.
    """

    name = "oracle"

    def __init__(self, relevant: frozenset[Key], other: Policy) -> None:
        self.cost = other.cost
        self.notices = other.notices
        self._relevant = relevant
        self._other = other

    async def choose(self, situation: Situation) -> Choice:
        """The relevant candidate that is nearest to the request."""
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
        """All relevant candidates."""
        right = [i for i, c in enumerate(question.candidates) if key_of(c.tool.id) in self._relevant]
        return WholePath(tuple(right[: question.longest]), "relevant" if right else "none offered")

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """The other policy's."""
        return await self._other.decompose(question)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """The other policy's."""
        return await self._other.reflect(question)

    async def adopt(self, proposal: Proposal) -> Adoption:
        """The other policy's."""
        return await self._other.adopt(proposal)

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """The other policy's."""
        return await self._other.score(question)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """The other policy's."""
        return await self._other.arguments(question)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """The other policy's."""
        return await self._other.fields_to_keep(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """The other policy's."""
        return self._other.answer(request, steps)
