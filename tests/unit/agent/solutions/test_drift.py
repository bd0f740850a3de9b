"""A tool has drifted where its calls or its answers are others for a program, and in no other case."""

import json

import pytest

from agent.solutions.drift import compute_fingerprints, find_drifted_tools
from domain.solution import Solution
from domain.tool import Parameter, ToolDoc
from tests.support.scholar_tools import COLLEAGUES, DOCS, OTHERS, PERSON, SEARCH, solution, tool

NAME, WHERE = SEARCH.parameters
PAGE = Parameter(name="page", type="integer")
NESTED = Parameter(
    name="filter", type="object", required=True,
    json_schema=json.dumps({"type": "object", "properties": {"a": {"type": "string"}, "b": {"enum": ["x", "y"]}}, "required": ["a", "b"]}),
)  # fmt: skip


def kept() -> Solution:
    """A solution that was checked against the tools as they are."""
    given = solution(COLLEAGUES, "Who are the colleagues of {name}?")
    return given.model_copy(update={"fingerprints": compute_fingerprints(given.plan.program, DOCS)})


def answer(**fields: str) -> str:
    """A list of objects."""
    named = {name: {"type": kind, "description": "anew"} for name, kind in fields.items()}
    return json.dumps({"items": {"properties": named, "type": "object"}, "type": "array", "title": "People"})


DRIFTED: dict[str, ToolDoc] = {
    "another method": SEARCH.model_copy(update={"method": "POST"}),
    "another host": SEARCH.model_copy(update={"url": "https://other.example/searchPerson"}),
    "a type": SEARCH.model_copy(update={"parameters": (NAME.model_copy(update={"type": "integer"}), WHERE)}),
    "only some values": SEARCH.model_copy(update={"parameters": (NAME.model_copy(update={"enum": ("a",)}), WHERE)}),
    "a parameter that must be given": SEARCH.model_copy(update={"parameters": (NAME, WHERE, PAGE.model_copy(update={"required": True}))}),
    "a parameter less": SEARCH.model_copy(update={"parameters": (WHERE,)}),
    "a parameter that may be left out": SEARCH.model_copy(update={"parameters": (NAME.model_copy(update={"required": False}), WHERE)}),
    "a field that is no more": SEARCH.model_copy(update={"response_schema": answer(key="string", name="string")}),
    "a field of another type": SEARCH.model_copy(update={"response_schema": answer(id="integer", name="string")}),
    "another place of its fields": SEARCH.model_copy(update={"response_schema": json.dumps({"type": "object", "properties": {"found": json.loads(SEARCH.response_schema or "")}})}),
}  # fmt: skip
AS_IT_WAS: dict[str, ToolDoc] = {
    "descriptions": SEARCH.model_copy(
        update={"description": "Finds people", "parameters": (NAME.model_copy(update={"description": "who"}), WHERE)}
    ),
    "the order of parameters": SEARCH.model_copy(update={"parameters": (WHERE, NAME)}),
    "a parameter that it does not give": SEARCH.model_copy(update={"parameters": (NAME, PAGE)}),
    "an example and a default": SEARCH.model_copy(
        update={"parameters": (NAME.model_copy(update={"default": "x", "example": "y"}), WHERE), "example_response": "[]"}
    ),
    "a path": SEARCH.model_copy(update={"url": "https://scholars.example/v2/searchPerson"}),
    "a field that it does not read": SEARCH.model_copy(update={"response_schema": answer(age="integer", id="string", name="string")}),
    "what was learnt of its answers": SEARCH.model_copy(update={"learnt_response": '{"type": "object"}'}),
}  # fmt: skip


@pytest.mark.parametrize("what", DRIFTED)
def test_it_has_drifted_by(what: str) -> None:
    assert find_drifted_tools(kept(), DOCS | {PERSON: DRIFTED[what]}) == [PERSON]


@pytest.mark.parametrize("what", AS_IT_WAS)
def test_it_has_not_drifted_by(what: str) -> None:
    assert find_drifted_tools(kept(), DOCS | {PERSON: AS_IT_WAS[what]}) == []


def test_the_order_within_a_schema_does_not_count() -> None:
    given = solution(COLLEAGUES.replace("name=name", "name=name, filter={}"), "Who are the colleagues of {name}?")
    program = given.plan.program
    before = tool(PERSON, NAME, NESTED)
    turned = {
        "required": ["b", "a"],
        "properties": {"b": {"enum": ["y", "x"], "title": "B"}, "a": {"type": "string"}},
        "type": "object",
    }
    after = tool(PERSON, NESTED.model_copy(update={"json_schema": json.dumps(turned)}), NAME)
    other = tool(PERSON, NESTED.model_copy(update={"json_schema": json.dumps({**turned, "required": ["b"]})}), NAME)
    prints = [compute_fingerprints(program, {PERSON: one, OTHERS.id: OTHERS}) for one in (before, after, other)]
    assert prints[0] == prints[1] != prints[2]
    assert set(prints[0]) == {PERSON, OTHERS.id}


def test_a_tool_that_is_called_by_another_name_drifts_as_any() -> None:
    given = solution("find = searchPerson\nfound = await find(name=name)\nstr(found)", "Who is {name}?")
    given = given.model_copy(update={"fingerprints": compute_fingerprints(given.plan.program, DOCS)})
    moved = {**DOCS, PERSON: tool(PERSON, NAME, WHERE, host="elsewhere.example")}
    assert find_drifted_tools(given, moved) == [PERSON]
