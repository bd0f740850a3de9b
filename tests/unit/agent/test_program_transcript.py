"""A run with programs, folded: its steps by call, its path, what was set aside, what is told of the text."""

from agent.transcript import RunTranscript
from domain.event import CallFinished, PathEnded, PlanReady, ProgramLooked, ProgramRefused
from domain.plan import Plan, StepResult
from tests.support.program_events import (
    COLLEAGUES,
    INFO,
    SEARCH,
    TEXT,
    TOOLS,
    broken,
    call,
    calls,
    ended,
    program,
    run_of,
)  # fmt: skip


def told(transcript: RunTranscript) -> dict[str, object]:
    """The only subtask, as ``ask --json`` prints it."""
    [subtask] = transcript.to_json()["subtasks"]  # type: ignore[misc]
    return subtask  # type: ignore[return-value]


def test_a_programs_calls_are_steps_with_their_places_and_its_path_their_tools() -> None:
    transcript = RunTranscript.from_records(
        run_of([program(), *calls(), ended(veto="nothing was changed", verdict="partly")], "partly")
    )
    subtask = told(transcript)
    assert subtask["path"] == [SEARCH, COLLEAGUES, INFO]
    steps = subtask["steps"]
    assert [step["tool"] for step in steps] == [SEARCH, COLLEAGUES, INFO, INFO, INFO]  # type: ignore[attr-defined]
    assert steps[4]["site"] == f"1:{TEXT.index('info(')}#2"  # type: ignore[index]
    assert subtask["program"] == {
        "text": TEXT, "refused": 0, "repairs": 0, "looks": 0,
        "answered": "yes", "missing": "", "verdict": "partly", "veto": "nothing was changed",
    }  # fmt: skip


def test_calls_of_a_program_that_broke_off_are_set_aside_when_another_begins() -> None:
    again = [program(number=2), *calls(1, first=3, number=2), ended(number=2)]
    transcript = RunTranscript.from_records(run_of([program(), *calls(0), broken(), *again]))
    assert [result.tool for result in transcript.steps.values()] == [SEARCH, COLLEAGUES, INFO]
    assert [result.tool for result in transcript.failed_steps] == [SEARCH, COLLEAGUES]
    assert told(transcript)["program"]["repairs"] == 1  # type: ignore[index]


def test_where_a_wider_program_is_worse_the_first_one_stands() -> None:
    first = [program(), *calls(1), ended("partly", missing="the year")]
    second = [program(number=2), *call(4, "search", {"name": "?"}, number=2), ended("no", 2)]
    transcript = RunTranscript.from_records(run_of([*first, *second, first[-1]], "partly"))
    assert list(transcript.steps) == [1, 2, 3]
    assert [result.arguments for result in transcript.failed_steps] == [{"name": "?"}]
    assert told(transcript)["program"]["missing"] == "the year"  # type: ignore[index]
    transcript = RunTranscript.from_records(run_of([*first, *second], "gave_up"))
    assert [result.arguments for result in transcript.steps.values()] == [{"name": "?"}]
    assert len(transcript.failed_steps) == 3


def test_what_a_mended_program_goes_on_from_stays() -> None:
    more = 'one = await info(person_id=people[0]["id"])\none["name"]\n'
    again = [program(more, 2, goes_on=True), *call(3, "info", {"person_id": 1}, text=more, number=2), ended(number=2)]
    transcript = RunTranscript.from_records(run_of([program(), *calls(0), broken(), *again]))
    assert list(transcript.steps) == [1, 2, 3]
    assert transcript.failed_steps == []
    assert told(transcript)["program"]["text"] == f"{TEXT}\n\n{more}"  # type: ignore[index]


def test_refused_texts_and_looks_are_counted() -> None:
    refused = ProgramRefused(text="1 +", complaints=("it does not parse",))
    looked = ProgramLooked(number=1, shown="list of 2")
    events = [refused, refused, program(), looked, program("1\n", 2, goes_on=True), ended(number=2)]
    found = told(RunTranscript.from_records(run_of(events)))["program"]
    assert (found["refused"], found["repairs"], found["looks"]) == (2, 2, 1)  # type: ignore[index]
    alone = told(RunTranscript.from_records(run_of([refused], "gave_up")))["program"]
    assert alone == {"text": "", "refused": 1, "repairs": 0, "looks": 0}


def test_a_walk_leaves_behind_what_programs_called_and_their_end_takes_it_up_again() -> None:
    tool = TOOLS["colleagues"]
    walked = [
        PathEnded(path=(tool,), how="finished", reason="that is all"),
        PlanReady(plan=Plan(path=(tool,), complete=True)),
        CallFinished(step=1, result=StepResult(tool=tool, status="ok", attempts=1)),
    ]
    end = ended("partly", missing="the colleagues")
    first = [program(), *call(1, "search", {"name": "Henrik Grimaldo"}), end]
    transcript = RunTranscript.from_records(run_of([*first, *walked]))
    assert transcript.path == (COLLEAGUES,)
    assert [result.tool for result in transcript.failed_steps] == [SEARCH]
    assert transcript.subtasks[1].is_answered
    transcript = RunTranscript.from_records(run_of([*first, *walked, end], "partly"))
    assert transcript.path == (SEARCH,)
    assert [result.tool for result in transcript.failed_steps] == [COLLEAGUES]
    assert not transcript.subtasks[1].is_answered
