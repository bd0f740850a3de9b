"""What runs with programs teach: transitions along their data, a few calls of many, nothing of what came to nothing."""

import pytest

from agent.learning.learner import learn_answer_shapes
from agent.learning.run_lesson import MAX_OUTCOMES_PER_TOOL, build_lesson
from agent.memory.run_lessons import extract_solved_requests
from agent.transcript import RunTranscript
from domain.event import Event, RunOutcome
from domain.program import Answered
from domain.tool import FINISH, ToolId
from graph.facts import LiveBatch
from graph.shapes import JsonShape
from tests.support.program_events import (
    ASKED,
    COLLEAGUES,
    INFO,
    SEARCH,
    TEXT,
    broken,
    call,
    calls,
    ended,
    program,
    run_of,
)  # fmt: skip


def taught(*events: Event, outcome: RunOutcome = "answered") -> LiveBatch:
    """What a run teaches."""
    batch = build_lesson(run_of(events, outcome))
    assert batch is not None
    return batch


def test_a_program_teaches_a_transition_for_each_dependency_however_often_it_called() -> None:
    batch = taught(program(), *calls(200), ended())
    assert batch.transitions == {(SEARCH, COLLEAGUES): 1, (COLLEAGUES, INFO): 1, (INFO, FINISH): 1}
    assert batch.scores == ((SEARCH, 1.0), (COLLEAGUES, 1.0), (INFO, 1.0), (FINISH, 1.0))


def test_many_calls_of_a_fan_out_count_as_a_few() -> None:
    outcomes = taught(program(), *calls(200), ended()).outcomes
    assert outcomes.count((INFO, "ok")) == MAX_OUTCOMES_PER_TOOL
    assert outcomes.count((SEARCH, "ok")) == 1


def test_the_same_call_again_is_no_more_evidence() -> None:
    made = [event for time in range(3) for event in call(3 + time, "info", {"person_id": 7}, time=time)]
    assert taught(program(), *calls(0), *made, ended()).outcomes.count((INFO, "ok")) == 1


def test_failures_among_many_calls_keep_their_proportion() -> None:
    made = [
        event
        for time in range(100)
        for event in call(3 + time, "info", {"person_id": time}, time=time, outcome="transient" if time < 40 else "ok")
    ]
    outcomes = taught(program(), *calls(0), *made, ended()).outcomes
    assert outcomes.count((INFO, "transient")) == 2
    assert outcomes.count((INFO, "ok")) == 3


@pytest.mark.parametrize(("verdict", "outcome"), [("partly", "partly"), ("no", "gave_up")])
def test_what_is_served_in_part_teaches_what_it_did_and_no_way_to_the_end(
    verdict: Answered, outcome: RunOutcome
) -> None:
    batch = taught(program(), *calls(), ended(verdict), outcome=outcome)
    assert not any(FINISH in pair for pair in batch.transitions)
    assert batch.outcomes.count((SEARCH, "ok")) == 1
    done = {(SEARCH, COLLEAGUES): 1, (COLLEAGUES, INFO): 1} if verdict == "partly" else {}
    assert dict(batch.transitions) == done
    assert dict(batch.scores)[INFO] == 0.0


def test_a_program_that_broke_off_teaches_what_failed_in_it_and_the_next_one_the_rest() -> None:
    first = [*calls(0), *call(3, "info", {"person_id": 0}, outcome="gone")]
    again = calls(0, first=4, number=2)
    batch = taught(
        program(),
        *first,
        broken(),
        program(number=2),
        *again,
        *call(6, "info", {"person_id": 1}, number=2),
        ended(number=2),
    )
    assert batch.transitions == {(SEARCH, COLLEAGUES): 1, (COLLEAGUES, INFO): 2, (INFO, FINISH): 1}
    assert sorted(score for tool, score in batch.scores if tool == INFO) == [-1.0, 1.0]
    assert batch.outcomes.count((SEARCH, "ok")) == 1  # made twice with the same name: one call
    assert set(batch.outcomes) >= {(INFO, "gone"), (INFO, "ok")}


def test_a_call_whose_result_nobody_takes_was_made_for_what_it_does() -> None:
    text = 'people = await search(name="Henrik Grimaldo")\nawait info(person_id=people[0]["id"])\n"done"\n'
    made = [*call(1, "search", {}, text=text), *call(2, "info", {"person_id": 1}, text=text)]
    assert taught(program(text), *made, ended()).transitions == {(SEARCH, INFO): 1, (INFO, FINISH): 1}


def test_cells_are_one_program() -> None:
    first = 'people = await search(name="Henrik Grimaldo")\nlook(people)\n'
    second = 'one = await info(person_id=people[0]["id"])\none["name"]\n'
    batch = taught(
        program(first), *call(1, "search", {}, text=first),
        program(second, 2, goes_on=True), *call(2, "info", {"person_id": 1}, text=second, number=2), ended(number=2),
    )  # fmt: skip
    assert batch.transitions == {(SEARCH, INFO): 1, (INFO, FINISH): 1}


def test_a_text_that_cannot_be_read_teaches_no_transition_and_no_less_of_its_tools() -> None:
    text = TEXT + "\n)("
    batch = taught(program(text), *calls(1, text=text), ended())
    assert batch.transitions == {}
    assert batch.outcomes.count((SEARCH, "ok")) == 1


def test_memory_keeps_the_tools_that_answered_by_their_first_calls() -> None:
    made = [*calls(2), *call(5, "info", {"person_id": 9}, time=2, outcome="absent")]
    records = run_of([program(), *made, ended()])
    [kept] = extract_solved_requests(records, RunTranscript.from_records(records))
    assert kept.request == ASKED
    assert kept.path == (SEARCH, COLLEAGUES, INFO)
    records = run_of([program(), *calls(2), ended("partly")], "partly")
    assert list(extract_solved_requests(records, RunTranscript.from_records(records))) == []


async def test_answers_of_programs_are_learnt_as_those_of_steps() -> None:
    learnt: dict[ToolId, int] = {}

    class Keeping:
        async def learn_answers(self, seen: dict[ToolId, list[JsonShape]]) -> set[ToolId]:
            learnt.update({tool: len(shapes) for tool, shapes in seen.items()})
            return set()

    await learn_answer_shapes(run_of([program(), *calls(200), ended()]), Keeping())  # type: ignore[arg-type]
    assert learnt == {SEARCH: 1, COLLEAGUES: 1, INFO: 5}
