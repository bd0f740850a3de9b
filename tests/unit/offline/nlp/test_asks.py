import pytest

from offline.nlp.clauses import split_asks


def parts_of(request: str) -> list[str]:
    return [ask.text for ask in split_asks(request)]


@pytest.mark.parametrize(
    ("request_", "parts"),
    [
        ("What is the weather in Oslo? Who wrote Dune?", ["What is the weather in Oslo", "Who wrote Dune"]),
        ("Tell me the price of Acme and show the weather in Oslo", ["the price of Acme", "show the weather in Oslo"]),
    ],
)  # fmt: skip
def test_two_things_of_two_things_are_two_parts(request_: str, parts: list[str]) -> None:
    assert list(parts_of(request_)) == parts


@pytest.mark.parametrize(
    "request_",
    [
        "What is the distance between the city of Oslo and the city of Rome",
        "Compare the population of Oslo and the population of Rome",
        "Tell me the weather and the population of Oslo",
        "Show the Tower and the Museum of Modern Art",
        "Show the author of Dune and the birthplace of its author",
        'Who wrote "The Price of Salt and the Taste of Oslo"',
    ],
)
def test_what_belongs_to_one_question_is_one_part(request_: str) -> None:
    assert len(parts_of(request_)) == 1
