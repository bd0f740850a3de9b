"""The program that served a request is remembered with inputs in place of its values, and without those."""

from agent.memory.from_run import LONGEST_KEPT, solved
from agent.transcript import Transcript
from domain.event import Event, EventRecord
from domain.trajectory import Solved
from tests.unit.agent.program_events import TEXT, calls, ended, program, run_of


def remembered(text: str) -> Solved:
    events: list[Event] = [program(text), *calls(text=text), ended()]
    records: list[EventRecord] = run_of(events)
    (one,) = solved(records, Transcript.of(records))
    return one


def test_the_values_of_the_request_are_inputs_and_are_not_kept() -> None:
    kept = remembered(TEXT).program
    assert kept is not None
    assert kept.program.text.startswith("people = await search(name=name)\n")
    assert (kept.inputs, kept.values) == ({"name": {"type": "string"}}, {})
    assert "Grimaldo" not in kept.model_dump_json()


def test_one_that_is_long_or_of_its_conversation_is_not_kept() -> None:
    assert remembered(TEXT + "# " + "x" * LONGEST_KEPT).program is None
    assert remembered("before = earlier\n" + TEXT).program is None
