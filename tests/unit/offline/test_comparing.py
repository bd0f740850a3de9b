import json

from domain.plan import Binding, StepResult
from offline.comparing import compared
from offline.nlp.asked_words import asked_words
from tests.flows.small_world import GEOCODE


def step(city: str, **fields: object) -> StepResult:
    bound = (Binding(parameter="city", origin="request", reference=city),)
    return StepResult(tool=GEOCODE.id, status="ok", response=json.dumps(fields), provenance=bound)


STEPS = [(GEOCODE, step("Rome", population=10, elevation=20)), (GEOCODE, step("Oslo", population=4, elevation=23))]


def told(request: str) -> str:
    return compared(request, STEPS, [1, 2], asked_words(request)[0])


def test_two_results_are_held_against_each_other() -> None:
    assert told("Compare the population of Rome and Oslo") == "Answer: population: Rome 10; Oslo 4; difference 6\n"
    assert told("Is Rome a bigger city than Oslo?").startswith("Answer: Rome (bigger: population Rome 10; Oslo 4")
    assert "together 14" in told("How many people live in Rome and Oslo together? population")


def test_what_cannot_be_compared_is_not() -> None:
    assert told("Tell me the mayor of Rome and Oslo") == ""
    assert compared("Compare the population", STEPS[:1], [1], frozenset({"population"})) == ""
    assert compared("Compare the population", [], [], frozenset({"population"})) == ""


def test_what_is_called_by_name_is_compared_and_of_equals_none_comes_first() -> None:
    steps = [(GEOCODE, step("Rome", count=1, population=10)), (GEOCODE, step("Oslo", count=1, population=14))]
    request = "Which city is bigger by population, Rome or Oslo?"
    assert compared(request, steps, [1, 2], asked_words(request)[0]).startswith("Answer: Oslo (bigger: population")
    same = [(GEOCODE, step("Rome", population=10)), (GEOCODE, step("Oslo", population=10))]
    assert (
        compared(request, same, [1, 2], asked_words(request)[0])
        == "Answer: population: Rome 10; Oslo 10; difference 0\n"
    )
