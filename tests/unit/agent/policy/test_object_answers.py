"""A question for an object names its fields, takes them as people write them, and is asked once more where they do not fit."""

import json
from collections.abc import Sequence
from time import monotonic
from typing import cast

import pytest

from agent.budget import Stopwatch
from agent.execution.provenance import ProvenanceTracker, RunStatements
from agent.policy.ask_user import AskUserPolicy, describe_answer_form, find_value_fault, parse_user_answer
from agent.policy.decider import Decider
from agent.policy.protocol import ArgumentsQuestion, CallArguments, Policy, PolicyCost, PolicyNotice
from agent.user_questions import UserQuestion, UserQuestions
from domain.model import JsonObject
from domain.tool import Parameter, ToolDoc, make_tool_id

GARDENER = Parameter(
    name="gardener",
    type="object",
    required=True,
    location="body",
    json_schema=json.dumps(
        {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "house_number": {"type": "integer"},
                "phone": {"type": "string"},
            },
            "required": ["name", "house_number"],
        }
    ),
)
BOOK = ToolDoc(
    id=make_tool_id("c", "Garden", "book_plot"), category="c", toolset="Garden", api="book_plot", function="book_plot",
    method="POST", url="http://garden.example/bookings", parameters=(GARDENER,),
)  # fmt: skip
ADA: JsonObject = {"name": "Ada Moss", "house_number": 3}


def test_a_question_for_an_object_names_its_fields() -> None:
    assert describe_answer_form(GARDENER) == "answer as name: …, house_number: …; phone may be left out"
    assert describe_answer_form(Parameter(name="n")) == ""
    assert describe_answer_form(Parameter(name="n", type="object")) == "answer with an object as JSON"


@pytest.mark.parametrize(
    "said",
    [
        "name: Ada Moss, house_number: 3",
        "Name = Ada Moss; House number = 3",
        "house number: 3 name: Ada Moss",
        '{"name": "Ada Moss", "house_number": 3}',
    ],
)
def test_fields_are_read_as_people_write_them(said: str) -> None:
    assert parse_user_answer(said, GARDENER) == ADA
    assert find_value_fault(ADA, BOOK, GARDENER) == ""


def test_what_names_no_field_stays_as_it_is_and_is_wrong() -> None:
    said = "Ada Moss, 3 Elm Street"
    assert parse_user_answer(said, GARDENER) == said
    assert "gardener must be of type object" in find_value_fault(said, BOOK, GARDENER)


class Lacks(Decider):
    """A policy that knows no value of a tool."""

    name, notices = "lacks", list[PolicyNotice]()
    cost = PolicyCost()

    async def fill_arguments(self, question: ArgumentsQuestion) -> CallArguments:
        return CallArguments({}, (), tuple(one.name for one in question.tool.parameters))


class Says:
    """A user with these answers, one after the other."""

    def __init__(self, answers: Sequence[str]) -> None:
        self.asked: list[str] = []
        self._answers = iter(answers)

    async def answer(self, question: UserQuestion) -> str | None:
        self.asked.append(question.text)
        return next(self._answers, None)


async def filled(*answers: str) -> tuple[JsonObject, list[str]]:
    """What the tool's arguments are then, and what was asked."""
    user = Says(answers)
    asking = UserQuestions(user, ProvenanceTracker(RunStatements()), Stopwatch(monotonic), [])
    policy = AskUserPolicy(cast("Policy", Lacks()), asking, 1, lambda _: None)
    found = await policy.decide(ArgumentsQuestion("Book plot 2", BOOK, ()))
    return found.values, user.asked


async def test_a_wrong_form_is_asked_for_once_more() -> None:
    values, asked = await filled("Ada Moss, 3 Elm Street", "name: Ada Moss, house number: 3")
    assert values == {"gardener": ADA}
    assert len(asked) == 2
    assert all("answer as name: …, house_number: …" in one for one in asked)
    assert "must be of type object" in asked[1]


async def test_what_fits_is_asked_for_once() -> None:
    values, asked = await filled("name: Ada Moss, house number: 3")
    assert (values, len(asked)) == ({"gardener": ADA}, 1)


async def test_it_is_not_asked_for_a_third_time() -> None:
    values, asked = await filled("no", "never", "name: Ada Moss, house number: 3")
    assert (values, len(asked)) == ({"gardener": "never"}, 2)
