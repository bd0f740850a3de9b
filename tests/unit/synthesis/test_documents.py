"""What documents tell of inputs and fields: what a thing is called, which input names it, and where the things that were looked for lie."""

import json

import pytest

from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, make_tool_id
from graph.walks import FeedGraph
from synthesis.combinations import enumerate_combinations
from synthesis.field_labels import find_echo_field, find_label_field, find_named_label
from synthesis.intent_program import write_program
from synthesis.intents import QueryPath, enumerate_intents, get_first_item_path
from synthesis.questions import render_questions
from tests.unit.synthesis.library_service import FRIENDS_OF, SEARCH

COUNTRY = ToolDoc(
    id=make_tool_id("Facts", "World", "find_country"),
    category="Facts",
    toolset="World",
    api="find_country",
    function="find_country",
    url="https://facts.example/country",
    parameters=(Parameter(name="name", required=True, description="Name of the country.", example="Norway"),),
    example_response=json.dumps({"name": "Norway", "capital": "Oslo", "languages": ["Bokmål", "Nynorsk"]}),
)


def search(name: str, description: str, **fields: str) -> ToolDoc:
    item: JsonObject = {
        "type": "object",
        "properties": {field: {"type": "string", "description": said} for field, said in fields.items()},
    }
    whole: JsonObject = {"type": "object", "properties": {"results": {"type": "array", "items": item}}}
    parameter = Parameter(name=name, description=description)
    return SEARCH.model_copy(update={"parameters": (parameter,), "response_schema": json.dumps(whole)})


@pytest.mark.parametrize(
    ("doc", "names", "label"),
    [
        (SEARCH, ["name"], "[].name"),
        (SEARCH, ["city"], None),
        (SEARCH, ["city", "name"], "[].name"),
        (COUNTRY, ["name"], "name"),
        (search("publication_info", "Title of the paper, or words of it.", title="Title of the paper."), ["publication_info"], "results[].title"),
        (search("q", "Name or part of the name.", team="The team.", venue_name="Its ground."), ["q"], "results[].venue_name"),
        (search("topic", "What it is about.", title="Title of the paper."), ["topic"], None),
    ],
)  # fmt: skip
def test_inputs_name_one_thing_where_its_name_is_what_they_say(
    doc: ToolDoc, names: list[str], label: str | None
) -> None:
    found = find_named_label(doc, names)
    assert (found.path if found else None) == label


def test_an_input_is_told_by_the_field_of_its_name() -> None:
    by_name = {one.name: find_echo_field(SEARCH, one) for one in SEARCH.parameters}
    assert {name: field.path for name, field in by_name.items() if field} == {"name": "[].name", "city": "[].city"}
    friend = find_label_field(FRIENDS_OF, "[].id")
    assert friend is not None
    assert friend.path == "[].name"


def test_a_list_that_one_thing_has_is_not_a_list_of_such_things() -> None:
    languages = next(
        each
        for each in enumerate_combinations(FeedGraph([COUNTRY]))
        if each.output is not None and each.output.path == "languages[]"
    )
    course = QueryPath(languages)
    assert course.identifies_one_thing()
    assert course.resolve_lookup_path(0, "languages[]") == "languages[]"
    asked = {each.kind: render_questions(each, write_program(each).inputs)[0] for each in enumerate_intents(course)}
    assert asked == {
        "all": "What are the languages of the country {name}?",
        "first": "What is the first language of the country {name}?",
        "count": "How many languages of the country {name} are there?",
    }


@pytest.mark.parametrize(
    ("path", "inner"),
    [("[].id", "id"), ("people[].papers[].title", "papers[].title"), ("name", "name"), ("ids[]", "")],
)
def test_paths_within_the_first_item(path: str, inner: str) -> None:
    assert get_first_item_path(path) == inner
