"""NESTFUL's executable specification as tools."""

from pathlib import Path
from typing import Any

import orjson

from domain.tool import ToolDoc, make_tool_id
from graph.importers.records import SkippedInput
from graph.input_files import read_tools

HOST = "hotels.example"
SEARCH: dict[str, Any] = {
    "name": "SearchHotels",
    "description": "Finds hotels.",
    "method": "get",
    "endpoint": "/v1/search",
    "host": HOST,
    "query_parameters": {
        "query": {"type": "String", "description": "Name of a place.", "required": True, "example": "Rome"},
        "sort": {"type": "Enum", "allowed_values": ["price", "stars"], "default": "price", "required": False},
        "amount": {"type": "Number", "optional": True},
        "tags": {"type": "array", "allowed_values": "any that the guide lists"},
    },
    "output_parser": "result.data.hotels[0].{param}",
    "output_parameters": {
        "id": {"type": "Number", "description": "Its id."},
        "place": {"type": "Object", "properties": {"city": {"type": "String"}}},
        "rooms": {"type": "Array", "items": {"type": "object", "properties": {"beds": {"type": "number"}}}},
    },
}
NEWS: dict[str, Any] = {
    "name": "News", "host": HOST, "endpoint": "/news/v1/",
    "path_parameters": {"location": {"type": "String", "description": "A code."}},
    "output_parser": "result.{}.{param}", "output_parameters": {"title": {"type": "String"}},
}  # fmt: skip


def read(folder: Path, *endpoints: object) -> list[ToolDoc | SkippedInput]:
    path = folder / "executable_spec.json"
    path.write_bytes(orjson.dumps(endpoints))
    return list(read_tools(path))


def one(folder: Path, endpoint: dict[str, Any]) -> ToolDoc:
    (found,) = read(folder, endpoint)
    assert isinstance(found, ToolDoc)
    return found


def test_an_endpoint(tmp_path: Path) -> None:
    tool = one(tmp_path, SEARCH)
    assert tool.id == make_tool_id(HOST, HOST, "SearchHotels")
    assert (tool.function, tool.method, tool.url) == ("SearchHotels", "GET", f"https://{HOST}/v1/search")
    query, sort, amount, tags = tool.parameters
    assert (query.required, query.type, query.example, query.location) == (True, "string", "Rome", "query")
    assert (sort.required, sort.enum, sort.default) == (False, ("price", "stars"), "price")
    assert (amount.type, amount.required, tags.type, tags.enum) == ("number", False, "array", ())


def test_the_fields_of_the_response_lie_where_the_parser_looks(tmp_path: Path) -> None:
    schema = orjson.loads(one(tmp_path, SEARCH).response_schema or "")
    hotels = schema["properties"]["data"]["properties"]["hotels"]
    assert hotels["type"] == "array"
    fields = hotels["items"]["properties"]
    assert fields["id"] == {"type": "number", "description": "Its id."}
    assert fields["place"]["properties"] == {"city": {"type": "string"}}
    assert fields["rooms"]["items"]["properties"] == {"beds": {"type": "number"}}


def test_a_parameter_of_the_path_follows_the_endpoint(tmp_path: Path) -> None:
    tool = one(tmp_path, NEWS)
    assert tool.url == f"https://{HOST}/news/v1/{{location}}"
    assert [(each.name, each.location, each.required) for each in tool.parameters] == [("location", "path", True)]
    assert orjson.loads(tool.response_schema or "")["properties"] == {"title": {"type": "string"}}


def test_a_place_that_the_endpoint_has_is_kept(tmp_path: Path) -> None:
    assert one(tmp_path, {**NEWS, "endpoint": "/{location}/news"}).url == f"https://{HOST}/{{location}}/news"


def test_one_broken_endpoint_skips_that_one_alone(tmp_path: Path) -> None:
    broken = {**SEARCH, "query_parameters": {"q": "text"}}
    found = read(tmp_path, "text", {**SEARCH, "host": ""}, broken, NEWS, {**SEARCH, "output_parameters": {}})
    assert [str(item).split(": ", 1)[1] for item in found if isinstance(item, SkippedInput)] == [
        "endpoint 1 of 5: the endpoint must be an object, not a text",
        "endpoint 2 of 5: 'host' must be a text that is not empty, not an empty text",
        "endpoint 3 of 5: the parameter 'q' must be an object, not a text",
    ]
    assert [item.api for item in found if isinstance(item, ToolDoc)] == ["News", "SearchHotels"]


def test_an_empty_list_and_no_list_at_all(tmp_path: Path) -> None:
    (skipped,) = read(tmp_path)
    assert isinstance(skipped, SkippedInput)
    assert "must be an object, not a list" in skipped.reason
