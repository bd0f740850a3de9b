"""What is told before an order is no task of its own."""

import pytest

from offline.nlp.clauses import clauses
from offline.nlp.stories import explains, tells

ORDER = "reserve a table for four in the best restaurant at 19:30"


@pytest.mark.parametrize(
    "told",
    [
        "We are coming to Oslo on Friday",
        "My family arrives in Oslo on Friday",
        "Our guests land in Oslo on Friday and stay until Sunday",
        "Three of us land in Oslo on Friday",
        "Four friends come to Oslo on Friday",
        "Two friends and I are in Oslo on Friday",
        "The team meets in Oslo on Friday",
        "Ada Berg travels to Oslo on Friday and leaves on Sunday",
        "Since we are coming to Oslo on Friday",
        "Because I am in Oslo on Friday",
    ],
)
@pytest.mark.parametrize("joint", [", ", ", please ", ", so ", ". So please "])
def test_what_is_told_before_an_order_is_not_asked(told: str, joint: str) -> None:
    assert clauses(f"{told}{joint}{ORDER}") == (ORDER,)


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("Since 2020, how many people live in Oslo?", ("Since 2020, how many people live in Oslo",)),
        ("The train that arrives first in Oslo", ("The train that arrives first in Oslo",)),
        ("Number of visits to Oslo and list the museums there", ("Number of visits to Oslo", "list the museums there")),
        ("On Friday, reserve a table in Oslo", ("On Friday, reserve a table in Oslo",)),
    ],
)
def test_what_only_looks_told_stays(request_: str, expected: tuple[str, ...]) -> None:
    assert clauses(request_) == expected


def test_a_name_behind_a_comma_belongs_to_the_order() -> None:
    assert clauses(f"{ORDER}, name Ada Berg") == (f"{ORDER}, name Ada Berg",)
    assert clauses("Find the book Dune, name its author") == ("Find the book Dune", "name its author")


def test_orders_and_questions_tell_nothing() -> None:
    assert not tells("Book Ada Berg a table", asks=True)
    assert tells("Ada Berg is my boss", asks=False)
    assert explains("I mean the boss")
