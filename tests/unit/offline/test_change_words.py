"""A change that was ordered and not made is noticed by the rules."""

import pytest

from offline.change_orders import find_unmet_orders
from tests.unit.agent.test_change_report import COMPLETE, LIST, doc


@pytest.mark.parametrize(
    "clause", ["Complete the task tsk_1", "Mark the task 'Book the ferry' as done", "Please finish the task tsk_1", "tick off tsk_1"]
)  # fmt: skip
def test_reading_does_not_do_what_was_ordered(clause: str) -> None:
    at_hand = [(LIST, (0.7,)), (COMPLETE, (0.8,))]
    assert find_unmet_orders([clause], at_hand, [(LIST, (0.7,))]) == (clause,)
    assert find_unmet_orders([clause], at_hand, [(LIST, (0.7,)), (COMPLETE, (0.8,))]) == ()


@pytest.mark.parametrize(
    "clause", ["Which tasks are done?", "Mark Twain's tasks", "List the tasks to complete", "Create"]
)
def test_a_question_orders_nothing(clause: str) -> None:
    assert find_unmet_orders([clause], [(LIST, (0.7,)), (COMPLETE, (0.8,))], [(LIST, (0.7,))]) == ()


def test_a_verb_of_the_tools_own_counts_where_the_tool_is_more_to_the_point() -> None:
    quote = doc("quote_price", "POST")
    clause = "quote its abstract"
    assert find_unmet_orders([clause], [(quote, (0.3,))], [(LIST, (0.4,))]) == ()
    assert find_unmet_orders([clause], [(quote, (0.5,))], [(LIST, (0.4,))]) == (clause,)
