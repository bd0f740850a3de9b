"""A small offer with all that grammar and checks must cope with: lists, fields that may be null or missing, unknown answers, nested bodies."""

import json
from collections.abc import Mapping

from pydantic.types import JsonValue

from agent.programs.program_types import CallFailure, SandboxCall
from agent.programs.signatures import render_offer
from domain.tool import Parameter, ToolDoc, make_tool_id

PERSON: dict[str, JsonValue] = {
    "type": "object",
    "properties": {
        "id": {"type": "string"}, "name": {"type": "string"}, "cited": {"type": ["integer", "null"]},
        "born": {"type": "string"}, "tags": {"type": "array", "items": {"type": "string"}},
        "home": {"type": ["object", "null"], "properties": {"city": {"type": "string"}, "rent": {"type": "string"}}},
        "odd 'key'": {"type": "number"},
    },
    "required": ["id", "name", "cited", "born", "tags"],
}  # fmt: skip
PEOPLE: dict[str, dict[str, JsonValue]] = {
    "p1": {"id": "p1", "name": "Henrik Grimaldo", "cited": 30, "born": "1970-01-02", "tags": ["graphs", "tools"], "home": {"city": "Oslo", "rent": "10.5"}},
    "p2": {"id": "p2", "name": "Zoë Lindqvist", "cited": 45, "born": "1980-03-04", "tags": [], "home": None},
    "p3": {"id": "p3", "name": "Ada Brandt", "cited": None, "born": "1990-05-06", "tags": ["tools"], "odd 'key'": 2.5},
}  # fmt: skip


def parameter(name: str, schema: Mapping[str, JsonValue], *, required: bool = True) -> Parameter:
    return Parameter.model_validate(
        {
            "name": name,
            "required": required,
            "type": schema["type"],
            "enum": schema.get("enum", ()),
            "json_schema": json.dumps(schema),
        }
    )


def tool(api: str, answer: Mapping[str, JsonValue], *parameters: Parameter, method: str = "GET") -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("People", "people", api), category="People", toolset="people", api=api, function=api, method=method,
        url=f"https://people.invalid/{api}", description=api, parameters=parameters, response_schema=json.dumps(answer),
    )  # fmt: skip


LIST: dict[str, JsonValue] = {"type": "array", "items": PERSON}
BODY: dict[str, JsonValue] = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "copies": {"type": "array", "items": {"type": "string"}}, "urgent": {"type": "boolean"}},
    "required": ["to"],
}  # fmt: skip
TOOLS = (
    tool("findPeople", {"type": "object", "properties": {"count": {"type": "integer"}, "people": LIST}},
         parameter("name", {"type": "string"}), parameter("limit", {"type": "integer"}, required=False)),
    tool("getPerson", PERSON, parameter("id", {"type": "string"})),
    tool("coauthors", LIST, parameter("id", {"type": "string"})),
    tool("papers", {}, parameter("id", {"type": "string"})),
    tool("sendLetter", {"type": "object", "properties": {"sent": {"type": "boolean"}}},
         parameter("letter", BODY), parameter("kind", {"type": "string", "enum": ["plain", "grand"]}, required=False), method="POST"),
)  # fmt: skip
OFFER = render_offer(TOOLS)


def answered(call: SandboxCall) -> JsonValue | CallFailure:
    """What the people's API says."""
    given = dict(call.arguments)
    match call.function:
        case "findPeople":
            found = [one for one in PEOPLE.values() if str(given["name"]).lower() in str(one["name"]).lower()]
            return {"count": len(found), "people": [*found]}
        case "getPerson":
            return PEOPLE.get(str(given["id"])) or CallFailure(f"404: there is no person {given['id']}")
        case "coauthors":
            return [one for key, one in PEOPLE.items() if key != given["id"]]
        case "papers":
            return {"titles": [f"On {given['id']}", "More"]}
        case _:
            return {"sent": True}


DOCS: dict[str, ToolDoc] = {one.name: doc for one, doc in zip(OFFER.signatures, TOOLS, strict=True)}
