"""Questions read aloud: plain English of the documents' own words, every input named once."""

import json

import pytest

from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, make_tool_id
from graph.feed_graph import FeedGraph
from synthesis.combinations import enumerate_combinations
from synthesis.intent_program import write_program
from synthesis.intents import QueryPath, enumerate_intents
from synthesis.nouns import build_phrase, pluralize
from synthesis.questions import render_questions
from tests.unit.synthesis.test_forging import intent, one

READ_ALOUD: list[tuple[str, str, str, str, list[str], str, str]] = [
    ("searchPerson", "name", "[].num_citation", "all", [], "", "What is the number of citations of the person {name}?"),
    ("searchPerson", "city", "[].name", "count", [], "", "How many people in {city} are there?"),
    ("searchPerson", "city", "[].num_citation", "most", [], "", "Which person in {city} has the highest number of citations?"),
    ("searchPerson", "name,city", "[].interest[]", "all", [], "", "What are the interests of the person {name} in {city}?"),
    ("searchPerson getFriends", "name", "[].name", "all", ["one"], "", "What are the names of the friends of the person {name}?"),
    ("searchPerson getPersonBooks", "name", "[].title", "count", ["one"], "", "How many books of the person {name} are there?"),
    ("searchPerson getPersonBooks", "name", "[].year", "first", ["one"], "", "What is the year of the first book of the person {name}?"),
    ("searchPerson getPersonBooks", "name", "[].year", "most", ["one"], "", "Which book of the person {name} has the latest year?"),
    ("searchPerson getPersonBooks", "name", "[].title", "where", ["one"], "[].year", "Which books of the person {name} have the year {year}?"),
    (
        "searchPerson getFriends getPersonBooks", "name", "[].title", "all", ["one", "each"], "",
        "What are the titles of the books of the friends of the person {name}?",
    ),
    (
        "searchPerson getFriends getPersonInterest", "name", "[]", "where", ["one", "each"], "",
        "Which friends of the person {name} have the interest {value}?",
    ),
    (
        "searchPerson getFriends getPersonInterest", "name", "[]", "all", ["one", "first"], "",
        "What are the interests of the first friend of the person {name}?",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("path", "inputs", "output", "asked", "taken", "by", "said"), READ_ALOUD)
def test_a_question_reads_well(
    path: str, inputs: str, output: str, asked: str, taken: list[str], by: str, said: str
) -> None:
    wanted = intent(one(path, inputs.replace(",", " "), output), asked, taken, by)
    found = render_questions(wanted, write_program(wanted).inputs)
    assert found[0] == said
    assert len(found) == 4
    names = [name for name in ("name", "city", "year", "value") if f"{{{name}}}" in said]
    assert all(question.count(f"{{{name}}}") == 1 for question in found for name in names)


def test_people_are_asked_for_as_people_and_called_by_their_names_alone() -> None:
    friends = intent(one("searchPerson getFriends", "name", "[].name"), "all", ["one"])
    assert render_questions(friends, write_program(friends).inputs)[2] == "List the friends of the person {name}."
    books = intent(one("searchPerson getPersonBooks", "name", "[].title"), "count", ["one"])
    assert render_questions(books, write_program(books).inputs)[3] == "How many books does the person {name} have?"
    cited = intent(one("searchPerson", "name", "[].num_citation"), "all", [])
    assert (
        render_questions(cited, write_program(cited).inputs)[2]
        == "I would like to know the number of citations of {name}."
    )


def asked_of(api: str, schema: JsonObject, *parameters: str) -> list[str]:
    """The first question for each field of a function's answer."""
    tool = ToolDoc(
        id=make_tool_id("Any", "Any", api),
        category="Any",
        toolset="Any",
        api=api,
        function=api,
        parameters=tuple(Parameter(name=one, required=True) for one in parameters),
        response_schema=json.dumps(schema),
    )
    found = (next(enumerate_intents(QueryPath(each))) for each in enumerate_combinations(FeedGraph([tool])))
    return [render_questions(each, write_program(each).inputs)[0] for each in found]


def test_what_is_true_or_false_is_asked_for_as_that() -> None:
    fields: JsonObject = {"is_fixed": {"type": "boolean"}, "mobile": {"type": "boolean"}}
    told = asked_of("checkPhone", {"type": "object", "properties": fields}, "phone")
    assert told == ["Is it true that {phone} is fixed?", "Is it true that {phone} is mobile?"]


def test_an_input_that_says_only_that_something_is_looked_for_is_not_named() -> None:
    site: JsonObject = {"type": "object", "properties": {"rank": {"type": "integer"}}}
    told = asked_of("popularSites", {"type": "array", "items": site}, "q")
    assert told == ["What are the ranks of the popular sites for {q}?"]


def test_inputs_of_one_kind_are_told_apart_by_their_names() -> None:
    draw: JsonObject = {"jackpot": {"type": "integer"}}
    told = asked_of("drawings", {"type": "array", "items": {"type": "object", "properties": draw}}, "date1", "date2")
    assert told == ["What are the jackpots of the drawings with the date1 {date1} and the date2 {date2}?"]


def test_a_function_is_called_by_what_its_name_says_once_and_without_its_version() -> None:
    verse: JsonObject = {"type": "object", "properties": {"context": {"type": "string"}}}
    told = asked_of("/v1/verse/{verse}", {"type": "array", "items": verse}, "q")
    assert told == ["What are the contexts of the verses for {q}?"]


@pytest.mark.parametrize(
    ("one_thing", "several"),
    [
        ("person", "people"),
        ("city", "cities"),
        ("number of citations", "numbers of citations"),
        ("key", "keys"),
        ("box", "boxes"),
    ],
)
def test_plurals(one_thing: str, several: str) -> None:
    assert pluralize(one_thing) == several


@pytest.mark.parametrize(
    ("named", "said"),
    [
        (("number", "citation"), "number of citations"),
        (("page", "count"), "number of pages"),
        (("author", "name", "list"), "author name"),
        (("symbol", "symbol"), "symbol"),
        (("v", "1", "list", "currency"), "list currency"),
    ],
)
def test_phrases(named: tuple[str, ...], said: str) -> None:
    assert build_phrase(named) == said
