"""Which values a template still needs."""

from domain.model import JsonObject
from ui.screens.templates import missing_of


def test_what_has_no_default_has_to_be_given() -> None:
    parameters: dict[str, JsonObject] = {"city": {"type": "string"}, "year": {"type": "integer", "default": 2026}}
    assert missing_of(parameters, {}) == ["city"]
    assert missing_of(parameters, {"city": "Meghalpet"}) == []
