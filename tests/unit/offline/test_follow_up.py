"""What a question means after earlier ones."""

import json
from pathlib import Path

import pytest

from agent.policy.protocol import EarlierRequest
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolDoc
from evaluation.evaluation_cases import HELD_OUT, EvaluationCase, read_evaluation_cases
from offline.follow_up import resolve_follow_up
from tests.support.small_world import BOOKS, GEOCODE

HOLIDAYS = EarlierRequest("Which public holidays does Caldera have in 2026?")
FILES = Path(__file__).parents[3] / "playground" / "requests"


def asked(request: str, tool: ToolDoc, arguments: JsonObject, response: object, number: int = 1) -> EarlierRequest:
    result = StepResult(tool=tool.id, arguments=arguments, status="ok", response=json.dumps(response))
    return EarlierRequest(request, ((number, tool, result),))


PARIS = asked("How many inhabitants does Paris have?", GEOCODE, {"city": "Paris"}, {"results": [{"city": "Paris"}]})
DUNE = asked(
    'Find books called "Dune"',
    BOOKS,
    {"title": "Dune"},
    {"books": [{"title": "Dune", "pages": 412}, {"title": "Dune Messiah", "pages": 256}]},
    2,
)


@pytest.mark.parametrize(
    ("before", "request_", "description"),
    [
        (HOLIDAYS, "And in 2027?", "Which public holidays does Caldera have in 2027?"),
        (HOLIDAYS, "What about Sylvania?", "Which public holidays does Sylvania have in 2026?"),
        (HOLIDAYS, "The same for Rioverde, please.", "Which public holidays does Rioverde have in 2026?"),
        (EarlierRequest("Convert 100 SDR to CLD."), "And to BUD?", "Convert 100 SDR to BUD."),
        (EarlierRequest("Convert 100 SDR to CLD."), "And 250?", "Convert 250 SDR to CLD."),
        (EarlierRequest("How warm is it in Paris?"), "And tomorrow?", "How warm is it in Paris tomorrow?"),
        (EarlierRequest("Which of them falls in March?"), "And in April?", "Which of them falls in April?"),
    ],
)
def test_the_same_is_asked_of_something_else(before: EarlierRequest, request_: str, description: str) -> None:
    found = resolve_follow_up(request_, [before])
    assert found is not None
    assert (found.description, found.steps) == (description, ())


@pytest.mark.parametrize(
    ("request_", "description"),
    [
        ("What is the weather there?", "What is the weather in Paris?"),
        ("What is its elevation?", "What is Paris's elevation?"),
        ("Is it big?", "Is Paris big?"),
        ("Which hotels are there in that city?", "Which hotels are there in Paris?"),
    ],
)
def test_words_that_stand_for_the_thing_are_replaced_by_it(request_: str, description: str) -> None:
    found = resolve_follow_up(request_, [PARIS])
    assert found is not None
    assert (found.description, found.steps, found.is_about_list) == (description, (1,), False)


@pytest.mark.parametrize(
    "request_", ["Which of them is the longest?", "Who wrote the first one?", "How many pages do they have?"]
)
def test_things_of_a_list_are_left_to_what_was_found(request_: str) -> None:
    found = resolve_follow_up(request_, [PARIS, DUNE])
    assert found is not None
    assert (found.description, found.steps, found.is_about_list) == (request_, (2,), True)


def test_a_thing_is_looked_for_where_it_was_called_for() -> None:
    """The last run was about Paris too, and has called for it by its number only."""
    later = asked("What is the weather in Paris?", BOOKS, {"title": "48.85"}, {"temperature": 20}, 2)
    found = resolve_follow_up("How many people live there?", [PARIS, later])
    assert found is not None
    assert (found.description, found.steps) == ("How many people live in Paris?", (1,))


def test_nobody_is_taken_for_a_title() -> None:
    """``she`` is the author, whom only the response names."""
    found = resolve_follow_up("When was she born?", [DUNE])
    assert found is not None
    assert (found.description, found.steps) == ("When was she born?", (2,))


def test_an_order_begins_with_no_name() -> None:
    found = resolve_follow_up("Mark it as read.", [PARIS])
    assert found is not None
    assert found.description == "Mark Paris as read."


@pytest.mark.parametrize("one", [one for one in read_evaluation_cases(sorted(FILES.glob("*.jsonl"))) if one.group != HELD_OUT], ids=lambda one: one.id)  # fmt: skip
def test_a_request_that_stands_alone_is_left_alone(one: EvaluationCase) -> None:
    assert resolve_follow_up(one.request, [PARIS, DUNE]) is None


def test_nothing_was_asked_before() -> None:
    assert resolve_follow_up("What is the weather there?", []) is None
    assert (
        resolve_follow_up("What is the weather there?", [EarlierRequest("How many inhabitants does Paris have?")])
        is None
    )


POINT = asked(
    "What is the elevation of 58.2, 11.6?", GEOCODE, {"latitude": 58.2, "longitude": 11.6}, {"elevation": 624}, 3
)


@pytest.mark.parametrize(
    ("request_", "description", "steps"),
    [
        ("And what is the capital there?", "what is the capital at 58.2, 11.6?", (3,)),
        ("Which town is there?", "Which town is at 58.2, 11.6?", (3,)),
        ("Which country is it in?", "Which country is 58.2, 11.6 in?", (3,)),
        ("How far is it from there to Oslo?", "How far is it from 58.2, 11.6 to Oslo?", ()),
    ],
)
def test_coordinates_are_a_place(request_: str, description: str, steps: tuple[int, ...]) -> None:
    found = resolve_follow_up(request_, [POINT])
    assert found is not None
    assert (found.description, found.steps) == (description, steps)


def test_from_there_is_from_the_place() -> None:
    found = resolve_follow_up("How far is it from there to Rome?", [PARIS])
    assert found is not None
    assert found.description == "How far is it from Paris to Rome?"
