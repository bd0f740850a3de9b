"""Listings of MCP servers as tool documents: what is taken, what is believed, and what is left out."""

from typing import Any

import orjson
import pytest

from agent.execution.validation import validate_arguments
from agent.programs.signatures import build_signature
from domain.errors import InvalidArgumentsError
from domain.tool import ToolDoc
from graph.importers.mcp import MAX_TOOLS, McpSource, read_listing
from graph.importers.mcp_inputs import MAX_FIELDS

SOURCE = McpSource("https://harbour.example/mcp", "harbour", "Harbour", about="Berths  and\nships.")


def one(**given: Any) -> ToolDoc:
    listing = read_listing([{"name": "berth_of", "inputSchema": {"type": "object"}, **given}], SOURCE)
    assert listing.skipped == ()
    return listing.docs[0]


def left_out(**given: Any) -> str:
    listing = read_listing([{"name": "berth_of", "inputSchema": {"type": "object"}, **given}], SOURCE)
    assert listing.docs == ()
    return listing.skipped[0]


def test_a_tool_is_taken_as_its_server_describes_it() -> None:
    schema = {
        "type": "object",
        "$defs": {"Ship": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}},
        "properties": {
            "limit": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3, "description": "How many."},
            "ship": {"$ref": "#/$defs/Ship"},
            "kind": {"type": "string", "enum": ["sail", "steam"]},
            "since": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}], "default": None},
        },
        "required": ["ship"],
    }
    answer = {"type": "object", "properties": {"berths": {"type": "array", "items": {"type": "integer"}}}}
    doc = one(title="Berths", description="Where\nit lies.", inputSchema=schema, outputSchema=answer)
    assert (doc.method, doc.url, doc.host, doc.address) == (
        "MCP", "https://harbour.example/mcp", "harbour.example", "https://harbour.example",
    )  # fmt: skip
    assert (doc.id, doc.resource) == ("harbour/Harbour/berth_of", "")
    assert (doc.description, doc.toolset_description) == ("Berths. Where it lies.", "Berths and ships.")
    known = {parameter.name: parameter for parameter in doc.parameters}
    assert [name for name, parameter in known.items() if parameter.required] == ["ship"]
    assert {parameter.location for parameter in doc.parameters} == {"body"}
    assert orjson.loads(known["ship"].json_schema or "")["required"] == ["name"]
    assert (known["limit"].minimum, known["limit"].maximum, known["limit"].default) == (1.0, 9.0, 3)
    assert known["kind"].enum == ("sail", "steam")
    assert (known["since"].nullable, known["since"].type) == (True, "string")
    assert "berths" in orjson.loads(doc.response_schema or "")["properties"]


@pytest.mark.parametrize(
    ("annotations", "hints", "said"),
    [
        ({"readOnlyHint": True}, ("reads",), ""),
        ({"readOnlyHint": True, "destructiveHint": True}, ("reads", "destroys"), "changes"),
        ({"readOnlyHint": False, "idempotentHint": True}, ("changes", "repeats"), "changes"),
        ({"destructiveHint": False, "openWorldHint": False}, ("adds", "closed"), ""),
        ({"readOnlyHint": "true"}, (), ""),
        ({}, (), ""),
        (None, (), ""),
    ],
)
def test_no_annotation_makes_a_tool_safe(annotations: Any, hints: tuple[str, ...], said: str) -> None:
    doc = one(annotations=annotations)
    assert (doc.hints, doc.side_effect) == (hints, said)
    assert not doc.safe
    assert not doc.repeatable
    assert doc.model_copy(update={"marked": "reads"}).safe


def test_what_cannot_be_called_is_left_out_with_a_reason() -> None:
    assert "its name must be" in left_out(name="")
    assert "its name must be" in left_out(name="a\u202eb\n")
    assert "its name must be" in left_out(name="x" * 200)
    assert "as a task only" in left_out(execution={"taskSupport": "required"})
    assert "longer than" in left_out(description="x" * 200_000)
    assert "needs port, of which its document says nothing" in left_out(inputSchema={"required": ["port"]})
    fields: dict[str, Any] = {f"f{n}": {"type": "string"} for n in range(MAX_FIELDS + 1)}
    many = {"type": "object", "properties": fields}
    assert f"more than {MAX_FIELDS}" in left_out(inputSchema=many)
    outside = {"type": "object", "properties": {"a": {"$ref": "http://169.254.169.254/x"}}, "required": ["a"]}
    assert "outside the document" in left_out(inputSchema=outside)


def test_of_a_listing_so_many_are_taken_each_name_once() -> None:
    tools: list[object] = [{"name": f"t{n}", "inputSchema": {}} for n in range(MAX_TOOLS + 20)]
    listing = read_listing([{"name": "t0"}, {"name": "t0"}, 7, None, *tools[1:]], SOURCE)
    assert len(listing.docs) == MAX_TOOLS
    assert "t0 is left out: another tool of the server has the same name" in listing.skipped
    assert any("20 more tools are left out" in one for one in listing.skipped)


def test_a_bomb_of_references_is_read_as_far_as_it_goes() -> None:
    levels = {
        f"L{n}": {"type": "object", "properties": {f"p{m}": {"$ref": f"#/$defs/L{n + 1}"} for m in range(12)}}
        for n in range(12)
    }
    bomb = {
        "type": "object",
        "$defs": {**levels, "L12": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/L0"}},
    }
    wide = {**bomb, "properties": {f"a{n}": {"$ref": "#/$defs/L0"} for n in range(250)}}
    circle = {"type": "object", "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"$ref": "#/$defs/A"}}}
    listing = read_listing(
        [{"name": f"t{n}", "inputSchema": bomb} for n in range(50)] + [{"name": "c", "inputSchema": circle}], SOURCE
    )
    assert len(listing.docs) == 50
    assert "refers to itself" in listing.skipped[0]
    many = read_listing([{"name": f"t{n}", "inputSchema": wide, "outputSchema": bomb} for n in range(100)], SOURCE)
    assert (len(many.docs), many.skipped) == (100, ())
    first, last = ((doc.response_schema or "", len(doc.parameters)) for doc in (many.docs[0], many.docs[-1]))
    assert first[1] == last[1] == 250
    assert len(last[0]) < len(first[0]), "what comes after the bound is read less deeply"


def test_a_program_may_call_it_as_any_function() -> None:
    doc = one(
        inputSchema={
            "type": "object",
            "properties": {"ship": {"type": "string"}, "with-crew": {"type": "boolean"}},
            "required": ["ship"],
        },
        outputSchema={"type": "object", "properties": {"number": {"type": "integer"}}, "required": ["number"]},
    )
    made = build_signature(doc)
    assert made.name == "berth_of"
    assert made.arguments == {"ship": "ship", "with_crew": "with-crew"}
    assert "ship: str" in made.text
    assert "{'number':int}" in made.text


def inputs_of(schema: Any) -> dict[str, Any]:
    return {parameter.name: parameter for parameter in one(inputSchema=schema).parameters}


STRING, WHOLE = {"type": "string"}, {"type": "integer"}


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf"])
def test_the_fields_of_all_alternatives_are_inputs_and_those_of_each_are_required(keyword: str) -> None:
    by_name = {"type": "object", "properties": {"in": STRING, "name": STRING, "at": STRING}, "required": ["in", "name"]}
    by_number = {"properties": {"in": STRING, "number": WHOLE, "at": WHOLE}, "required": ["in", "number", "at"]}
    found = inputs_of(
        {keyword: [by_name, {"$ref": "#/$defs/Number"}, {"type": "null"}], "$defs": {"Number": by_number}}
    )
    assert [(name, parameter.required) for name, parameter in found.items()] == [
        ("in", True), ("name", False), ("at", False), ("number", False),
    ]  # fmt: skip
    assert (found["in"].type, found["in"].json_schema, found["number"].type) == ("string", None, "integer")
    doc = one(inputSchema={keyword: [by_name, by_number]})
    for at in (5, "quay"):
        assert validate_arguments(doc, {"in": "Oslo", "at": at})["at"] == at
    with pytest.raises(InvalidArgumentsError, match="at must"):
        validate_arguments(doc, {"in": "Oslo", "at": [1]})


def test_what_holds_together_is_joined_whatever_keyword_it_stands_under() -> None:
    found = inputs_of(
        {
            "$ref": "#/$defs/In",
            "$defs": {
                "Page": {"properties": {"limit": {"type": "integer", "maximum": 9}}, "required": ["limit"]},
                "In": {
                    "properties": {"limit": {"minimum": 1}, "kind": STRING},
                    "allOf": [{"$ref": "#/$defs/Page"}],
                    "anyOf": [{"required": ["kind"]}, {"properties": {"tag": STRING}, "required": ["tag"]}],
                    "if": {"properties": {"kind": {"const": "ship"}}},
                    "then": {"properties": {"flag": STRING}, "required": ["flag"]},
                },
            },
        }
    )
    assert {name: parameter.required for name, parameter in found.items()} == {
        "limit": True, "kind": False, "tag": False, "flag": False,
    }  # fmt: skip
    assert orjson.loads(found["limit"].json_schema)["allOf"]
    union = {
        "oneOf": [{"properties": {"kind": {"const": kind, **STRING}}, "required": ["kind"]} for kind in ("a", "b")]
    }
    assert inputs_of(union)["kind"].enum == ("a", "b")
    assert inputs_of({"properties": {"a": False, "b": STRING}}).keys() == {"b"}
    assert inputs_of({"anyOf": [{"properties": {"a": False}}, {"properties": {"a": STRING}}]})["a"].type == "string"


def test_further_fields_are_an_object_whose_entries_are_sent_beside_the_others() -> None:
    (free,) = inputs_of({"type": "object", "additionalProperties": True}).values()
    assert (free.name, free.type, free.spread, free.required, free.json_schema) == (
        "additional_fields", "object", True, False, None,
    )  # fmt: skip
    beside = one(inputSchema={"properties": {"ship": STRING}, "required": ["ship"], "additionalProperties": WHOLE})
    assert [parameter.name for parameter in beside.parameters] == ["ship", "additional_fields"]
    assert validate_arguments(beside, {"ship": "Argo", "additional_fields": {"crew": 5}})
    with pytest.raises(InvalidArgumentsError, match="crew"):
        validate_arguments(beside, {"ship": "Argo", "additional_fields": {"crew": [5]}})
    assert inputs_of({"properties": {"ship": STRING}}).keys() == {"ship"}
    assert inputs_of({"properties": {"ship": STRING}, "additionalProperties": False}).keys() == {"ship"}
    taken = inputs_of({"properties": {"additional_fields": STRING}, "additionalProperties": {}})
    assert {name: parameter.spread for name, parameter in taken.items()} == {
        "additional_fields": False, "body_additional_fields": True,
    }  # fmt: skip
    needed = inputs_of({"required": ["port"], "additionalProperties": WHOLE})
    assert (needed["port"].required, needed["port"].type) == (True, "integer")


def test_what_of_an_input_is_not_taken_is_told() -> None:
    schema = {"patternProperties": {"^x-": STRING}, "not": {"required": ["a"]}, "additionalProperties": False}
    listing = read_listing([{"name": "berth_of", "inputSchema": schema}], SOURCE)
    assert [parameter.name for parameter in listing.docs[0].parameters] == ["additional_fields"]
    assert any("names match ^x-" in note for note in listing.skipped)
    assert any("under 'not'" in note for note in listing.skipped)
    assert all(note.startswith("berth_of: ") for note in listing.skipped)
    assert "no object" in left_out(inputSchema={"type": "array", "items": STRING})
    assert "no object" in left_out(inputSchema={"anyOf": [STRING, {"type": "null"}]})


def test_alternatives_that_multiply_end() -> None:
    ship = {"properties": {f"f{n}": {"type": "string", "description": "x" * 100} for n in range(290)}}
    many = {"anyOf": [{"$ref": "#/$defs/Ship"}] * 1_000, "$defs": {"Ship": ship}}
    assert "alternatives have more than" in left_out(inputSchema=many)
    itself = {
        "anyOf": [{"$ref": "#/$defs/A"}],
        "$defs": {"A": {"properties": {"a": STRING}, "anyOf": [{"$ref": "#/$defs/A"}]}},
    }
    listing = read_listing([{"name": "berth_of", "inputSchema": itself}], SOURCE)
    assert [parameter.name for parameter in listing.docs[0].parameters] == ["a"]
    assert "refer to themselves" in listing.skipped[0]
