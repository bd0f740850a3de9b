"""Changes in the order in which they are told."""

import pytest

from offline.change_orders import find_ordered_changes
from offline.choice import find_later_changes

CLAUSES = ["what is the weather", 'put "A" into my diary', 'cancel the order "B"']


def test_a_change_waits_for_those_told_before_it() -> None:
    assert find_later_changes(CLAUSES, [0, 1, 2]) == {2}
    assert find_later_changes(CLAUSES, [0, 2]) == frozenset()


@pytest.mark.parametrize(("clause", "orders"), [("enter the visit in our calendar", True), ("make a list of rivers", False)])  # fmt: skip
def test_a_loose_word_orders_where_it_says_into_whose_things(clause: str, orders: bool) -> None:
    assert bool(find_ordered_changes(clause)) is orders
