"""A policy of several: programs, answers and the fields of long responses may be other models' business than the rest."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, cast

from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion, ScoreQuestion
from agent.policy.protocol import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    FieldsQuestion,
    Notice,
    PathQuestion,
    Policy,
    Situation,
    UnservedQuestion,
    WholePath,
)
from agent.policy.subtasks import DecomposeQuestion, Decomposition
from agent.programs.protocol import ProgramQuestion, WrittenProgram
from agent.solutions.protocol import ChosenSolution, Filled, FillQuestion, SolutionQuestion
from domain.plan import StepResult
from domain.tool import ToolDoc


class PolicyByPurpose:
    """Made for one run, of policies that keep one account. ``decisions`` takes whatever the others are not for; what each has to say is told in
    one list.
    """

    def __init__(self, decisions: Policy, programs: Policy, answers: Policy, responses: Policy) -> None:
        self.name = decisions.name
        self.cost = decisions.cost
        self.notices: list[Notice] = []
        self._decisions, self._programs, self._answers, self._responses = decisions, programs, answers, responses
        for part in (decisions, programs, answers, responses):
            part.notices = self.notices

    @property
    def writes(self) -> bool:
        """Whether it is worth asking for a program."""
        return self._programs.writes

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """A decision."""
        return await self._decisions.decompose(question)

    async def choose(self, situation: Situation) -> Choice:
        """A decision."""
        return await self._decisions.choose(situation)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """A decision."""
        return await self._decisions.reflect(question)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """A decision."""
        return await self._decisions.whole_path(question)

    async def adopt(self, proposal: Proposal) -> Adoption:
        """A decision."""
        return await self._decisions.adopt(proposal)

    async def fill(self, question: FillQuestion) -> Filled:
        """A decision."""
        return await self._decisions.fill(question)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        """A decision."""
        return await self._decisions.choose_solution(question)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """A decision."""
        return await self._decisions.arguments(question)

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """A decision."""
        return await self._decisions.score(question)

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """The word of who decides."""
        return self._decisions.unserved(question)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """A program."""
        return await self._programs.write(question)

    async def phrase(self, request: str, answer: str) -> str:
        """An answer in other words."""
        return await self._answers.phrase(request, answer)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """An answer in words."""
        async with aclosing(cast("Any", self._answers.answer(request, steps))) as pieces:
            async for piece in pieces:
                yield piece

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """What is kept of long responses."""
        return await self._responses.fields_to_keep(question)
