"""What a user may use in a day: counted in the rows, for all servers, and kept when what it was used for is removed."""

import asyncio
from datetime import UTC, datetime, timedelta

import pytest

from agent.budget import Budget, BudgetMeter
from agent.plans.cost_estimate import ModelPrice
from agent.policy.protocol import PolicyCost
from domain.errors import OverLimitError, UsageError
from server.quotas import Quotas, quotas_of
from server.runs.token_usage import count_on_exit, restore_cost, start_token_usage, to_stored_usage
from server.storage.runs import RunChoices
from server.storage.storage import Storage
from tests.contract.rows.conftest import ManualClock
from tests.support.row_samples import CHOICES, run, user
from wiring.settings import Settings

MODEL = RunChoices(planner="dfs", policy="llm")


async def test_so_many_runs_a_day_however_fast_they_are_asked_for(storage: Storage, clock: ManualClock) -> None:
    ada, eve, quotas = await user(storage), await user(storage, "eve"), Quotas(runs=3)
    talks = [await storage.conversations.add(ada.id) for _ in range(6)]

    async def asked(talk: str, who: str = ada.id) -> object:
        return await storage.runs.add(
            who, talk, "now", CHOICES, check_limits=lambda used, _: quotas.check_run(used, "offline")
        )

    done = await asyncio.gather(*(asked(talk.id) for talk in talks), return_exceptions=True)
    refused = [one for one in done if isinstance(one, OverLimitError)]
    assert len(refused) == 3
    assert "2026-03-02 00:00 UTC" in str(refused[0])
    for talk in talks:
        await storage.conversations.remove(talk.id, ada.id)
    assert (await storage.daily_usage.get_today(ada.id)).runs == 3, (
        "what is removed stays counted; what was refused is not"
    )
    with pytest.raises(OverLimitError):
        await asked((await storage.conversations.add(ada.id)).id)
    await asked((await storage.conversations.add(eve.id)).id, eve.id)
    clock.on(hours=12)
    await asked((await storage.conversations.add(ada.id)).id)


async def test_tokens_are_counted_while_a_run_is_made_and_end_it(storage: Storage) -> None:
    ada, quotas, cost, other = await user(storage), Quotas(tokens=1000), PolicyCost(), PolicyCost()
    mine = await start_token_usage(storage.daily_usage, ada.id, quotas, cost, uses_model=True)
    beside = await start_token_usage(storage.daily_usage, ada.id, quotas, other, uses_model=True)
    assert mine.compute_token_limit(200_000) == 1000
    async with count_on_exit(mine):
        cost.prompt_tokens, cost.completion_tokens = 300, 100
        assert mine.get_refusal() == ""
        await mine.count()
        other.prompt_tokens = 500
        await beside.count()
        cost.completion_tokens = 200
        await mine.count()
        assert "1,000 tokens" in mine.get_refusal(), "what another run has taken meanwhile counts"
        cost.completion_tokens = 250
    used = await storage.daily_usage.get_today(ada.id)
    assert (used.prompt_tokens, used.completion_tokens) == (800, 250)
    with pytest.raises(OverLimitError):
        await start_token_usage(storage.daily_usage, ada.id, quotas, PolicyCost(), uses_model=True)
    without = await start_token_usage(storage.daily_usage, ada.id, quotas, PolicyCost(), uses_model=False)
    meter = BudgetMeter(
        Budget(tokens=without.compute_token_limit(200_000)), PolicyCost(), find_exhausted_quota=without.get_refusal
    )
    assert meter.exhausted == "", "a run that takes none goes on"


async def test_what_a_run_took_before_it_waited_is_its_own_and_counted_once(storage: Storage) -> None:
    ada, cost, later = await user(storage), PolicyCost(), PolicyCost()
    made, _ = await run(storage, ada)
    (held,) = await storage.run_leases.claim("here", timedelta(seconds=60))
    async with count_on_exit(await start_token_usage(storage.daily_usage, ada.id, Quotas(), cost, uses_model=True)):
        cost.model_calls, cost.prompt_tokens, cost.by_purpose["program"] = 1, 700, 1
    await storage.run_leases.store_usage(made.id, "elsewhere", to_stored_usage(PolicyCost(model_calls=9)))
    await storage.run_leases.store_usage(made.id, "here", to_stored_usage(cost))
    await storage.run_leases.release(held.id, "here", "queued")
    (held,) = await storage.run_leases.claim("there", timedelta(seconds=60))
    restore_cost(later, held.usage)
    assert later == cost
    async with count_on_exit(
        await start_token_usage(storage.daily_usage, ada.id, quotas := Quotas(tokens=1000), later, uses_model=True)
    ):
        later.prompt_tokens += 100
    assert (await storage.daily_usage.get_today(ada.id)).prompt_tokens == 800
    again = await start_token_usage(storage.daily_usage, ada.id, quotas, later, uses_model=True)
    assert (again.compute_token_limit(200_000), again.compute_token_limit(900)) == (1000, 900), (
        "with the 800 that it has taken"
    )


async def test_tokens_of_a_run_that_is_cut_off_or_removed_are_counted(storage: Storage) -> None:
    ada, cost = await user(storage), PolicyCost()
    made, talk = await run(storage, ada)
    mine = await start_token_usage(storage.daily_usage, ada.id, Quotas(), cost, uses_model=True)

    async def making() -> None:
        async with count_on_exit(mine):
            cost.prompt_tokens = 70
            await asyncio.sleep(60)

    task = asyncio.create_task(making())
    await asyncio.sleep(0)
    await storage.conversations.remove(talk.id, ada.id)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert await storage.runs.get(made.id) is None
    assert (await storage.daily_usage.get_today(ada.id)).tokens == 70


async def test_costs_are_those_of_the_prices(storage: Storage) -> None:
    ada, quotas = await user(storage), Quotas(cost=2.0, price=ModelPrice(prompt=1.0, completion=4.0))
    talk = await storage.conversations.add(ada.id)
    await storage.daily_usage.add(ada.id, prompt_tokens=1_000_000, completion_tokens=249_000)

    async def asked() -> object:
        return await storage.runs.add(
            ada.id, talk.id, "now", MODEL, check_limits=lambda used, _: quotas.check_run(used, "llm")
        )

    await asked()
    used = await storage.daily_usage.add(ada.id, prompt_tokens=0, completion_tokens=1_000)
    assert quotas.cost_of(used) == pytest.approx(2.0)
    with pytest.raises(OverLimitError, match="cost you today"):
        await asked()


async def test_days_of_long_ago_are_forgotten(storage: Storage, clock: ManualClock) -> None:
    ada = await user(storage)
    await storage.daily_usage.add(ada.id, prompt_tokens=1, completion_tokens=0)
    clock.on(days=40)
    await storage.daily_usage.delete_old(timedelta(days=31))
    clock.at = datetime(2026, 3, 1, 13, tzinfo=UTC)
    assert (await storage.daily_usage.get_today(ada.id)).tokens == 0


def test_a_limit_of_costs_needs_prices() -> None:
    with pytest.raises(UsageError, match="FOOTPATH_MODEL_PRICE_PROMPT"):
        quotas_of(Settings(user_cost_per_day=1, model_url="http://127.0.0.1:9/v1"))
    assert quotas_of(Settings(user_cost_per_day=1)).price is None, "model services have prices of their own"
