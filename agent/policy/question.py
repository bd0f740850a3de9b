"""Typed questions to a policy, and the base class of whatever answers them.

A question is a frozen dataclass, declared with the type of its answer: ``MoveQuestion(PolicyQuestion[NextMove])``.
``Policy.decide`` is the only entry; a question calls the method that answers it (``put_to``, a visitor). Questions are
defined beside their subjects, so this module names them in annotations only.
"""

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, ClassVar, Generic, TypeVar

from domain.model_service import Purpose

if TYPE_CHECKING:
    from agent.policy.path_questions import (
        AdoptionQuestion,
        PathAdoption,
        Reflection,
        ReflectionQuestion,
        ScoreQuestion,
    )
    from agent.policy.protocol import (
        ArgumentsQuestion,
        CallArguments,
        FieldsQuestion,
        MoveQuestion,
        NextMove,
        PathQuestion,
        PhraseQuestion,
        WholePath,
    )
    from agent.policy.subtasks import DecomposeQuestion, Decomposition
    from agent.programs.protocol import ProgramQuestion, WrittenProgram
    from agent.solutions.protocol import ChosenSolution, FilledSolution, FillQuestion, SolutionQuestion

T = TypeVar("T")


class PolicyQuestion(ABC, Generic[T]):
    """A decision that a policy takes; ``T`` is the type of the decision."""

    __slots__ = ()

    purpose: ClassVar[Purpose] = "decisions"
    """Selects the model of the run, if the settings choose one for each purpose."""

    @abstractmethod
    async def put_to(self, decider: "Decider") -> T:
        """Have the decider's method for this question answer it."""

    def answer_without_model(self, reason: str) -> T | None:  # noqa: ARG002  for those that override it
        """Return the answer for the case that the model cannot be asked (``reason``).

        None: the fallback policy is asked instead.
        """
        return None


class Decider:
    """Answers questions by one method for each kind.

    A class that decides everything overrides every method. One that decides some things overrides those, and passes the
    rest on in ``pass_on``.
    """

    async def decide(self, question: PolicyQuestion[T]) -> T:
        """Answer a question."""
        return await question.put_to(self)

    async def pass_on(self, question: PolicyQuestion[T]) -> T:
        """Answer a question that no method of this class answers, by asking another policy."""
        raise NotImplementedError(f"{type(self).__name__} has no method that answers a {type(question).__name__}")

    async def decompose(self, question: "DecomposeQuestion") -> "Decomposition":
        """Split a request into subtasks; once per run."""
        return await self.pass_on(question)

    async def choose(self, situation: "MoveQuestion") -> "NextMove":
        """Choose the next move of the walk."""
        return await self.pass_on(situation)

    async def reflect(self, question: "ReflectionQuestion") -> "Reflection":
        """Judge a walk that has ended, and where to go on if it is not good enough."""
        return await self.pass_on(question)

    async def plan_path(self, question: "PathQuestion") -> "WholePath":
        """Choose all steps in one decision."""
        return await self.pass_on(question)

    async def adopt(self, proposal: "AdoptionQuestion") -> "PathAdoption":
        """Decide if a remembered path is taken as it is."""
        return await self.pass_on(proposal)

    async def fill(self, question: "FillQuestion") -> "FilledSolution":
        """Decide if a similar solution serves the request, and with which values."""
        return await self.pass_on(question)

    async def choose_solution(self, question: "SolutionQuestion") -> "ChosenSolution":
        """Choose the solution of the library that a program for the request follows, or none."""
        return await self.pass_on(question)

    async def write(self, question: "ProgramQuestion") -> "WrittenProgram":
        """Write a program for the request or its next cell; without a text if none was written."""
        return await self.pass_on(question)

    async def phrase(self, question: "PhraseQuestion") -> str:
        """Word what a program computed as the request asks for it; unchanged if it cannot be worded better."""
        return await self.pass_on(question)

    async def fill_arguments(self, question: "ArgumentsQuestion") -> "CallArguments":
        """Choose the arguments of one call."""
        return await self.pass_on(question)

    async def fields_to_keep(self, question: "FieldsQuestion") -> tuple[str, ...]:
        """Select the fields of a long response that are worth showing, out of ``question.fields``, best first.

        The selection depends on the tool alone, not on the request, so that it can be kept per tool (thesis 4.3.3.3).
        """
        return await self.pass_on(question)

    async def score(self, question: "ScoreQuestion") -> tuple[float, ...]:
        """Score the worth of each step to the run in [-1, 1], for ``steps`` and then ``failed`` (thesis 3.4.2)."""
        return await self.pass_on(question)
