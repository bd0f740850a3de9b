import pytest

from agent.budget import Budget, Meter
from agent.policy.protocol import Cost


def test_a_fresh_meter_is_not_exhausted_even_where_no_model_call_is_allowed() -> None:
    assert Meter(Budget(model_calls=0, tokens=0), Cost()).exhausted == ""


@pytest.mark.parametrize(
    ("meter", "words"),
    [
        (Meter(Budget(decisions=3), Cost(), decisions=3), "3 decisions"),
        (Meter(Budget(model_calls=2), Cost(model_calls=2)), "2 model calls"),
        (Meter(Budget(tokens=100), Cost(prompt_tokens=60, completion_tokens=40)), "100 tokens"),
        (Meter(Budget(model_calls=0), Cost(model_calls=1)), "0 model calls"),
    ],
)
def test_each_bound_is_named_when_it_is_used_up(meter: Meter, words: str) -> None:
    assert words in meter.exhausted


def test_time_runs_from_the_start_of_the_run() -> None:
    now = iter([100.0, 104.0, 105.0])
    meter = Meter(Budget(seconds=5.0), Cost(), clock=lambda: next(now))
    assert meter.exhausted == ""
    assert "5 seconds" in meter.exhausted


def test_running_out_of_reflections_ends_no_walk() -> None:
    meter = Meter(Budget(reflections=1), Cost(), reflections=1)
    assert not meter.may_reflect
    assert meter.exhausted == ""


def test_what_is_shared_with_other_runs_ends_a_run_too() -> None:
    told = ""
    meter = Meter(Budget(), Cost(), used_up=lambda: told)
    assert meter.exhausted == ""
    told = "all tokens of today are used up"
    assert meter.exhausted == told
