"""A policy that stands in for another whose model fails: a run always goes on, and says who decides."""

from collections.abc import AsyncIterator, Sequence
from contextlib import aclosing
from typing import Any, TypeVar, cast

from agent.policy.circuit_breaker import Breaker
from agent.policy.protocol import Notice, Policy, UnservedQuestion
from agent.policy.question import Question
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

    async def decide(self, question: Question[T]) -> T:
        """Have the first policy answer; where it cannot, the second, unless the question says what it is answered without a model."""
        if self._may_ask():
            try:
                answer = await self._first.decide(question)
            except ModelUnavailableError as error:
                self._failed(error)
            except BudgetExceededError as error:
                self._give_up(error)
            except InvalidDecisionError:
                self._worked()
            else:
                self._worked()
                return answer
        without = question.answer_without_model(self._reason)
        if without is None:
            return await self._second.decide(question)
        self._unwritten = True
        return without

    def unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """The word of the policy that decides at the end."""
        return (self._second if self._standing_in else self._first).unserved(question)

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
