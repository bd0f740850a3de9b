"""Plans as rows hold them, and the effective text of a run's cells."""

import pytest

from agent.plans.executed_plan import find_effective_program
from agent.plans.stored_plan import dump_plan, list_stored_tools, restore_plan
from agent.transcript import RunTranscript
from domain.errors import ConflictError
from domain.event import ProgramLooked
from domain.model import JsonObject
from tests.support.program_events import SEARCH, call, ended, program, run_of

PLAN: JsonObject = {
    "program": {"text": "answer = await search(name=who)", "tools": {"search": SEARCH}},
    "inputs": {"who": {"type": "string"}},
}
LOOK = 'found = await search(name="Henrik Grimaldo")\nlook(found)'
REST = 'one = await info(person_id=found["people"][0]["id"])\n{"answered": "yes", "answer": one["cited"]}'


def test_a_plan_is_stored_and_restored_as_its_program() -> None:
    plan = restore_plan(PLAN)
    assert plan.program.text == "answer = await search(name=who)"
    assert restore_plan(dump_plan(plan)) == plan
    assert list_stored_tools(PLAN) == {SEARCH}


@pytest.mark.parametrize("stored", [{"steps": [{"tool": SEARCH}]}, {}, {"program": {"text": 7}}])
def test_what_cannot_be_read_is_told(stored: JsonObject) -> None:
    with pytest.raises(ConflictError, match="stays as it was"):
        restore_plan(stored)


def test_the_cells_that_stand_are_one_text_without_their_looks() -> None:
    broken = program("oops", 2, goes_on=True)
    events = [
        program(LOOK), *call(1, "search", {"name": "Henrik Grimaldo"}, text=LOOK), ProgramLooked(number=1, shown=""),
        broken, program(REST, 3, goes_on=True), *call(2, "info", {"person_id": 7}, text=REST, number=3), ended(number=3),
    ]  # fmt: skip
    stands = find_effective_program(RunTranscript.from_records(run_of(events)))
    assert stands is not None
    assert stands.text == f"{LOOK.partition(chr(10))[0]}\n{REST}"
    assert find_effective_program(RunTranscript.from_records(run_of(events[:-1]))) is None


@pytest.mark.parametrize(
    ("look", "rest"),
    [
        ('found = await search(name="Henrik Grimaldo"); look(found)', 'found = await search(name="Henrik Grimaldo")'),
        ('a = "é"; found = await search(name=a); look(found); b = 1\nb = 2', 'a = "é"; found = await search(name=a)'),
        ("look(\n    today\n)\nb = 2", ""),
    ],
)
def test_what_stands_on_the_line_of_a_look_stays(look: str, rest: str) -> None:
    events = [
        program(look), *(call(1, "search", {"name": "Henrik Grimaldo"}, text=look) if "search" in look else ()),
        ProgramLooked(number=1, shown=""), program(REST, 2, goes_on=True),
        *call(2, "info", {"person_id": 7}, text=REST, number=2), ended(number=2),
    ]  # fmt: skip
    stands = find_effective_program(RunTranscript.from_records(run_of(events)))
    assert stands is not None
    assert stands.text == f"{rest}\n{REST}"


@pytest.mark.parametrize(
    ("last", "rest"),
    [
        ("x = await info(person_id=7); look(x)\nx", "x = await info(person_id=7); pass\nx"),
        ("x = await info(person_id=7)\nlook(x)\nlook(x)", "x = await info(person_id=7)"),
        ("if today: look(today)\nx = await info(person_id=7)", "if today: pass\nx = await info(person_id=7)"),
        ("if today:\n    look(today)\nx = await info(person_id=7)", "if today:\n    pass\nx = await info(person_id=7)"),
    ],
)
def test_looks_of_the_last_cell_are_cut_out_alone(last: str, rest: str) -> None:
    events = [program(last), *call(1, "info", {"person_id": 7}, text=last), ended()]
    stands = find_effective_program(RunTranscript.from_records(run_of(events)))
    assert stands is not None
    assert stands.text == rest
