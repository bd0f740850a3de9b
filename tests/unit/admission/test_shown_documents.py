"""What a judge is shown of a document: what is nested as well, and never more than it can read."""

import json
from typing import Any

from admission.model_judge import render_document
from domain.tool import Parameter, ToolDoc, make_tool_id
from tests.unit.admission.test_quality import doc


def holding(schema: dict[str, Any]) -> ToolDoc:
    return doc(
        "book", "Books it.", Parameter(name="stay", type="object", required=True, json_schema=json.dumps(schema))
    )


def test_fields_of_what_is_nested_are_shown_with_their_texts() -> None:
    guest = {"type": "object", "properties": {"name": {"type": "string", "description": "As in the passport"}}}
    text = render_document(
        holding(
            {
                "type": "object",
                "required": ["arrival"],
                "properties": {
                    "arrival": {"type": "string", "description": "The first day"},
                    "guests": {"type": "array", "items": {"$ref": "#/$defs/Guest"}},
                },
                "$defs": {"Guest": guest},
            }
        )
    )
    lines = [line.strip() for line in text.splitlines()]
    assert "stay (object, required)" in lines
    assert "arrival (string, required): The first day" in lines
    assert "guests[].name (string): As in the passport" in lines


def test_alternatives_that_multiply_cost_no_more_than_others() -> None:
    node: dict[str, Any] = {"anyOf": [{"$ref": "#"}] * 200}
    assert len(render_document(holding(node)).splitlines()) == 4


def test_a_text_without_end_is_cut() -> None:
    fields = {f"field_{number}": {"type": "string", "description": "x" * 5_000} for number in range(900)}
    assert len(render_document(holding({"type": "object", "properties": fields}))) < 3_000
    many = tuple(Parameter(name="n" * 300, description="d" * 900) for _ in range(100))
    tool = ToolDoc(
        id=make_tool_id("a", "b", "c"),
        category="a",
        toolset="b",
        api="c",
        function="c",
        description="e" * 9_000,
        parameters=many,
    )
    assert len(render_document(tool)) < 5_000
