"""A policy that takes over from another one whose model fails, so that every run goes on."""

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
"""Stands between the part of an answer that a model streamed before it failed and the second policy's answer.

The second answer is complete by itself.
"""


class FallbackPolicy:
    """Policy of one run that decides by ``first``, and by ``second`` where that fails.

    ``breaker`` is shared between runs. ``second`` takes each decision that failed, and all decisions while the breaker is
    open. A notice is emitted whenever the deciding policy changes, also back to ``first``. When the budget forbids further
    calls of the model, ``second`` decides for the rest of the run; that is no failure of the endpoint. Only ``first``
    writes programs: once it could not, it is asked for none in the rest of the run.
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
        """True if the first policy writes programs and was able to so far."""
        return self._first.writes and not self._unwritten and not self._spent

    async def decide(self, question: Question[T]) -> T:
        """Have the first policy answer; if it cannot, the second one.

        A question may bring an answer of its own for this case; then the second policy is not asked.
        """
        if self._may_ask():
            try:
                answer = await self._first.decide(question)
            except ModelUnavailableError as error:
                self._failed(error)
            except BudgetExceededError as error:
                self._give_up(error)
            except InvalidDecisionError:
                # The endpoint did answer: the breaker is about reachability, not about the quality of answers.
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
        """Return the unserved changes that the currently deciding policy finds."""
        return (self._second if self._standing_in else self._first).unserved(question)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Stream the first policy's answer.

        If it breaks off, what was streamed stays, and ``BROKEN_OFF`` and the second policy's whole answer follow: streamed
        pieces cannot be withdrawn, and half a sentence does not say what was missing.
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
        """Record a failure; a timeout opens the breaker at once, as a second one would cost the run as long again."""
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
