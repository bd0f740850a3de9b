"""A split is the model's: it is asked for one whatever the request's language, and only its structure is checked."""

import json

import pytest

from agent.llm.policy import LlmPolicy
from agent.llm.subtasks import DecomposeAnswer, check_subtasks
from agent.policy.protocol import DecomposeQuestion, EarlierRequest
from domain.plan import StepResult
from tests.support.small_world import GEOCODE
from tests.unit.agent.llm.test_policy import Told

TALK = (
    EarlierRequest("Where is Paris?", ((3, GEOCODE, StepResult(tool=GEOCODE.id, status="ok", response='"here"')),)),
)


def question(request: str, earlier: tuple[EarlierRequest, ...] = ()) -> DecomposeQuestion:
    return DecomposeQuestion(request, earlier)


def said(*subtasks: dict[str, object]) -> str:
    return json.dumps({"reason": "so", "subtasks": [{"name": "n", **one} for one in subtasks]})


@pytest.mark.parametrize(
    "request_text",
    [
        "Wie warm ist es in Oslo, und reserviere mir einen Tisch für vier?",
        "奥斯陆有多热？请帮我订一张四人桌。",
        "How warm is it in Oslo, and get me a table for four.",
    ],
)
async def test_it_is_asked_whatever_rules_see_of_the_request(request_text: str) -> None:
    model = Told(said({"description": "warmth in Oslo"}, {"description": "a table for 4", "depends_on": [1]}))
    found = await LlmPolicy(model).decide(question(request_text))
    assert [(one.number, one.description, one.depends_on) for one in found.subtasks] == [
        (1, "warmth in Oslo", ()),
        (2, "a table for 4", (1,)),
    ]
    assert request_text in model.heard[0][1].text


@pytest.mark.parametrize("reply", [said(), said({"description": "put otherwise"})])
async def test_what_is_one_thing_keeps_its_words(reply: str) -> None:
    found = await LlmPolicy(Told(reply)).decide(question("How warm is it in Oslo?"))
    assert [one.description for one in found.subtasks] == ["How warm is it in Oslo?"]


async def test_what_leans_on_earlier_questions_is_said_in_full() -> None:
    model = Told(said({"description": "How many people live in Paris?", "earlier": [3]}))
    found = await LlmPolicy(model).decide(question("And how many live there?", TALK))
    assert [(one.description, one.earlier) for one in found.subtasks] == [("How many people live in Paris?", (3,))]
    assert "asked: Where is Paris?" in model.heard[0][1].text


@pytest.mark.parametrize(
    ("subtasks", "told"),
    [
        ([{"description": f"part {n}"} for n in range(6)], "5 subtasks at most"),
        ([{"description": " "}], "subtask 1 needs a description"),
        ([{"description": "x" * 2_001}], "at most 2000 characters"),
        ([{"description": "a", "depends_on": [2]}, {"description": "b"}], "subtask 1 may depend on earlier"),
        ([{"description": "a"}, {"description": "b", "depends_on": [2]}], "subtask 2 may depend on earlier"),
        ([{"description": "Find it"}, {"description": "find  it"}], "two subtasks have the same description"),
        ([{"description": "a", "earlier": [3, 4]}], "earlier calls 4, which there are none of"),
    ],
)
def test_a_split_must_be_one_that_can_be_served(subtasks: list[dict[str, object]], told: str) -> None:
    answer = DecomposeAnswer.model_validate({"reason": "so", "subtasks": [{"name": "n", **one} for one in subtasks]})
    assert told in check_subtasks(answer, question("A request", TALK))


async def test_a_split_that_is_none_twice_is_none() -> None:
    bad = said({"description": "a", "depends_on": [7]})
    model = Told(bad, bad)
    found = await LlmPolicy(model).decide(question("Find it and delete it"))
    assert [one.description for one in found.subtasks] == ["Find it and delete it"]
    assert "may depend on earlier subtasks only" in model.heard[1][-1].text


SHOWN = DecomposeQuestion("Weather in Oslo, and a table for four", categories=("Weather", "Eating out"))


async def test_where_categories_are_shown_each_subtask_gets_one_of_them() -> None:
    parts: tuple[dict[str, object], ...] = (
        {"description": "weather", "category": "weather "},
        {"description": "a table", "category": ""},
    )
    model = Told(said(*parts))
    found = await LlmPolicy(model).decompose(SHOWN)
    assert [one.category for one in found.subtasks] == ["Weather", ""]
    assert "Weather\nEating out" in model.heard[0][1].text
    assert "`category`" in model.heard[0][0].text
    whole = Told(json.dumps({"reason": "one goal", "category": "Eating out", "subtasks": []}))
    assert [one.category for one in (await LlmPolicy(whole).decompose(SHOWN)).subtasks] == ["Eating out"]


async def test_a_category_that_is_not_shown_is_told_back() -> None:
    model = Told(said({"description": "a", "category": "Hotels"}, {"description": "b"}), said())
    await LlmPolicy(model).decompose(SHOWN)
    assert "no category is called Hotels" in model.heard[1][-1].text


async def test_where_none_are_shown_nobody_is_asked_for_one_and_none_is_taken() -> None:
    model = Told(said({"description": "a", "category": "Hotels"}, {"description": "b"}))
    found = await LlmPolicy(model).decompose(question("Find a and b"))
    assert [one.category for one in found.subtasks] == ["", ""]
    assert "category" not in model.heard[0][0].text


@pytest.mark.parametrize(("categories", "asked"), [((), False), (("Weather",), True)])
async def test_a_category_is_asked_for_only_where_categories_are_shown(
    categories: tuple[str, ...], asked: bool
) -> None:
    model = Told(said())
    await LlmPolicy(model).decide(DecomposeQuestion("How warm is it in Oslo?", categories=categories))
    (form,), (messages,) = model.forms, model.heard
    assert form is not None
    assert ('"category"' in json.dumps(form.json_schema)) == asked
    assert ("`category`" in messages[0].text) == asked
