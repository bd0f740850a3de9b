"""Names of parameters, as they are given and as they are shown."""

import pytest

from ui.screens.finished_run import wrong_names
from ui.texts import labelled


@pytest.mark.parametrize("name", ["city", "due_date", "year2", "_x"])
def test_a_name_that_can_be_one(name: str) -> None:
    assert wrong_names([name, "other"]) == ""


@pytest.mark.parametrize("name", ["my city", "2nd", "città", "a-b", "{x}"])
def test_a_name_that_cannot_be_one_is_told(name: str) -> None:
    assert name in wrong_names(["other", name])


def test_two_values_have_two_names() -> None:
    assert "Two values have the name city" in wrong_names(["city", "year", "city"])


@pytest.mark.parametrize("name", ["city", "due_date", "dueDate2"])
def test_a_plain_name_is_its_own_label(name: str) -> None:
    assert labelled(name) == name


@pytest.mark.parametrize("name", ["_a_", "a__b", "*x*", "![x](y)", "`x`", ":red[x]"])
def test_what_may_be_markup_is_escaped(name: str) -> None:
    assert labelled(name) != name
