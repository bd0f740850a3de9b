"""Tools of a small service about scholars, and solutions over them."""

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.solution import Solution
from domain.tool import Parameter, ToolDoc, ToolId

PERSON, COAUTHORS, PAPERS = (
    ToolId(f"scholars/people/{name}") for name in ("searchPerson", "getCoauthors", "getPapers")
)
_ANSWER: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
}


def tool(name: ToolId, *parameters: Parameter, answer: object = _ANSWER, host: str = "scholars.example") -> ToolDoc:
    """A tool that reads."""
    api = name.rpartition("/")[2]
    return ToolDoc(
        id=name, category="scholars", toolset="people", api=api, function=api, url=f"https://{host}/{api}",
        parameters=parameters, response_schema=json.dumps(answer),
    )  # fmt: skip


SEARCH = tool(
    PERSON,
    Parameter(name="name", required=True, description="The name"),
    Parameter(name="organization", description="Where they work"),
)
OTHERS = tool(COAUTHORS, Parameter(name="id", required=True))
WRITTEN = tool(PAPERS, Parameter(name="id", required=True), Parameter(name="year", type="integer"))
DOCS = {doc.id: doc for doc in (SEARCH, OTHERS, WRITTEN)}

COLLEAGUES = """people = await searchPerson(name=name)
others = await getCoauthors(id=people[0]["id"])
{"answered": "yes", "answer": ", ".join([one["name"] for one in others])}"""
COUNT = """people = await searchPerson(name=name)
papers = await getPapers(id=people[0]["id"])
{"answered": "yes", "answer": f"{len(papers)} papers"}"""


class Catalogue:
    """The documents of tools, which may change."""

    def __init__(self, docs: Mapping[ToolId, ToolDoc] = DOCS) -> None:
        self.docs = dict(docs)

    async def get_tools(self, ids: Iterable[ToolId]) -> dict[ToolId, ToolDoc]:
        """Of those that have one."""
        return {one: self.docs[one] for one in ids if one in self.docs}


def plan(text: str, *inputs: str, tools: Mapping[str, ToolId] | None = None) -> ProgramPlan:
    """A program over the tools of scholars; its inputs are texts."""
    known = tools or {one.rpartition("/")[2]: one for one in DOCS}
    arguments = {name: {one.name: one.name for one in DOCS[tool].parameters} for name, tool in known.items()}
    schemas: dict[str, JsonObject] = {name: {"type": "string"} for name in inputs}
    return ProgramPlan(program=Program(text=text, tools=dict(known), arguments=arguments), inputs=schemas)


def solution(text: str, *patterns: str, owner: str = "", inputs: tuple[str, ...] = ("name",), **more: Any) -> Solution:
    """A solution of a run."""
    made = plan(text, *inputs)
    path = tuple(dict.fromkeys(one for name, one in made.program.tools.items() if f"{name}(" in text))
    given: dict[str, Any] = {"origin": "run", "at": datetime(2026, 5, 4, tzinfo=UTC), **more}
    return Solution(id="", owner=owner, plan=made, patterns=patterns, path=path, **given)
