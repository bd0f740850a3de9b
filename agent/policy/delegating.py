"""Base class of policies that decide some questions themselves and delegate the others."""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from agent.policy.protocol import Policy, UnservedQuestion
from agent.policy.question import Decider, Question
from domain.plan import StepResult
from domain.tool import ToolDoc

T = TypeVar("T")


class Delegating(Decider):
    """Policy that delegates to another one, whose cost and notices it shares, what it has no method for."""

    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self.cost = policy.cost
        self.notices = policy.notices
        self._policy = policy

    @property
    def writes(self) -> bool:
        return self._policy.writes

    async def pass_on(self, question: Question[T]) -> T:
        """Have the other policy answer a question."""
        return await self._policy.decide(question)

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        return self._policy.unserved(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        return self._policy.answer(request, steps)
