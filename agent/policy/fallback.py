"""A policy that falls back to another one when its model fails, and the circuit breaker of the model's endpoint."""

import time
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from agent.policy.decider import PolicyQuestion
from agent.policy.protocol import Policy, PolicyNotice, UnservedQuestion
from agent.text import clean_text
from domain.errors import BudgetExceededError, InvalidDecisionError, ModelUnavailableError
from domain.plan import StepResult
from domain.tool import ToolDoc


@dataclass(slots=True)
class CircuitBreaker:
    """Circuit breaker with the usual three states.

    Closed: every call is allowed. Open: none, until the pause is over. Half open: one call per pause, whose success
    closes the breaker.
    """

    failure_threshold: int = 3
    """Failures in a row that open it."""
    pause_seconds: float = 60.0
    """Seconds for which it stays open."""
    clock: Callable[[], float] = time.monotonic
    """Returns the time in seconds."""
    last_failure: str = ""
    """The last failure, in words; empty after a success."""
    _consecutive_failures: int = field(default=0, init=False)
    _open_until: float | None = field(default=None, init=False)
    """Time at which it becomes half open; None while it is closed."""

    @property
    def is_open(self) -> bool:
        """Return whether it has opened and no success has closed it since."""
        return self._open_until is not None

    def allow_request(self) -> bool:
        """Return whether a call may be made now; in the half-open state only the first caller is allowed."""
        if self._open_until is None:
            return True
        if self.clock() < self._open_until:
            return False
        # Half open: push the time on, so that other calls wait for the outcome of this one.
        self._open_until = self.clock() + self.pause_seconds
        return True

    def record_success(self) -> None:
        """Record a success, which closes the breaker."""
        self._consecutive_failures, self._open_until, self.last_failure = 0, None, ""

    def record_failure(self, reason: str, *, opens_now: bool) -> None:
        """Record a failure.

        ``opens_now`` opens the breaker without waiting for more failures: a further call would be useless or too costly.
        """
        self._consecutive_failures += 1
        self.last_failure = reason
        if opens_now or self.is_open or self._consecutive_failures >= self.failure_threshold:
            self._open_until = self.clock() + self.pause_seconds


T = TypeVar("T")
BROKEN_OFF_NOTE = "\n\n[The model broke off here. What follows is put together from the same calls without it.]\n\n"
"""Text between the part of an answer that a model streamed before it failed and the answer of the second policy.

The second answer is complete by itself.
"""


class FallbackPolicy:
    """Policy of one run that asks ``primary``, and ``secondary`` where that fails.

    ``secondary`` takes each decision that failed, and all decisions while ``breaker``, which runs share, is open. When
    the budget forbids further calls of the model, ``secondary`` decides for the rest of the run; the breaker does not
    count that as a failure. A notice is emitted whenever the deciding policy changes, also back to ``primary``. Only
    ``primary`` writes programs: once it could not, it is asked for none in the rest of the run.
    """

    def __init__(self, primary: Policy, secondary: Policy, breaker: CircuitBreaker) -> None:
        self.name = primary.name
        self.cost = primary.cost
        self.notices: list[PolicyNotice] = []
        self._primary = primary
        self._secondary = secondary
        self._breaker = breaker
        self._uses_secondary = False
        self._budget_spent = False
        self._writing_failed = False
        self._reason = ""

    @property
    def can_write_programs(self) -> bool:
        """Return whether the first policy writes programs and was able to so far."""
        return self._primary.can_write_programs and not self._writing_failed and not self._budget_spent

    async def decide(self, question: PolicyQuestion[T]) -> T:
        """Return the answer of the first policy, or of the second one if the first cannot answer.

        A question may supply an answer for this case (:meth:`PolicyQuestion.answer_without_model`); then nobody is
        asked.
        """
        if self._can_ask_primary():
            try:
                answer = await self._primary.decide(question)
            except ModelUnavailableError as error:
                self._record_failure(error)
            except BudgetExceededError as error:
                self._record_spent_budget(error)
            except InvalidDecisionError:
                # The endpoint did answer: the breaker is about reachability, not about the quality of answers.
                self._record_success()
            else:
                self._record_success()
                return answer
        default_answer = question.answer_without_model(self._reason)
        if default_answer is None:
            return await self._secondary.decide(question)
        self._writing_failed = True
        return default_answer

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        """Return the unserved changes that the policy finds which decides at present."""
        return (self._secondary if self._uses_secondary else self._primary).find_unserved(question)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        """Stream the first policy's answer.

        If it breaks off, ``BROKEN_OFF_NOTE`` and the whole answer of the second policy follow: pieces that were
        streamed cannot be withdrawn, and half a sentence does not show what is missing.
        """
        has_output = False
        if self._can_ask_primary():
            try:
                async with aclosing(cast("Any", self._primary.answer(request, steps))) as pieces:
                    async for piece in pieces:
                        has_output = True
                        yield piece
                self._record_success()
                return
            except ModelUnavailableError as error:
                self._record_failure(error)
            except BudgetExceededError as error:
                self._record_spent_budget(error)
            except InvalidDecisionError as error:
                self._breaker.record_success()
                self._switch_to_secondary(str(error))
        if has_output:
            yield BROKEN_OFF_NOTE
        async with aclosing(cast("Any", self._secondary.answer(request, steps))) as pieces:
            async for piece in pieces:
                yield piece

    def _can_ask_primary(self) -> bool:
        if self._budget_spent:
            return False
        allowed = self._breaker.allow_request()
        if not allowed:
            self._switch_to_secondary(f"the model is left alone for a while: {self._breaker.last_failure}")
        return allowed

    def _record_success(self) -> None:
        self._breaker.record_success()
        if self._uses_secondary:
            self._uses_secondary = False
            self.notices.append(PolicyNotice(self._secondary.name, self._primary.name, "the model answers again"))

    def _record_failure(self, error: ModelUnavailableError) -> None:
        """Record a failure; a timeout opens the breaker at once, because a second one would take as long again."""
        self._breaker.record_failure(str(error), opens_now=error.lasting or error.kind == "timeout")
        self._switch_to_secondary(str(error))

    def _record_spent_budget(self, error: BudgetExceededError) -> None:
        self._budget_spent = True
        self._switch_to_secondary(str(error))

    def _switch_to_secondary(self, reason: str) -> None:
        self._reason = clean_text(reason, 400)
        if not self._uses_secondary:
            self._uses_secondary = True
            self.notices.append(PolicyNotice(self._primary.name, self._secondary.name, self._reason))
