"""What a run may use, and what it has used."""

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from agent.policy.protocol import Cost
from agent.stopwatch import Stopwatch
from domain.model import Model


class Budget(Model):
    """Bounds of a run. ``depth`` is the longest path in tools; ``seconds`` is wall time of the whole run, but for what it waits for its
    user; ``changes``: calls that may change something and are sent.
    """

    decisions: int = 64
    model_calls: int = 64
    tokens: int = 200_000
    seconds: float = 120.0
    depth: int = 8
    reflections: int = 3
    changes: int = 10


@dataclass(slots=True)
class Meter:
    """What one run has used so far, against its budget. ``cost`` is the policy's own account.

    ``used_up``: says what else, that the run shares with others, is used up; empty while nothing is.
    """

    budget: Budget
    cost: Cost
    clock: Callable[[], float] = time.monotonic
    used_up: Callable[[], str] = lambda: ""
    decisions: int = 0
    reflections: int = 0
    changes: int = 0
    stopwatch: Stopwatch = field(init=False)

    def __post_init__(self) -> None:
        self.stopwatch = Stopwatch(self.clock)

    @property
    def elapsed(self) -> float:
        """Seconds since the run began, but for what it waited for its user."""
        return self.stopwatch.elapsed

    def within_time(self) -> AbstractAsyncContextManager[None]:
        """``TimeoutError`` where the time bound is reached before this is left."""
        return self.stopwatch.within(self.budget.seconds)

    @property
    def exhausted(self) -> str:
        """Which bound is used up, in words; empty while none is."""
        used = (
            ("decisions", self.decisions, self.budget.decisions),
            ("model calls", self.cost.model_calls, self.budget.model_calls),
            ("tokens", self.cost.prompt_tokens + self.cost.completion_tokens, self.budget.tokens),
            ("seconds", self.elapsed, self.budget.seconds),
        )
        for name, amount, bound in used:
            spends_nothing = amount == 0 and name in ("model calls", "tokens")
            if amount >= bound and not spends_nothing:
                return f"the budget of {bound:g} {name} is used up"
        return self.used_up()

    @property
    def may_reflect(self) -> bool:
        """Whether another reflection is allowed; running out of them ends no walk."""
        return self.reflections < self.budget.reflections

    @property
    def may_change(self) -> bool:
        """Whether another call that may change something is sent; running out of them ends no walk, and no call that only reads."""
        return self.changes < self.budget.changes
