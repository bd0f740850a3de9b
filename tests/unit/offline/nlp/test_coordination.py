import pytest

from offline.nlp.clauses import split_clauses, split_parts
from offline.nlp.coordination import split_coordinated


@pytest.mark.parametrize(
    ("clause", "named"),
    [
        ("the weather in Rome and Oslo", ["Rome", "Oslo"]),
        ("the weather in Rome and in Oslo", ["Rome", "Oslo"]),
        ("which is warmer, Rome, Oslo or Bern", ["Rome", "Oslo", "Bern"]),
        ("convert 5 USD to the currency of Norway and to the currency of Japan", ["Norway", "Japan"]),
        ("how much are 100 USD and 200 EUR in CHF", ["100 USD", "200 EUR"]),
        ('who wrote "Dune" and "Emma"', ['"Dune"', '"Emma"']),
    ],
)
def test_things_side_by_side_are_told_apart(clause: str, named: list[str]) -> None:
    assert [thing for _, thing in split_coordinated(clause)] == named
    for text, thing in split_coordinated(clause):
        assert thing in text
        assert not any(other in text for other in named if other != thing)


@pytest.mark.parametrize(
    "clause",
    [
        "the weather in Rome", "the weather in Rome for 3 days", 'the author of "War and Peace"', "", "and or than",
        "book the room from 10:00 to 11:30", "a table between 18:00 and 20:00",
    ],
)  # fmt: skip
def test_one_thing_is_left_whole(clause: str) -> None:
    assert split_coordinated(clause) == ()


def test_parts_keep_the_rest_of_the_request() -> None:
    found = split_parts("Compare the holidays of Norway and Japan in 2026. And who wrote Dune?")
    assert [part.thing for part in found] == ["Norway", "Japan", ""]
    assert found[1].whole_request == "Compare the holidays of Japan in 2026. And who wrote Dune?"
    assert (
        found[0].clauses == split_clauses("Compare the holidays of Norway and Japan in 2026. And who wrote Dune?")[:1]
    )


@pytest.mark.parametrize(
    ("request_text", "asked"),
    [
        ("On 9 July 2024, how much was one euro?", ("On 9 July 2024, how much was one euro",)),
        ("Where and when was Ada born?", ("Where and when was Ada born",)),
    ],
)
def test_settings_stay(request_text: str, asked: tuple[str, ...]) -> None:
    assert split_clauses(request_text) == asked
