"""What a user may use in a day (UTC), over all servers on the same rows, and what is left of it."""

from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Protocol

from agent.plans.cost_estimate import ModelPrice
from domain.errors import OverLimitError, UsageError
from server.storage.usage import DailyTotal, OwnLimits
from wiring.settings import Settings


class TokensTaken(Protocol):
    """What was used, as far as it costs something."""

    @property
    def prompt_tokens(self) -> int: ...

    @property
    def completion_tokens(self) -> int: ...

    @property
    def cost(self) -> float | None: ...


@dataclass(frozen=True, slots=True)
class Quotas:
    """Of one day and user; 0: no limit. ``price``: of a language model's tokens, None where none is known."""

    runs: int = 0
    tokens: int = 0
    cost: float = 0.0
    price: ModelPrice | None = None

    def of(self, own: OwnLimits) -> "Quotas":
        """Those of a user of whom something else was said."""
        said = {name: value for name, value in own.model_dump().items() if value is not None}
        return replace(self, **said) if said else self

    def cost_of(self, used: TokensTaken) -> float | None:
        """What the tokens cost: as it was counted when they were taken, else at the settings' prices; None where no price is known."""
        if used.cost is not None:
            return used.cost
        if self.price is None:
            return None
        return (used.prompt_tokens * self.price.prompt + used.completion_tokens * self.price.completion) / 1_000_000

    def check_run(self, used: DailyTotal, policy: str) -> None:
        """``OverLimitError`` where a run is one too many; ``used`` counts it. Tokens are asked about where it would take any."""
        if self.runs and used.runs > self.runs:
            raise _over(_all_used(self.runs, "run"), used)
        if policy == "llm" and (refusal := self.used_up(used)):
            raise _over(refusal, used)

    def used_up(self, used: DailyTotal) -> str:
        """Which limit of what language models may take is reached, in words; empty while none is."""
        if self.tokens and used.tokens >= self.tokens:
            return _all_used(self.tokens, "token", " of language models")
        cost = self.cost_of(used)
        if self.cost and cost is not None and cost >= self.cost:
            return f"what language models may cost you today ({self.cost:g}) is used up"
        return ""

    def most_tokens(self, used: DailyTotal, most: int) -> int:
        """``most``, or what is left of the tokens where that is less."""
        return min(most, max(0, self.tokens - used.tokens)) if self.tokens else most


def until(used: DailyTotal) -> str:
    """When there is more, and who can give it, in words."""
    return f"there is more from {used.until:%Y-%m-%d %H:%M} UTC on, or an administrator raises the limit"


def quotas_of(settings: Settings) -> Quotas:
    """Those of the settings. ``UsageError``: a limit of costs, and a model without prices."""
    prompt, completion = settings.model_price_prompt, settings.model_price_completion
    price = None if prompt is None or completion is None else ModelPrice(prompt, completion)
    if settings.user_cost_per_day and price is None and settings.model_url:
        raise UsageError(
            "FOOTPATH_USER_COST_PER_DAY needs to know what tokens cost: set FOOTPATH_MODEL_PRICE_PROMPT and "
            "FOOTPATH_MODEL_PRICE_COMPLETION"
        )
    return Quotas(settings.user_runs_per_day, settings.user_tokens_per_day, settings.user_cost_per_day, price)


def _all_used(count: int, one: str, of: str = "") -> str:
    return f"your 1 {one}{of} of today is used up" if count == 1 else f"your {count:,} {one}s{of} of today are used up"


def _over(what: str, used: DailyTotal) -> OverLimitError:
    return OverLimitError(f"{what}; {until(used)}", (used.until - datetime.now(UTC)).total_seconds())
