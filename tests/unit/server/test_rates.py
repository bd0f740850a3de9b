"""A bucket of requests for each user, filled again as time passes."""

import pytest

from domain.errors import OverLimitError
from server import rates as module
from server.rates import Rates


def test_a_user_may_ask_so_many_times_and_then_at_that_pace() -> None:
    now = [100.0]
    rates = Rates(60, clock=lambda: now[0])
    for _ in range(60):
        rates.take("ada")
    with pytest.raises(OverLimitError) as refused:
        rates.take("ada")
    assert 0 < refused.value.retry_after <= 1
    rates.take("eve")
    now[0] += 1
    rates.take("ada")
    with pytest.raises(OverLimitError):
        rates.take("ada")
    now[0] += 600
    assert rates.left("ada") == 60


def test_none_is_any_number() -> None:
    rates = Rates(0)
    for _ in range(10_000):
        rates.take("ada")


def test_who_has_not_asked_for_a_while_is_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MOST", 3)
    now = [0.0]
    rates = Rates(2, clock=lambda: now[0])
    for name in ("a", "b", "c"):
        rates.take(name)
    now[0] += 60
    rates.take("d")
    assert rates.remembered == 1
    rates.take("d")
    with pytest.raises(OverLimitError):
        rates.take("d")
