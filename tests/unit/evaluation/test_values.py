import pytest

from evaluation.values import find_numbers, response_has_number, response_has_text, states_number, states_text


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("It is 9.6 °C, felt 7.9°C, at 18km/h.", [9.6, 7.9, 18]),
        ("1,284,000 people and 3,5 of them", [1284000, 3.5]),
        ("down to -4.5 and \u22122 degrees", [-4.5, -2]),
        ("a 3-day stay, 10-12 guests", [3, 10, 12]),
        ("rated 4.33/5 (87 %)", [4.33, 5, 87]),
        ("see [1] and [12]", []),
        ("on 2026-05-04 at 15:30, until 2026-05-04T21:30:00+02:00", []),
        ("1. first\n2) second", []),
        ("plc_3f1c09aa, 8f14e45fceea, XV801, v2.0", []),
        ("It ends with 12.", [12]),
    ],
)
def test_numbers_that_stand_alone(text: str, numbers: list[float]) -> None:
    assert find_numbers(text) == numbers


def test_a_number_within_the_tolerance() -> None:
    assert states_number("about 12.34", 12.3, 0.05)
    assert not states_number("about 12.36", 12.3, 0.05)
    assert states_number("0.3", 0.1 + 0.2, 0)
    assert not states_number("300", 3, 0.5)


def test_a_text_as_whole_words() -> None:
    assert states_text("On a MONDAY.", "Monday")
    assert states_text("by Ada  \n Marsh,", "Ada Marsh")
    assert states_text("dial +810", "+810")
    assert not states_text("dial +8101", "+810")
    assert not states_text("Adamarsh", "Ada")


def test_fields_of_a_response() -> None:
    response = '{"rates": {"NRV": 0.61}, "items": [{"price": "12.50", "open": true, "at": null}], "name": "Blue Fin"}'
    assert response_has_number(response, 0.61, 0)
    assert response_has_number(response, 12.5, 0)
    assert not response_has_number(response, 1, 0), "a truth value is no number"
    assert response_has_text(response, "NRV")
    assert response_has_text(response, "blue fin")
    assert not response_has_text(response, "Blue Finn")


def test_a_response_that_is_no_json() -> None:
    assert response_has_number("city;people\nVelmora;1200", 1200, 0)
    assert response_has_text("<b>Velmora</b>", "Velmora")
    assert not response_has_text("", "Velmora")


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("It costs 1.234,50 EUR.", 1234.5),
        ("It costs 1'234.50 CHF.", 1234.5),
        ("Cela fait 1\u202f234,5 euros", 1234.5),
        ("7,3 Grad", 7.3),
        ("12 345 people", 12345),
        ("za 12 345,5 zł", 12345.5),
        ("全部で32席です", 32),
        ("عددهم ١٢", 12),
        ("there are three of them", 3),
        ("es sind zwölf", 12),
        ("jest ich pięć", 5),
    ],
)
def test_numbers_as_languages_write_them(text: str, number: float) -> None:
    assert states_number(text, number, 0)


@pytest.mark.parametrize(
    ("text", "number"),
    [("due on Friday", 2), ("It opens once a week", 11), ("None is open", 0), ("null", 0), ("No one came", 1), ("Es sei so", 6)],
)  # fmt: skip
def test_words_that_mean_something_else_are_no_numbers(text: str, number: float) -> None:
    assert not states_number(text, number, 0)


def test_a_computed_number_may_be_rounded_to_what_is_shown() -> None:
    assert states_number("about 27.7 years", 27.727272, 0, rounded=True)
    assert states_number("1,235 on average", 1234.56, 0, rounded=True)
    assert not states_number("about 27.7 years", 27.727272, 0), "where it is not computed, it is as the response has it"
    assert not states_number("about 28", 27.727272, 0, rounded=True), "too few digits to be anything"
    assert not states_number("about 27.8", 27.727272, 0, rounded=True)


def test_a_text_between_letters_of_scripts_without_blanks() -> None:
    assert states_text("最年少はIna Voglerです", "Ina Vogler")
    assert states_text("東京都にあります", "東京都")
