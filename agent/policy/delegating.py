"""A policy that asks another one everything: the base of those that decide some things by themselves."""

from collections.abc import AsyncIterator, Sequence

from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion, ScoreQuestion
from agent.policy.protocol import (
    Arguments,
    ArgumentsQuestion,
    Choice,
    FieldsQuestion,
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


class Delegating:
    """Asks another policy everything; account and notices are that one's."""

    def __init__(self, policy: Policy) -> None:
        self.name = policy.name
        self.cost = policy.cost
        self.notices = policy.notices
        self._policy = policy

    @property
    def writes(self) -> bool:
        return self._policy.writes

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        return await self._policy.decompose(question)

    async def choose(self, situation: Situation) -> Choice:
        return await self._policy.choose(situation)

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        return await self._policy.reflect(question)

    async def whole_path(self, question: PathQuestion) -> WholePath:
        return await self._policy.whole_path(question)

    async def adopt(self, proposal: Proposal) -> Adoption:
        return await self._policy.adopt(proposal)

    async def fill(self, question: FillQuestion) -> Filled:
        return await self._policy.fill(question)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        return await self._policy.choose_solution(question)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        return await self._policy.write(question)

    async def phrase(self, request: str, answer: str) -> str:
        return await self._policy.phrase(request, answer)

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        return await self._policy.arguments(question)

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        return self._policy.unserved(question)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        return await self._policy.fields_to_keep(question)

    def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        return self._policy.answer(request, steps)

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        return await self._policy.score(question)
