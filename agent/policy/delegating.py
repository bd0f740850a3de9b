"""A policy that asks another one: the base of those that decide some things by themselves."""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

from agent.policy.protocol import Policy, UnservedQuestion
from agent.policy.question import Decider, Question
from domain.plan import StepResult
from domain.tool import ToolDoc

T = TypeVar("T")


class Delegating(Decider):
    """Answers what it has a method of its own for; all else is another policy's, whose account and notices are its own."""

    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self.cost = policy.cost
        self.notices = policy.notices
        self._policy = policy

    @property
    def writes(self) -> bool:
        return self._policy.writes

    async def pass_on(self, question: Question[T]) -> T:
        return await self._policy.decide(question)

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        return self._policy.unserved(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        return self._policy.answer(request, steps)
