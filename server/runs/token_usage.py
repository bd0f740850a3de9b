"""Token usage of a run's language model, counted for its user while the run is executed.

It does not matter which process executes the run, or how it ends.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from agent.policy.protocol import PolicyCost
from domain.errors import FootpathError, OverLimitError
from domain.model import JsonObject
from domain.usage import Usage
from server.quotas import Quotas, until
from server.storage.database import run_to_completion
from server.storage.usage import DailyTotal, DailyUsage

_log = logging.getLogger(__name__)


class RunTokenUsage:
    """Token usage of one run. Created by :func:`start_token_usage` only."""

    def __init__(
        self, days: DailyUsage, user_id: str, quotas: Quotas, cost: PolicyCost, used: DailyTotal, *, uses_model: bool
    ) -> None:
        self._days = days
        self._user_id = user_id
        self._quotas = quotas
        self._cost = cost
        self._used = used
        self._uses_model = uses_model
        self._counted_tokens = (cost.prompt_tokens, cost.completion_tokens)
        self._counted_calls = cost.model_calls
        self._counted_money = cost.money

    def get_refusal(self) -> str:
        """Return why no more tokens may be used; empty while more may, or the run uses no model.

        What other runs use is known as of the last :meth:`count`.
        """
        if not self._uses_model:
            return ""
        refusal = self._quotas.used_up(self._used.plus(*self._uncounted))
        return f"{refusal}; {until(self._used)}" if refusal else ""

    def compute_token_limit(self, max_tokens: int) -> int:
        """Return the largest number of tokens of this run, including those it has used already."""
        used = sum(self._counted_tokens)
        return used + self._quotas.most_tokens(self._used, max_tokens - used)

    async def count(self) -> None:
        """Count what was used since the last time. Where the database is out of reach, the next call counts it too."""
        prompt, completion, money = self._uncounted
        calls, paid = self._cost.model_calls, self._cost.money
        new_calls = calls - self._counted_calls
        if not (prompt or completion or new_calls):
            return
        try:
            used = await self._days.add(
                self._user_id, prompt_tokens=prompt, completion_tokens=completion, model_calls=new_calls, cost=money
            )
        except FootpathError as error:
            _log.warning("%d tokens could not be counted: %s", prompt + completion, error)
            return
        self._used, self._counted_calls, self._counted_money = used, calls, paid
        # Only what was just added: tokens used during the query above are counted the next time.
        self._counted_tokens = (self._counted_tokens[0] + prompt, self._counted_tokens[1] + completion)

    @property
    def _uncounted(self) -> tuple[int, int, float | None]:
        money = None if self._cost.money is None else self._cost.money - (self._counted_money or 0.0)
        return (
            self._cost.prompt_tokens - self._counted_tokens[0],
            self._cost.completion_tokens - self._counted_tokens[1],
            money,
        )


def restore_cost(cost: PolicyCost, stored_usage: JsonObject | None) -> None:
    """Add what a run used until it was released, ``stored_usage``, to the cost of the process that resumes it."""
    usage = Usage.model_validate(stored_usage or {})
    cost.model_calls += usage.model_calls
    cost.prompt_tokens += usage.prompt_tokens
    cost.completion_tokens += usage.completion_tokens
    if usage.cost is not None:
        cost.money = (cost.money or 0.0) + usage.cost
    for purpose, calls in usage.by_purpose.items():
        cost.by_purpose[purpose] = cost.by_purpose.get(purpose, 0) + calls
    for purpose, tokens in usage.tokens_by_purpose.items():
        cost.tokens_by_purpose[purpose] = cost.tokens_by_purpose.get(purpose, 0) + tokens


def to_stored_usage(cost: PolicyCost) -> JsonObject:
    """Return the usage that is stored for a released run, for :func:`restore_cost`."""
    usage = Usage(
        model_calls=cost.model_calls,
        prompt_tokens=cost.prompt_tokens,
        completion_tokens=cost.completion_tokens,
        by_purpose=dict(cost.by_purpose),
        tokens_by_purpose=dict(cost.tokens_by_purpose),
        cost=cost.money,
    )
    return usage.model_dump(mode="json")


@asynccontextmanager
async def count_on_exit(usage: RunTokenUsage) -> AsyncGenerator[None]:
    """Count what the run has used when the block is left, however that happens."""
    try:
        yield
    finally:
        await run_to_completion(usage.count())


async def start_token_usage(
    days: DailyUsage,
    user_id: str,
    quotas: Quotas,
    cost: PolicyCost,
    *,
    uses_model: bool,
    used: DailyTotal | None = None,
) -> RunTokenUsage:
    """Start counting for a run that starts or is resumed.

    ``OverLimitError``: it needs a model, and the user has no tokens left.

    ``used``: the user's total of today, loaded where it is None. ``uses_model``: the run uses a language model.
    """
    used = await days.get_today(user_id) if used is None else used
    token_counter = RunTokenUsage(days, user_id, quotas, cost, used, uses_model=uses_model)
    if refusal := token_counter.get_refusal():
        raise OverLimitError(refusal, 0)
    return token_counter
