"""Limits of a run, the meter of what it has used, and the stopwatch behind its time limit."""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass, field

from agent.policy.protocol import PolicyCost
from domain.model import Model


class Stopwatch:
    """Measures the seconds since its creation, without those in which it was paused."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._started = clock()
        self._paused_since: float | None = None
        self._pauses = 0
        self._timeouts: dict[asyncio.Timeout, float] = {}

    @property
    def elapsed(self) -> float:
        """Elapsed seconds, without those in which it was paused."""
        now = self._clock() if self._paused_since is None else self._paused_since
        return now - self._started

    @asynccontextmanager
    async def limit_time(self, limit: float) -> AsyncGenerator[None]:
        """Raise ``TimeoutError`` in the context when the stopwatch reaches ``limit`` seconds.

        The bound counts from the creation of the stopwatch, not from the beginning of the context. A pause postpones
        it.
        """
        async with asyncio.timeout(None if self._pauses else self._compute_remaining(limit)) as timeout:
            self._timeouts[timeout] = limit
            try:
                yield
            finally:
                del self._timeouts[timeout]

    @contextmanager
    def pause(self) -> Generator[None]:
        """Pause the stopwatch within the context.

        Overlapping pauses, as of concurrent subtasks, end with the last one.
        """
        if not self._pauses:
            self._paused_since = self._clock()
            self._reschedule_timeouts()
        self._pauses += 1
        try:
            yield
        finally:
            self._pauses -= 1
            if not self._pauses and self._paused_since is not None:
                # Moving the start forward takes the pause out of ``elapsed``.
                self._started += self._clock() - self._paused_since
                self._paused_since = None
                self._reschedule_timeouts()

    def _compute_remaining(self, bound: float) -> float:
        return max(0.0, bound - self.elapsed)

    def _reschedule_timeouts(self) -> None:
        """Set every pending timeout: to never while paused, else to when its bound will be reached."""
        now = asyncio.get_running_loop().time() if self._timeouts else 0.0
        for timeout, bound in self._timeouts.items():
            if not timeout.expired():
                timeout.reschedule(None if self._paused_since is not None else now + self._compute_remaining(bound))


class Budget(Model):
    """Limits of one run."""

    decisions: int = 64
    """Decisions of the policy, with or without a model."""
    model_calls: int = 64
    tokens: int = 200_000
    """Prompt and completion tokens together."""
    seconds: float = 120.0
    """Wall time of the whole run, without the time spent waiting for its user."""
    depth: int = 8
    """Longest path, in tools."""
    reflections: int = 3
    """Times that a search is resumed or restarted after a judgement."""
    changes: int = 10
    """Calls sent that may change something."""


@dataclass(slots=True)
class BudgetMeter:
    """Usage of one run so far, measured against its budget."""

    budget: Budget
    cost: PolicyCost
    """The policy's own account of model calls and tokens."""
    clock: Callable[[], float] = time.monotonic
    find_exhausted_quota: Callable[[], str] = lambda: ""
    """Returns the exhausted limit that the run shares with others, such as a quota; empty while there is none."""
    decisions: int = 0
    reflections: int = 0
    changes: int = 0
    stopwatch: Stopwatch = field(init=False)

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(self.clock)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, without the time spent waiting for its user."""
        return self.stopwatch.elapsed

    def limit_time(self) -> AbstractAsyncContextManager[None]:
        """Return a context that raises ``TimeoutError`` when the run's time limit is reached."""
        return self.stopwatch.limit_time(self.budget.seconds)

    @property
    def exhausted(self) -> str:
        """The first limit that is used up, in words; empty while none is."""
        usage = (
            ("decisions", self.decisions, self.budget.decisions),
            ("model calls", self.cost.model_calls, self.budget.model_calls),
            ("tokens", self.cost.prompt_tokens + self.cost.completion_tokens, self.budget.tokens),
            ("seconds", self.elapsed, self.budget.seconds),
        )
        for name, amount, limit in usage:
            # A limit of 0 on what a policy without a model never uses is not exhausted.
            spends_nothing = amount == 0 and name in ("model calls", "tokens")
            if amount >= limit and not spends_nothing:
                return f"the budget of {limit:g} {name} is used up"
        return self.find_exhausted_quota()

    @property
    def may_reflect(self) -> bool:
        """Return whether another reflection is allowed; without one the search goes on unreflected."""
        return self.reflections < self.budget.reflections

    @property
    def may_change(self) -> bool:
        """Return whether another changing call may be sent; calls that only read are never limited by this."""
        return self.changes < self.budget.changes
