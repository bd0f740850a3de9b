"""Values of a request in a program's text as inputs of it, and plans with fewer inputs, or under other names."""

import ast

import pytest

from agent.plans.parameterization import find_input_candidates, parameterize_plan
from agent.plans.plan_differences import compare_plans
from agent.plans.plan_inputs import build_shown_schemas, select_inputs, set_input_values
from domain.model import JsonObject
from domain.program import Program, ProgramPlan
from domain.tool import ToolId

TOOLS = {"find": ToolId("a/b/find"), "add": ToolId("a/b/add")}
LOOP = """cities = ["Lyon", "Nice"]
found = [(await find(city=one))["results"][0] for one in cities]
best = [one for one in found if one["size"] > 5]
{"answered": "yes", "answer": f"{best} of {cities}"}
"""
ASKED = "Which of Lyon and Nice has more than 5 results? Say yes or no."


def plan(text: str) -> ProgramPlan:
    return ProgramPlan(program=Program(text=text, tools=TOOLS, arguments={"find": {"city": "city"}}))


def all_lifted(text: str, request: str) -> ProgramPlan:
    whole = plan(text)
    return parameterize_plan(whole, find_input_candidates(whole, request))


def test_lists_and_numbers_that_the_request_says_are_inputs() -> None:
    made = all_lifted(LOOP, ASKED)
    assert made.values == {"cities": ["Lyon", "Nice"], "size": 5}
    assert made.inputs["cities"] == {"type": "array", "items": {"type": "string"}}
    assert made.program.text.startswith("found = [(await find(city=one))")
    assert 'one["size"] > size' in made.program.text
    assert '{"answered": "yes"' in made.program.text


@pytest.mark.parametrize(
    ("text", "request_", "values"),
    [
        ('a = await find(city="Lyon")', "What of lyon?", {"city": "Lyon"}),
        ('a = await find(city="Lyon")\nb = await find(city="Lyon")', "Lyon", {"city": "Lyon"}),
        ('a = await find(city="Lyon")\na["results"]', "the results of Nice", {}),
        ('a = (await find(city="Nice")).get("results")', "the results of Nice", {"city": "Nice"}),
        ("f\"{await find(city='Nice')}\"", "Nice", {}),
        ('today = "Nice"\nawait find(city=today)', "Nice", {"today_2": "Nice"}),
        ("await find(city=True)", "True", {}),
        ("await find(city=-3)", "below -3", {"city": -3}),
        ('x = ["Lyon", "Nice"]', "Nice, then by boat or train to Lyon", {"x_2": "Lyon", "x_3": "Nice"}),
    ],
)
def test_only_values_are(text: str, request_: str, values: JsonObject) -> None:
    made = all_lifted(text, request_)
    assert made.values == values
    ast.parse(made.program.text)


def test_inputs_that_are_not_chosen_are_their_values_and_others_have_new_names() -> None:
    made = all_lifted(LOOP, ASKED)
    some = select_inputs(made, {"size": "class"})
    assert some.program.text.startswith('cities = ["Lyon", "Nice"]\n')
    assert (some.values, [*build_shown_schemas(some)]) == ({"class_": 5}, ["class"])
    filled, wrong = set_input_values(some, {"class": 7})
    assert (filled.values, wrong) == ({"class_": 7}, [])
    assert set_input_values(some, {"class": "many"})[1][0][0] == "class"
    quoted = select_inputs(made, {"cities": "towns"})
    assert "cities = towns" in quoted.program.text


def test_what_a_text_does_otherwise_is_told_by_line() -> None:
    before, after = all_lifted(LOOP, ASKED), all_lifted(LOOP.replace("> 5", ">= 5"), ASKED)
    (one,) = compare_plans(before, after, {})
    assert one.said.startswith("Line 2: `best = [one for one in found if one[")
    said = [one.said for one in compare_plans(before, select_inputs(after, {"size": "least"}), {})]
    assert said[-3:] == ["It asks for cities no more.", "It asks for size no more.", "It asks for least as well."]


@pytest.mark.parametrize(
    ("text", "lifted_text"),
    [
        ('_c = "Oslo"\nawait find(city=_c)', "_c = c\nawait find(city=_c)"),
        ('first = "Oslo"\nawait find(city=first)', "first = first_2\nawait find(city=first)"),
        ('where = "Oslo"\nawait find(city=where)', "await find(city=where)"),
        (
            'await find(city="Rome")\ncity = "Oslo"\nawait find(city=city)',
            "await find(city=city_2)\nawait find(city=city)",
        ),
    ],
)
def test_a_name_that_an_input_cannot_have_stays_a_name_of_the_text(text: str, lifted_text: str) -> None:
    assert all_lifted(text, "From Rome to Oslo").program.text == lifted_text
