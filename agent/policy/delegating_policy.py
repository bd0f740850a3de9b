"""Policies that delegate: the base class of wrappers, and a policy made of several ones."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TypeVar

from agent.policy.decider import Decider, PolicyQuestion
from agent.policy.protocol import Policy, UnservedQuestion
from domain.model_service import Purpose
from domain.plan import StepResult
from domain.tool import ToolDoc

T = TypeVar("T")


class DelegatingPolicy(Decider):
    """Policy that answers the questions it has methods for, and delegates the others.

    It shares the cost and the notices of the policy that it wraps.
    """

    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self.cost = policy.cost
        self.notices = policy.notices
        self._policy = policy

    @property
    def can_write_programs(self) -> bool:
        return self._policy.can_write_programs

    async def delegate(self, question: PolicyQuestion[T]) -> T:
        """Have the other policy answer a question."""
        return await self._policy.decide(question)

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        return self._policy.find_unserved(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        return self._policy.answer(request, steps)


class PolicyByPurpose(DelegatingPolicy):
    """Policy of one run that asks another policy for each purpose; they share one cost account.

    ``decisions`` answers whatever the others are not for. The notices of all of them are in one list.
    """

    def __init__(self, decisions: Policy, programs: Policy, answers: Policy, responses: Policy) -> None:
        super().__init__(decisions)
        self._by_purpose: Mapping[Purpose, Policy] = {
            "programs": programs,
            "answers": answers,
            "responses": responses,
        }
        for part in self._by_purpose.values():
            part.notices = self.notices

    @property
    def can_write_programs(self) -> bool:
        """Return whether the policy for programs can write them."""
        return self._by_purpose["programs"].can_write_programs

    async def decide(self, question: PolicyQuestion[T]) -> T:
        """Have the policy for the question's purpose answer it."""
        return await self._by_purpose.get(question.purpose, self._policy).decide(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Stream an answer in words."""
        return self._by_purpose["answers"].answer(request, steps)
