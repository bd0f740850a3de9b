import pytest

from agent.budget import Budget, BudgetMeter
from agent.policy.protocol import PolicyCost


def test_a_fresh_meter_is_not_exhausted_even_where_no_model_call_is_allowed() -> None:
    assert BudgetMeter(Budget(model_calls=0, tokens=0), PolicyCost()).exhausted == ""


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (BudgetMeter(Budget(decisions=3), PolicyCost(), decisions=3), "3 decisions"),
        (BudgetMeter(Budget(model_calls=2), PolicyCost(model_calls=2)), "2 model calls"),
        (BudgetMeter(Budget(tokens=100), PolicyCost(prompt_tokens=60, completion_tokens=40)), "100 tokens"),
        (BudgetMeter(Budget(model_calls=0), PolicyCost(model_calls=1)), "0 model calls"),
    ],
)
def test_each_bound_is_named_when_it_is_used_up(meter: BudgetMeter, words: str) -> None:
    assert words in meter.exhausted


def test_time_runs_from_the_start_of_the_run() -> None:
    now = iter([100.0, 104.0, 105.0])
    meter = BudgetMeter(Budget(seconds=5.0), PolicyCost(), clock=lambda: next(now))
    assert meter.exhausted == ""
    assert "5 seconds" in meter.exhausted


def test_running_out_of_reflections_ends_no_walk() -> None:
    meter = BudgetMeter(Budget(reflections=1), PolicyCost(), reflections=1)
    assert not meter.may_reflect
    assert meter.exhausted == ""


def test_what_is_shared_with_other_runs_ends_a_run_too() -> None:
    told = ""
    meter = BudgetMeter(Budget(), PolicyCost(), find_exhausted_quota=lambda: told)
    assert meter.exhausted == ""
    told = "all tokens of today are used up"
    assert meter.exhausted == told
