"""Programs as steps: those that call one thing after the other; of all others it is said what steps cannot say."""

import json

import pytest

from agent.plans.steps_from_run import ParameterCandidate, build_steps
from domain.errors import NotLinearError
from domain.event import Event
from domain.plan import PlanDocument, Take
from tests.support.program_events import COLLEAGUES, INFO, SEARCH, call, ended, program, run_of

PEOPLE = json.dumps({"people": [{"id": 7, "name": "Henrik Grimaldo"}]})
STRAIGHT = """found = await search(name="Henrik Grimaldo", limit=1)
person = found["people"][0]
one = await info(person_id=person.get("id"))
{"answered": "yes", "answer": one["cited"]}
"""


def made(text: str, *functions: str) -> tuple[PlanDocument, list[ParameterCandidate]]:
    """The plan of a run whose program called these, with the id 7 for a person."""
    events: list[Event] = []
    for step, function in enumerate(functions, start=1):
        given = {"name": "Henrik Grimaldo", "limit": 1} if function == "search" else {"person_id": 7}
        events += call(
            step, function, {**given}, text=text, response=PEOPLE if function == "search" else '{"cited": 12}'
        )
    return build_steps(run_of([program(text), *events, ended()]))


def test_one_call_after_the_other_is_a_plan() -> None:
    document, offered = made(STRAIGHT, "search", "info")
    assert [step.tool for step in document.steps] == [SEARCH, INFO]
    assert document.steps[0].arguments == {"name": "Henrik Grimaldo", "limit": 1}
    assert document.steps[1].takes == {"person_id": Take(step=1, field="people[0].id")}
    assert [(one.name, one.request_words) for one in offered] == [("name", "Henrik Grimaldo")]


def test_cells_and_calls_side_by_side_are_one_plan() -> None:
    text = (
        'found, = await asyncio.gather(search(name="Henrik Grimaldo"))\n'
        'who = found["people"][0]["id"]\n'
        "a, b = await asyncio.gather(colleagues(person_id=who), info(person_id=who))\nlen(a)\n"
    )
    document, _ = made(text, "search", "colleagues", "info")
    assert [step.tool for step in document.steps] == [SEARCH, COLLEAGUES, INFO]
    assert document.steps[2].takes == {"person_id": Take(step=1, field="people[0].id")}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        (
            'found = await search(name="Henrik Grimaldo")\nfor one in found["people"]:\n    await info(person_id=one["id"])\n',
            3,
            "in a loop",
        ),
        (
            'found = await search(name="Henrik Grimaldo")\nbest = max(found["people"], key=lambda one: one["id"])\nawait info(person_id=best["id"])',
            3,
            "computes or chooses the value of person_id",
        ),
        (
            'found = await search(name="Henrik Grimaldo")\nif found:\n    await info(person_id=7)',
            3,
            "only where something is so",
        ),
        (
            'found = await search(name="Henrik Grimaldo")\none = found["people"][0]\none = {"id": 7}\nawait info(person_id=one["id"])',
            4,
            "computes or chooses",
        ),
        ('found = await search(name="Henrik Grimaldo")\nawait info(person_id=found["ids"][0])', 2, "no answer holds"),
    ],
)
def test_what_is_repeated_chosen_or_computed_is_no_plan(text: str, line: int, what: str) -> None:
    with pytest.raises(NotLinearError, match=f"line {line} of its program.*{what}"):
        made(text, "search", "info")


def test_a_value_of_the_program_that_nobody_said_stands() -> None:
    document, offered = made("who = 7\nawait info(person_id=who)", "info")
    assert document.steps[0].arguments == {"person_id": 7}
    assert offered == []
