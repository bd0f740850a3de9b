"""Limits of a run, and what it has used of them."""

import time
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field

from agent.policy.protocol import Cost
from agent.stopwatch import Stopwatch
from domain.model import Model


class Budget(Model):
    """Limits of one run."""

    decisions: int = 64
    model_calls: int = 64
    tokens: int = 200_000
    """Prompt and completion tokens together."""
    seconds: float = 120.0
    """Wall time of the whole run, without the time spent waiting for its user."""
    depth: int = 8
    """Longest path, in tools."""
    reflections: int = 3
    changes: int = 10
    """Calls that are sent and may change something."""


@dataclass(slots=True)
class Meter:
    """Usage of one run so far, measured against its budget."""

    budget: Budget
    cost: Cost
    """The policy's own account of model calls and tokens."""
    clock: Callable[[], float] = time.monotonic
    used_up: Callable[[], str] = lambda: ""
    """Names an exhausted limit that the run shares with others (such as a quota); empty while there is none."""
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

    def within_time(self) -> AbstractAsyncContextManager[None]:
        """Return a context that raises ``TimeoutError`` when the run's time limit is reached."""
        return self.stopwatch.within(self.budget.seconds)

    @property
    def exhausted(self) -> str:
        """The limit that is used up, in words; empty while none is."""
        used = (
            ("decisions", self.decisions, self.budget.decisions),
            ("model calls", self.cost.model_calls, self.budget.model_calls),
            ("tokens", self.cost.prompt_tokens + self.cost.completion_tokens, self.budget.tokens),
            ("seconds", self.elapsed, self.budget.seconds),
        )
        for name, amount, bound in used:
            # A limit of 0 on what a policy without a model never uses is not exhausted.
            spends_nothing = amount == 0 and name in ("model calls", "tokens")
            if amount >= bound and not spends_nothing:
                return f"the budget of {bound:g} {name} is used up"
        return self.used_up()

    @property
    def may_reflect(self) -> bool:
        """Return whether another reflection is allowed. Running out of them does not end the search."""
        return self.reflections < self.budget.reflections

    @property
    def may_change(self) -> bool:
        """Return whether another changing call may be sent.

        Running out affects neither the search nor calls that only read.
        """
        return self.changes < self.budget.changes
