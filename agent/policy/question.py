"""Typed questions to a policy, and the base of whoever answers them.

A question is a frozen dataclass that is told what it is answered by: ``Situation(Question[Choice])``. ``Policy.decide`` is the one entry;
a question finds the method that answers it by itself (``put_to``). Questions stand beside what they are about, so this module names them in annotations only.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from domain.model_service import Purpose

if TYPE_CHECKING:
    from agent.policy.path_questions import Adoption, Proposal, Reflection, ReflectionQuestion, ScoreQuestion
    from agent.policy.protocol import (
        Arguments,
        ArgumentsQuestion,
        Choice,
        FieldsQuestion,
        PathQuestion,
        PhraseQuestion,
        Situation,
        WholePath,
    )
    from agent.policy.subtasks import DecomposeQuestion, Decomposition
    from agent.programs.protocol import ProgramQuestion, WrittenProgram
    from agent.solutions.protocol import ChosenSolution, Filled, FillQuestion, SolutionQuestion

T = TypeVar("T")


class Question(ABC, Generic[T]):
    """Something that a policy decides; ``T`` is the type of the decision."""

    __slots__ = ()

    purpose: ClassVar[Purpose] = "decisions"
    """Which of a run's models is asked, where the settings choose one for each purpose."""

    @abstractmethod
    async def put_to(self, decider: "Decider") -> T:
        """Have it answered by the method that the decider has for it."""

    def answer_without_model(self, reason: str) -> T | None:  # noqa: ARG002  for those that override it
        """Return the answer where the model cannot be asked (``reason``); None: the policy that stands in for it is asked instead."""
        return None


class Decider:
    """Whoever answers questions, by one method for each kind.

    A class that decides everything overrides every method. One that decides some things overrides those, and hands the rest on by ``pass_on``.
    """

    async def decide(self, question: Question[T]) -> T:
        """Answer a question."""
        return await question.put_to(self)

    async def pass_on(self, question: Question[T]) -> T:
        """Have somebody else answer a question that no method of this class does."""
        raise NotImplementedError(f"{type(self).__name__} has no method that answers a {type(question).__name__}")

    async def decompose(self, question: "DecomposeQuestion") -> "Decomposition":
        """The subtasks of a request; once per run."""
        return await self.pass_on(question)

    async def choose(self, situation: "Situation") -> "Choice":
        """The next move of the walk."""
        return await self.pass_on(situation)

    async def reflect(self, question: "ReflectionQuestion") -> "Reflection":
        """What a walk that has ended is worth, and where to go on if it is not good enough."""
        return await self.pass_on(question)

    async def whole_path(self, question: "PathQuestion") -> "WholePath":
        """All steps in one decision."""
        return await self.pass_on(question)

    async def adopt(self, proposal: "Proposal") -> "Adoption":
        """Whether to take a remembered path whole, in one decision."""
        return await self.pass_on(proposal)

    async def fill(self, question: "FillQuestion") -> "Filled":
        """Whether a solution that is near a request serves it, and with which values."""
        return await self.pass_on(question)

    async def choose_solution(self, question: "SolutionQuestion") -> "ChosenSolution":
        """Which of the library's solutions a program for the request is written after; none where none fits."""
        return await self.pass_on(question)

    async def write(self, question: "ProgramQuestion") -> "WrittenProgram":
        """A program for the request, or the next cell of one; without a text where none was written."""
        return await self.pass_on(question)

    async def phrase(self, question: "PhraseQuestion") -> str:
        """What a program computed, said as the request asks for it; as it stands where nobody can say it better."""
        return await self.pass_on(question)

    async def arguments(self, question: "ArgumentsQuestion") -> "Arguments":
        """Arguments for one call."""
        return await self.pass_on(question)

    async def fields_to_keep(self, question: "FieldsQuestion") -> tuple[str, ...]:
        """The fields of a long response that are worth showing, out of ``question.fields``, the most telling first.

        It depends on the tool alone, not on the request, so that the answer can be kept per tool (thesis 4.3.3.3).
        """
        return await self.pass_on(question)

    async def score(self, question: "ScoreQuestion") -> tuple[float, ...]:
        """What each step was worth to the run, in [-1, 1]: one number for each of ``steps``, then of ``failed`` (thesis 3.4.2)."""
        return await self.pass_on(question)
