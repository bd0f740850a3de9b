"""Changes in the order in which they are told, and documents held against what is asked."""

from dataclasses import dataclass

import pytest

from offline.change_words import told_to_change
from offline.turns import in_turn


@dataclass(frozen=True)
class Way:
    clause: int


CLAUSES = ["what is the weather", 'put "A" into my diary', 'cancel the order "B"']


def test_a_change_waits_for_those_told_before_it() -> None:
    assert in_turn(CLAUSES, [Way(0), Way(1), Way(2)]) == [Way(0), Way(1)]
    assert in_turn(CLAUSES, [Way(0), Way(2)]) == [Way(0), Way(2)]


@pytest.mark.parametrize(("clause", "orders"), [("enter the visit in our calendar", True), ("make a list of rivers", False)])  # fmt: skip
def test_a_loose_word_orders_where_it_says_into_whose_things(clause: str, orders: bool) -> None:
    assert bool(told_to_change(clause)) is orders
