"""An answer that its user has said is wrong is known again, whoever puts it into words."""

import pytest

from agent.wrong_answers import is_known_wrong

REQUEST = "How many inhabitants does Meghalpet have?"


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        ("278640", "278640"),
        ("278640\nBased on: [1] Atlas Places/search_places", "population: 278640 [1]\nBased on: [1] Atlas Places/search_places\n"),
        ("Meghalpet has 278640 inhabitants.", "- population: 278640 [1]"),
        ("yes", "Yes."),
        ("梅加尔佩特", "梅加尔佩特。"),
    ],
)  # fmt: skip
def test_the_same_in_other_words(wrong: str, answer: str) -> None:
    assert is_known_wrong(answer, [wrong], REQUEST)


@pytest.mark.parametrize(
    ("wrong", "answer"),
    [
        ("278640", "278641"),
        ("yes", "no"),
        ("Anna, 40 years", "Berta, 40 years"),
        ("2026-05-01, 2026-01-01", "2026-01-01, 2026-05-01"),
        ("Oslo", "Oslo and Paris"),
        ("Meghalpet", "Oskvik"),
        ("", ""),
        ("Based on: [1] Atlas Places/search_places", "nothing"),
    ],
)
def test_another_answer(wrong: str, answer: str) -> None:
    assert not is_known_wrong(answer, [wrong], REQUEST)
