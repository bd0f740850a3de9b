"""Which places of a run's document get which names, as a template."""

from agent.plans.request_words import insert_placeholders
from agent.plans.steps_from_run import ParameterCandidate
from server.routes.template_content import Place, names_at, words_of

FIRST, LATER = (
    ParameterCandidate("day", 1, "day", "2026-05-03", "3 May"),
    ParameterCandidate("day", 4, "day", "2026-05-03", "3 May"),
)
PARKS, AREA = (
    ParameterCandidate("parks", 1, "parks", True, "a car park"),
    ParameterCandidate("area", 1, "area", "North", "North"),
)


def at(step: int, parameter: str) -> Place:
    return Place(step=step, parameter=parameter)


def test_the_same_words_are_asked_for_once() -> None:
    both = {(1, "day"): "day", (4, "day"): "day"}
    assert names_at({"day": at(1, "day")}, [FIRST, LATER, AREA]) == both
    assert names_at({"day": at(1, "day"), "day_4": at(4, "day")}, [FIRST, LATER]) == both
    assert names_at({"x": at(1, "limit"), "y": at(2, "limit")}, [FIRST]) == {(1, "limit"): "x", (2, "limit"): "y"}


def test_they_get_one_place_in_the_words() -> None:
    words = words_of([FIRST, LATER], {(1, "day"): "day", (4, "day"): "day"})
    assert insert_placeholders("from 3 May, not after 3 May", words) == "from {day}, not after 3 May"


def test_a_yes_keeps_its_words_and_a_value_without_a_name_too() -> None:
    words = words_of([PARKS, AREA], {(1, "parks"): "parks"})
    assert insert_placeholders("a car park in the North", words) == "a car park in the North"
