import pytest

from evaluation.values import numbers_in, response_has_number, response_has_text, states_number, states_text


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
    assert numbers_in(text) == numbers


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
