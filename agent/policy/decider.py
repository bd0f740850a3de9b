"""Typed questions to a policy, and the base class of whatever answers them.

A question is a frozen dataclass, declared with the type of its answer: ``MoveQuestion(PolicyQuestion[NextMove])``.
``Policy.decide`` takes any question; the question calls the method that answers it (:meth:`PolicyQuestion.put_to`, the
visitor pattern). Questions are defined beside their subjects, so this module imports them for annotations only.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from domain.model_service import Purpose

if TYPE_CHECKING:
    from agent.policy.protocol import (
        AdoptionQuestion,
        ArgumentsQuestion,
        CallArguments,
        DecomposeQuestion,
        Decomposition,
        FieldsQuestion,
        MoveQuestion,
        NextMove,
        PathAdoption,
        PathQuestion,
        PhraseQuestion,
        Reflection,
        ReflectionQuestion,
        ScoreQuestion,
        WholePath,
    )
    from agent.programs.program_types import ProgramQuestion, WrittenProgram
    from agent.solutions.protocol import ChosenSolution, FilledSolution, FillQuestion, SolutionQuestion

T = TypeVar("T")


class PolicyQuestion(ABC, Generic[T]):
    """A question to a policy; ``T`` is the type of the answer."""

    __slots__ = ()

    purpose: ClassVar[Purpose] = "decisions"
    """Purpose of the question; settings may choose a model for each purpose."""

    @abstractmethod
    async def put_to(self, decider: "Decider") -> T:
        """Call the method of the decider that answers this question, and return the answer."""

    def answer_without_model(self, reason: str) -> T | None:  # noqa: ARG002  for those that override it
        """Return the answer to use if the model cannot be asked, for this reason; None to ask the fallback policy."""
        return None


class Decider:
    """Answers questions, with a method for each kind.

    A class overrides the methods for the questions that it answers. The others call :meth:`delegate`, which a class
    overrides to ask another policy.
    """

    async def decide(self, question: PolicyQuestion[T]) -> T:
        """Answer a question."""
        return await question.put_to(self)

    async def delegate(self, question: PolicyQuestion[T]) -> T:
        """Answer a question that this class has no method for, by asking another policy."""
        raise NotImplementedError(f"{type(self).__name__} has no method that answers a {type(question).__name__}")

    async def decompose(self, question: "DecomposeQuestion") -> "Decomposition":
        """Split a request into subtasks. Asked once per run."""
        return await self.delegate(question)

    async def choose(self, situation: "MoveQuestion") -> "NextMove":
        """Choose the next move of a search."""
        return await self.delegate(situation)

    async def reflect(self, question: "ReflectionQuestion") -> "Reflection":
        """Judge the path of a search that has ended, and where the search resumes if it is not good enough."""
        return await self.delegate(question)

    async def plan_path(self, question: "PathQuestion") -> "WholePath":
        """Choose a whole path in one decision."""
        return await self.delegate(question)

    async def adopt(self, proposal: "AdoptionQuestion") -> "PathAdoption":
        """Decide whether a remembered path is used unchanged."""
        return await self.delegate(proposal)

    async def fill(self, question: "FillQuestion") -> "FilledSolution":
        """Decide whether a solution serves the request, and with which values."""
        return await self.delegate(question)

    async def choose_solution(self, question: "SolutionQuestion") -> "ChosenSolution":
        """Choose the solution of the library on which a program for the request is modelled, or none."""
        return await self.delegate(question)

    async def write(self, question: "ProgramQuestion") -> "WrittenProgram":
        """Write a program for the request, or its next cell. The answer has no text if none was written."""
        return await self.delegate(question)

    async def phrase(self, question: "PhraseQuestion") -> str:
        """Rephrase the answer of a program as the request asks for it, or return it unchanged."""
        return await self.delegate(question)

    async def fill_arguments(self, question: "ArgumentsQuestion") -> "CallArguments":
        """Choose the arguments of a call."""
        return await self.delegate(question)

    async def fields_to_keep(self, question: "FieldsQuestion") -> tuple[str, ...]:
        """Select the fields of a long response that are worth showing, out of ``question.fields``, best first.

        The selection must not depend on the request, because it is stored per tool (thesis 4.3.3.3).
        """
        return await self.delegate(question)

    async def score(self, question: "ScoreQuestion") -> tuple[float, ...]:
        """Score the worth of each step to the run, in [-1, 1]: ``steps`` first, then ``failed`` (thesis 3.4.2)."""
        return await self.delegate(question)
