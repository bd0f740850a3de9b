"""A policy that sends programs, answers and long responses to policies with other models than its decisions."""

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import TypeVar

from agent.policy.delegating import Delegating
from agent.policy.protocol import Policy
from agent.policy.question import Question
from domain.model_service import Purpose
from domain.plan import StepResult
from domain.tool import ToolDoc

T = TypeVar("T")


class PolicyByPurpose(Delegating):
    """Policy of one run, made of policies that share one account.

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
    def writes(self) -> bool:
        """True if it can be asked for a program."""
        return self._by_purpose["programs"].writes

    async def decide(self, question: Question[T]) -> T:
        """Have the policy for the question's purpose answer it."""
        return await self._by_purpose.get(question.purpose, self._policy).decide(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Stream an answer in words."""
        return self._by_purpose["answers"].answer(request, steps)
