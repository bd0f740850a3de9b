"""Changes in the order in which they are told."""

import pytest

from offline.change_words import told_to_change
from offline.choice import told_later

CLAUSES = ["what is the weather", 'put "A" into my diary', 'cancel the order "B"']


def test_a_change_waits_for_those_told_before_it() -> None:
    assert told_later(CLAUSES, [0, 1, 2]) == {2}
    assert told_later(CLAUSES, [0, 2]) == frozenset()


@pytest.mark.parametrize(("clause", "orders"), [("enter the visit in our calendar", True), ("make a list of rivers", False)])  # fmt: skip
def test_a_loose_word_orders_where_it_says_into_whose_things(clause: str, orders: bool) -> None:
    assert bool(told_to_change(clause)) is orders
