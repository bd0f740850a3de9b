"""SoAyEval's benchmarks: what the gold programs say on the running services is what the worlds say."""

import ast
import dataclasses
import re
from collections import Counter
from itertools import combinations

import httpx
import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from domain.errors import UsageError
from domain.program import Program
from domain.tool import ToolId
from evaluation.meaning.comparison import ProgramMeaning, derive_meaning
from playground.soay.application import SCENARIOS, Scenario, create_app
from playground.soay.benchmark import TEMPLATES, agrees, built, checked, stratified
from playground.soay.template import Gold, each_of, most, number

ADDRESS = "http://testserver"


def serving(scenario: Scenario) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(create_app(scenario, ADDRESS)), base_url=ADDRESS)


@pytest.mark.parametrize("scenario", SCENARIOS)
async def test_gold_programs_say_what_the_world_says(scenario: Scenario) -> None:
    async with serving(scenario) as client:
        assert await checked(built(scenario, entities=3), client) == []


async def test_a_gold_program_that_says_something_else_is_told() -> None:
    question = built("books", entities=1)[0]
    spoilt = dataclasses.replace(question, gold=number(1066))
    async with serving("books") as client:
        found = await checked([question, spoilt], client)
    assert len(found) == 1
    assert "1066" in found[0]


@pytest.mark.parametrize(("scenario", "functions"), [("scholar", 7), ("works", 6), ("books", 6)])
def test_a_scenario_is_its_functions(scenario: Scenario, functions: int) -> None:
    document = create_app(scenario).openapi()
    operations = [one["get"] for one in document["paths"].values()]
    assert len(operations) == functions
    for one in operations:
        assert one["description"]
        assert all("example" in str(parameter) for parameter in one["parameters"]), one["operationId"]
    examples = re.findall(r"'examples': \[", str(document["components"]))
    assert len(examples) > 3 * functions


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_each_question_is_asked_in_two_languages_and_once(scenario: Scenario) -> None:
    english, chinese = built(scenario, "en"), built(scenario, "zh")
    assert [one.id for one in english] == [one.id for one in chinese]
    assert [one.gold for one in english] == [one.gold for one in chinese]
    for questions in (english, chinese):
        assert len({one.request for one in questions}) == len(questions) == len({one.id for one in questions})
        assert not any("{" in one.request for one in questions)
    assert all(re.search(r"[\u4e00-\u9fff]", one.request) for one in chinese)


def test_hops_are_shared_out_as_in_the_paper() -> None:
    hops = Counter(template.hops for template in TEMPLATES["scholar"])
    assert hops == {1: 8, 2: 22, 3: 14}
    assert all(len(some) >= 15 and len({one.hops for one in some}) == 3 for some in TEMPLATES.values())
    assert [one.number for one in TEMPLATES["scholar"]] == list(range(1, 45))


def test_a_part_is_spread_over_all_templates() -> None:
    questions = built("scholar")
    part = stratified(questions, 60)
    counts = Counter(one.template.number for one in part)
    assert len(part) == 60
    assert len(counts) == 44
    assert set(counts.values()) == {1, 2}
    assert {one.template.hops for one in stratified(questions, 12)} == {1, 2, 3}
    with pytest.raises(UsageError):
        stratified([], 3)


def test_gold_of_a_list_is_a_set_and_leaves_nothing_else_in() -> None:
    gold = each_of(["Ash", "Oak", "Ash"], among=["Ash", "Oak", "Elm"])
    assert gold == Gold(texts=(("Ash",), ("Oak",)), others=("Elm",))
    assert agrees(["Oak", "Ash"], gold)
    assert not agrees(["Oak", "Ash", "Elm"], gold)
    assert not agrees(["Oak"], gold)
    assert not agrees(True, number(1))


def test_of_several_that_have_the_most_each_will_do() -> None:
    gold = most([(3, "Ash"), (5, "Oak"), (5, "Elm")])
    assert gold == Gold(texts=(("Oak", "Elm"),), others=("Ash",))
    assert agrees("Elm", gold)
    assert not agrees("Ash", gold)
    assert most([(3, "Ash"), (5, "Oak")], least=True).texts == (("Ash",),)


def test_services_refuse_what_is_not_there() -> None:
    with TestClient(create_app("works", ADDRESS), base_url=ADDRESS) as client:
        assert client.get("/v2/works").status_code == 400
        assert client.get("/v2/works/detail", params={"doi": "10.1/none"}).status_code == 404
        assert client.get("/v2/journals/works", params={"issn": "0"}).status_code == 404
        assert client.get("/v2/funders/works", params={"funder_id": "0"}).status_code == 404
    with TestClient(create_app("books", ADDRESS), base_url=ADDRESS) as client:
        assert client.get("/search.json").status_code == 400
        assert client.get("/works/none.json").status_code == 404
        assert client.get("/authors/none/works.json").status_code == 404
        client.put("/_broken/getBook", params={"on": True}).raise_for_status()
        assert client.get("/works/none.json").status_code == 503


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_no_two_templates_have_one_solution(scenario: Scenario) -> None:
    """And each gold program is the same solution when its names are others."""
    tools = {
        str(route.operation_id): ToolId(str(route.operation_id))
        for route in SCENARIOS[scenario].router.routes
        if isinstance(route, APIRoute)
    }
    meanings: list[ProgramMeaning] = []
    for template in TEMPLATES[scenario]:
        program = Program(text=template.program, tools=tools)
        found = derive_meaning([program])
        assert found.calls
        assert found.answer_terms
        assert derive_meaning([program.model_copy(update={"text": renamed(template.program)})]) == found
        meanings.append(found)
    assert not any(one == other for one, other in combinations(meanings, 2))


def renamed(text: str) -> str:
    tree = ast.parse(text)
    nodes = list(ast.walk(tree))
    given = {one.id for one in nodes if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store)}
    given |= {one.arg for one in nodes if isinstance(one, ast.arg)}
    for one in nodes:
        if isinstance(one, ast.Name) and one.id in given:
            one.id += "_"
        elif isinstance(one, ast.arg):
            one.arg += "_"
    return ast.unparse(tree)
