"""Parameters whose names say little are read by what they stand for."""

import pytest

from agent.parameter_needs import NeedKind, derive_need
from domain.tool import JsonType, Parameter


@pytest.mark.parametrize(
    ("name", "kind", "description", "wanted"),
    [
        ("y", "integer", "Year.", "year"),
        ("y", "integer", "Vertical position in the picture.", "number"),
        ("x", "string", "Year.", "entity"),
        ("q", "string", "Query.", "query"),
        ("sym", "string", "symbol", "symbol"),
        ("firm", "string", "", "organization"),
        ("text", "string", "name of the firm", "organization"),
        ("text", "string", "What to translate.", "text"),
        ("name", "string", "name the table is booked under", "person"),
        ("guest_name", "string", "", "person"),
        ("room_name", "string", "", "query"),
        ("text", "string", "The name of the file to keep it under.", "text"),
    ],
)
def test_what_a_parameter_wants(name: str, kind: JsonType, description: str, wanted: NeedKind) -> None:
    assert derive_need(Parameter(name=name, type=kind, description=description, required=True)).kind == wanted
