"""A policy of several: programs, answers and the fields of long responses may be other models' business than the rest."""

from collections.abc import AsyncIterator, Sequence

from agent.policy.delegating import Delegating
from agent.policy.protocol import FieldsQuestion, Policy
from agent.programs.protocol import ProgramQuestion, WrittenProgram
from domain.plan import StepResult
from domain.tool import ToolDoc


class PolicyByPurpose(Delegating):
    """Made for one run, of policies that keep one account. ``decisions`` takes whatever the others are not for; what each has to say is told in
    one list.
    """

    def __init__(self, decisions: Policy, programs: Policy, answers: Policy, responses: Policy) -> None:
        super().__init__(decisions)
        self._programs, self._answers, self._responses = programs, answers, responses
        for part in (programs, answers, responses):
            part.notices = self.notices

    @property
    def writes(self) -> bool:
        """Whether it is worth asking for a program."""
        return self._programs.writes

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """A program."""
        return await self._programs.write(question)

    async def phrase(self, request: str, answer: str) -> str:
        """An answer in other words."""
        return await self._answers.phrase(request, answer)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """An answer in words."""
        return self._answers.answer(request, steps)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """What is kept of long responses."""
        return await self._responses.fields_to_keep(question)
