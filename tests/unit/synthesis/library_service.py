"""A small service of readers, books and their chapters, as documents and as what it answers: for combinations worked by hand."""

import json
from collections.abc import Mapping
from functools import cache

from pydantic.types import JsonValue

from agent.execution.executor import CallResult
from agent.programs.program_types import SandboxLimits
from agent.programs.sandbox import MontySandbox
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, make_tool_id

ADA, BEA = "8f14e45fceea167a5a36dedd", "45c48cce2e2d7fbdea1afc51"
PEOPLE: dict[str, JsonObject] = {
    ADA: {"person_id": ADA, "name": "Ada Byron", "city": "Oslo", "num_citation": 40, "interest": ["looms", "poems"]},
    BEA: {"person_id": BEA, "name": "Bea Kwon", "city": "Oslo", "num_citation": 90, "interest": ["looms"]},
}
FRIENDS = {ADA: [BEA], BEA: [ADA]}
BOOKS: dict[str, list[JsonObject]] = {
    ADA: [{"title": "Notes", "year": 1843, "pages": 120}, {"title": "Letters", "year": 1850, "pages": 300}],
    BEA: [{"title": "Looms", "year": 2001, "pages": 80}],
}
_TEXT: JsonObject = {"type": "string"}
_NUMBER: JsonObject = {"type": "integer"}


def _list(called: str, **fields: JsonValue) -> str:
    item: JsonObject = {"type": "object", "title": called, "properties": fields, "required": [*fields]}
    return json.dumps({"type": "array", "items": item})


def _tool(api: str, description: str, answer: str, *parameters: Parameter) -> ToolDoc:
    return ToolDoc(
        id=make_tool_id("Books", "Readers", api),
        category="Books",
        toolset="Readers",
        api=api,
        function=api,
        url=f"https://readers.example/{api}",
        description=description,
        parameters=parameters,
        response_schema=answer,
    )


_ID = Parameter(name="person_id", required=True, description="Identifier of the person.", example=ADA)
SEARCH = _tool(
    "searchPerson",
    "Search for people by name or city.",
    _list(
        "Person",
        person_id=_TEXT,
        name=_TEXT,
        city=_TEXT,
        num_citation=_NUMBER,
        interest={"type": "array", "items": _TEXT},
    ),
    Parameter(name="name", description="Name of the person.", example="Ada Byron"),
    Parameter(name="city", description="City where they live."),
)
FRIENDS_OF = _tool("getFriends", "The friends of a person.", _list("Person", id=_TEXT, name=_TEXT), _ID)
BOOKS_OF = _tool(
    "getPersonBooks", "The books of a person.", _list("Book", title=_TEXT, year=_NUMBER, pages=_NUMBER), _ID
)
INTERESTS_OF = _tool(
    "getPersonInterest", "The research interests of a person.", json.dumps({"type": "array", "items": _TEXT}), _ID
)
TOOLS = (SEARCH, FRIENDS_OF, BOOKS_OF, INTERESTS_OF)


class ReadersService:
    """Answers as the service would. ``wrong``: what functions answer instead. ``calls``: those that were made."""

    name = "readers"

    def __init__(self, wrong: Mapping[str, JsonValue] | None = None) -> None:
        self.wrong = dict(wrong or {})
        self.calls: list[tuple[str, JsonObject]] = []

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:
        self.calls.append((tool.api, arguments))
        answer = self.wrong.get(tool.api, self._answer(tool.api, arguments))
        if answer is None:
            return CallResult("absent", "", http_status=404, note="no such person")
        return CallResult("ok", json.dumps(answer), http_status=200)

    async def close(self) -> None:
        """Nothing is open."""

    @staticmethod
    def _answer(api: str, arguments: JsonObject) -> JsonValue:
        if api == "searchPerson":
            return [
                person for person in PEOPLE.values() if all(person[key] == value for key, value in arguments.items())
            ]
        person = str(arguments["person_id"])
        if person not in PEOPLE:
            return None
        if api == "getFriends":
            return [{"id": one, "name": PEOPLE[one]["name"]} for one in FRIENDS[person]]
        return list(BOOKS[person]) if api == "getPersonBooks" else PEOPLE[person]["interest"]


@cache
def sandbox() -> MontySandbox:
    """With more workers than a combination has intents: none waits for another, so it serves the event loops of all tests."""
    return MontySandbox(SandboxLimits(workers=32))
