import pytest
from hypothesis import given
from hypothesis import strategies as st

from offline.nlp.clauses import MAX_CLAUSES, split_clauses


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ("What is the weather in Paris?", ("What is the weather in Paris",)),
        (
            "What is the weather in Paris and how much is 100 USD in EUR?",
            ("What is the weather in Paris", "how much is 100 USD in EUR"),
        ),
        ("Weather in Paris, Rome and London", ("Weather in Paris, Rome and London",)),
        ("Could you please find a QR code API? Also, list the genres.", ("find a QR code API", "list the genres")),
        ('Translate "do this and find that" and tell me the time', ('Translate "do this and find that"', "the time")),
        ("Can you suggest some songs? Thanks!", ("suggest some songs",)),
        ("Find Dr. Smith of J. B. Works. Then get her e-mail", ("Find Dr. Smith of J. B. Works", "get her e-mail")),
        ("I love pizza.", ("I love pizza",)),
        ("Which author and book titles are popular?", ("Which author and book titles are popular",)),
        ("???", ()),
        ("", ()),
    ],
)
def test_a_request_becomes_what_it_asks_for(request_: str, expected: tuple[str, ...]) -> None:
    assert split_clauses(request_) == expected


def test_a_chain_of_three_things_becomes_its_pairs() -> None:
    request = 'What is the population of the city where the author of the book "Dune" was born?'
    assert split_clauses(request) == (
        "What is the population of the city",
        "the city where the author",
        'the author of the book "Dune" was born',
    )


def test_a_shorter_chain_stays_whole() -> None:
    assert split_clauses("List the publications of the scholar Jane Doe") == (
        "List the publications of the scholar Jane Doe",
    )


@given(st.text(max_size=400))
def test_any_text_has_a_few_clauses_that_say_something(text: str) -> None:
    found = split_clauses(text)
    assert len(found) <= 3 * MAX_CLAUSES
    assert all(any(char.isalnum() or char == "_" for char in clause) for clause in found)
    assert len(set(found)) == len(found)


@given(
    st.lists(st.sampled_from(["find", "and", "of the", '"', "Paris", ",", ".", "where", "~0~", "then"]), max_size=60)
)
def test_no_mixture_of_its_own_signs_breaks_it(words: list[str]) -> None:
    assert all(split_clauses(" ".join(words)))
