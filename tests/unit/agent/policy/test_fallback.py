"""A run goes on when the model does not, and says who decides."""

from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

import pytest

from agent.policy.decider import Decider, PolicyQuestion
from agent.policy.fallback import BROKEN_OFF_NOTE, CircuitBreaker, FallbackPolicy
from agent.policy.protocol import MoveQuestion, NextMove, PhraseQuestion, PolicyCost, PolicyNotice, UnservedQuestion
from agent.programs.program_types import ProgramQuestion, WrittenProgram
from agent.solutions.protocol import ChosenSolution, FilledSolution, FillQuestion, SolutionQuestion
from domain.errors import BudgetExceededError, FootpathError, InvalidDecisionError, ModelUnavailableError
from domain.plan import StepResult
from domain.tool import ToolDoc
from tests.support.policy_contract import situation

T = TypeVar("T")
BUSY = ModelUnavailableError("it is busy", "busy")
SLOW = ModelUnavailableError("it is slow", "timeout")
KEY = ModelUnavailableError("wrong key", "key", lasting=True)
SPENT = BudgetExceededError("no calls left")
USELESS = InvalidDecisionError("no use")


class Scripted(Decider):
    """Decides, or raises what the script says next; ``asked`` counts."""

    def __init__(self, name: str, *script: FootpathError | None, pieces: Sequence[str] = ()) -> None:
        self.name = name
        self.cost = PolicyCost()
        self.notices: list[PolicyNotice] = []
        self.can_write_programs = name != "offline"
        self.asked = 0
        self._script = list(script)
        self._pieces = pieces or (name,)

    def _next(self) -> None:
        self.asked += 1
        error = self._script.pop(0) if self._script else None
        if error is not None:
            raise error

    async def decide(self, question: PolicyQuestion[T]) -> T:
        self._next()
        return await question.put_to(self)

    async def choose(self, situation: MoveQuestion) -> NextMove:
        return NextMove("give_up", self.name)

    async def fill(self, question: FillQuestion) -> FilledSolution:
        return FilledSolution(fits=False, values={}, reason=self.name)

    async def choose_solution(self, question: SolutionQuestion) -> ChosenSolution:
        return ChosenSolution(None, reason=self.name)

    async def write(self, question: ProgramQuestion) -> WrittenProgram:
        return WrittenProgram(f'"{self.name}"')

    async def phrase(self, question: PhraseQuestion) -> str:
        return self.name

    def find_unserved(self, question: UnservedQuestion) -> tuple[str, ...]:
        return (self.name,)

    async def answer(self, request: str, steps: Sequence[tuple[ToolDoc, StepResult]]) -> AsyncIterator[str]:
        for piece in self._pieces:
            yield piece
        self._next()


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def made(*script: FootpathError | None, breaker: CircuitBreaker | None = None, pieces: Sequence[str] = ()) -> tuple[FallbackPolicy, Scripted]:  # fmt: skip
    first = Scripted("llm", *script, pieces=pieces)
    return FallbackPolicy(first, Scripted("offline"), breaker or CircuitBreaker()), first


async def deciders(policy: FallbackPolicy, decisions: int) -> list[str]:
    return [(await policy.decide(situation())).reason for _ in range(decisions)]


async def test_without_failures_nothing_is_said() -> None:
    policy, _ = made()
    assert await deciders(policy, 3) == ["llm"] * 3
    assert policy.notices == []
    assert policy.name == "llm"


async def test_a_failed_decision_is_the_second_policys_and_the_change_is_told_both_ways() -> None:
    policy, _ = made(BUSY, BUSY)
    assert await deciders(policy, 4) == ["offline", "offline", "llm", "llm"]
    assert [(n.old_policy, n.new_policy, n.reason) for n in policy.notices] == [
        ("llm", "offline", "it is busy"), ("offline", "llm", "the model answers again"),
    ]  # fmt: skip


async def test_failures_in_a_row_open_the_breaker_until_a_trial_succeeds() -> None:
    clock = Clock()
    policy, first = made(
        BUSY, BUSY, BUSY, BUSY, breaker=CircuitBreaker(failure_threshold=3, pause_seconds=60, clock=clock)
    )
    assert await deciders(policy, 10) == ["offline"] * 10
    assert first.asked == 3
    clock.now = 61
    assert await deciders(policy, 3) == ["offline"] * 3
    assert first.asked == 4
    clock.now = 122
    assert await deciders(policy, 3) == ["llm"] * 3
    assert [n.new_policy for n in policy.notices] == ["offline", "llm"]


@pytest.mark.parametrize("error", [KEY, SLOW], ids=["lasting", "timeout"])
async def test_what_lasts_or_costs_much_opens_it_at_once_for_all_runs(error: ModelUnavailableError) -> None:
    breaker = CircuitBreaker()
    policy, first = made(error, breaker=breaker)
    assert await deciders(policy, 5) == ["offline"] * 5
    assert first.asked == 1
    other, asked = made(breaker=breaker)
    assert await deciders(other, 2) == ["offline"] * 2
    assert asked.asked == 0
    assert [n.reason for n in other.notices] == [f"the model is left alone for a while: {error}"]


async def test_a_spent_budget_ends_the_models_part_and_is_no_failure() -> None:
    breaker = CircuitBreaker()
    policy, first = made(SPENT, breaker=breaker)
    assert await deciders(policy, 3) == ["offline"] * 3
    assert first.asked == 1
    assert not breaker.is_open
    assert [n.reason for n in policy.notices] == ["no calls left"]


async def test_a_useless_decision_is_replaced_silently() -> None:
    policy, _ = made(USELESS)
    assert (await policy.decide(situation())).reason == "offline"
    assert policy.notices == []
    assert await deciders(policy, 1) == ["llm"]


async def answered(policy: FallbackPolicy) -> str:
    return "".join([piece async for piece in policy.answer("request", [])])


async def test_an_answer_that_breaks_off_keeps_what_was_said() -> None:
    policy, _ = made(BUSY, pieces=("It is ", "war"))
    assert await answered(policy) == f"It is war{BROKEN_OFF_NOTE}offline"
    assert [n.new_policy for n in policy.notices] == ["offline"]


@pytest.mark.parametrize("error", [BUSY, USELESS, SPENT])
async def test_every_failed_answer_is_told(error: FootpathError) -> None:
    policy, _ = made(error)
    assert (await answered(policy)).endswith("offline")
    assert [n.reason for n in policy.notices] == [str(error)]


async def test_a_whole_answer_stands_alone() -> None:
    policy, _ = made(pieces=("It is ", "warm."))
    assert await answered(policy) == "It is warm."


def test_a_success_forgets_earlier_failures() -> None:
    breaker = CircuitBreaker(failure_threshold=2)
    breaker.record_failure("a", opens_now=False)
    breaker.record_success()
    breaker.record_failure("b", opens_now=False)
    assert breaker.allow_request()
    breaker.record_failure("c", opens_now=False)
    assert not breaker.allow_request()
    assert breaker.last_failure == "c"


def test_half_open_lets_one_through_a_pause() -> None:
    clock = Clock()
    breaker = CircuitBreaker(failure_threshold=1, pause_seconds=10, clock=clock)
    breaker.record_failure("a", opens_now=False)
    clock.now = 11
    assert [breaker.allow_request(), breaker.allow_request()] == [True, False]
    clock.now = 22
    assert breaker.allow_request()
    breaker.record_success()
    assert breaker.allow_request()
    assert breaker.allow_request()
