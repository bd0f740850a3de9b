"""A policy that stands in for another whose model fails: a run always goes on, and says who decides."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

from agent.policy.circuit_breaker import Breaker
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
from agent.text import clean
from domain.errors import BudgetExceededError, InvalidDecisionError, ModelUnavailableError
from domain.plan import StepResult
from domain.tool import ToolDoc

T = TypeVar("T")
BROKEN_OFF = "\n\n[The model broke off here. What follows is put together from the same calls without it.]\n\n"
"""Between what a model had said when its stream broke and the answer of the second policy, which is whole by itself."""


class FallbackPolicy:
    """Made for one run; ``breaker`` is shared. Each failed decision is taken by ``second``, and so are all others while the breaker
    is open. A notice is told whenever the deciding policy changes, back to ``first`` included. What the budget forbids the model is
    ``second``'s for the rest of the run, and no failure of the endpoint. Programs are ``first``'s to write: once it could not, it is
    asked for none any more in this run.
    """

    def __init__(self, first: Policy, second: Policy, breaker: Breaker) -> None:
        self.name = first.name
        self.cost = first.cost
        self.notices: list[Notice] = []
        self._first = first
        self._second = second
        self._breaker = breaker
        self._standing_in = False
        self._spent = False
        self._unwritten = False
        self._reason = ""

    @property
    def writes(self) -> bool:
        """Whether the first policy does, and could so far."""
        return self._first.writes and not self._unwritten and not self._spent

    async def decompose(self, question: DecomposeQuestion) -> Decomposition:
        """The first policy's subtasks, else the second's."""
        return await self._decided(lambda policy: policy.decompose(question))

    async def reflect(self, question: ReflectionQuestion) -> Reflection:
        """The first policy's judgement, else the second's."""
        return await self._decided(lambda policy: policy.reflect(question))

    async def choose(self, situation: Situation) -> Choice:
        """The first policy's move, else the second's."""
        return await self._decided(lambda policy: policy.choose(situation))

    async def whole_path(self, question: PathQuestion) -> WholePath:
        """The first policy's path, else the second's."""
        return await self._decided(lambda policy: policy.whole_path(question))

    async def adopt(self, proposal: Proposal) -> Adoption:
        """The first policy's word, else the second's."""
        return await self._decided(lambda policy: policy.adopt(proposal))

    async def fill(self, question: FillQuestion) -> Filled:
        """The first policy's word, else the second's."""
        return await self._decided(lambda policy: policy.fill(question))

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        """The first policy's choice, else the second's."""
        return await self._decided(lambda policy: policy.choose_solution(question))

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        """The first policy's program; no text, and why, where its model cannot be used."""
        if self._may_ask():
            try:
                written = await self._first.write(question)
            except ModelUnavailableError as error:
                self._failed(error)
            except BudgetExceededError as error:
                self._give_up(error)
            else:
                self._worked()
                return written
        self._unwritten = True
        return WrittenProgram("", f"no program was written: {self._reason}")

    async def phrase(self, request: str, answer: str) -> str:
        """The first policy's words, else the second's."""
        return await self._decided(lambda policy: policy.phrase(request, answer))

    async def score(self, question: ScoreQuestion) -> tuple[float, ...]:
        """The first policy's scores, else the second's."""
        return await self._decided(lambda policy: policy.score(question))

    async def arguments(self, question: ArgumentsQuestion) -> Arguments:
        """The first policy's arguments, else the second's."""
        return await self._decided(lambda policy: policy.arguments(question))

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """The word of the policy that decides at the end."""
        return (self._second if self._standing_in else self._first).unserved(question)

    async def fields_to_keep(self, question: FieldsQuestion) -> tuple[str, ...]:
        """The first policy's fields, else the second's; also where the first's are no use, which is not worth a word."""
        return await self._decided(lambda policy: policy.fields_to_keep(question))

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """The first policy's answer. Where it breaks off, what was said stays, and the second's whole answer follows after
        ``BROKEN_OFF``: pieces that are out cannot be taken back, and half a sentence says nothing of what was left to say.
        """
        said = False
        if self._may_ask():
            try:
                async with aclosing(cast("Any", self._first.answer(request, steps))) as pieces:
                    async for piece in pieces:
                        said = True
                        yield piece
                self._worked()
                return
            except ModelUnavailableError as error:
                self._failed(error)
            except BudgetExceededError as error:
                self._give_up(error)
            except InvalidDecisionError as error:
                self._breaker.succeeded()
                self._stand_in(str(error))
        if said:
            yield BROKEN_OFF
        async with aclosing(cast("Any", self._second.answer(request, steps))) as pieces:
            async for piece in pieces:
                yield piece

    async def _decided(self, decide: Callable[[Policy], Awaitable[T]]) -> T:
        if self._may_ask():
            try:
                found = await decide(self._first)
            except ModelUnavailableError as error:
                self._failed(error)
            except BudgetExceededError as error:
                self._give_up(error)
            except InvalidDecisionError:
                self._worked()
            else:
                self._worked()
                return found
        return await decide(self._second)

    def _may_ask(self) -> bool:
        if self._spent:
            return False
        admitted = self._breaker.admits()
        if not admitted:
            self._stand_in(f"the model is left alone for a while: {self._breaker.reason}")
        return admitted

    def _worked(self) -> None:
        self._breaker.succeeded()
        if self._standing_in:
            self._standing_in = False
            self.notices.append(Notice(self._second.name, self._first.name, "the model answers again"))

    def _failed(self, error: ModelUnavailableError) -> None:
        """A timeout opens the breaker at once: a second one would cost the run as long again."""
        self._breaker.failed(str(error), at_once=error.lasting or error.kind == "timeout")
        self._stand_in(str(error))

    def _give_up(self, error: BudgetExceededError) -> None:
        self._spent = True
        self._stand_in(str(error))

    def _stand_in(self, reason: str) -> None:
        self._reason = clean(reason, 400)
        if not self._standing_in:
            self._standing_in = True
            self.notices.append(Notice(self._first.name, self._second.name, self._reason))
