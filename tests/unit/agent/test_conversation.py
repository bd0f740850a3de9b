"""What a run leaves to later questions, and how they refer to it."""

import json
from datetime import UTC, datetime

from agent.conversation import (
    MAX_RESPONSE_CHARS,
    MAX_STEPS_PER_RUN,
    REUSED_NOTE,
    ConversationHistory,
    EarlierRun,
    StepReferences,
    build_earlier_run,
)
from domain.event import (
    CallFinished,
    CallStarted,
    Event,
    EventRecord,
    ProgramEnded,
    RunStarted,
    StepBacktracked,
    SubtaskStarted,
)
from domain.model import JsonObject
from domain.plan import Binding, StepResult, StepStatus
from domain.tool import ToolId
from tests.support.program_events import COLLEAGUES, SEARCH, calls, ended, program, run_of

BEGUN = SubtaskStarted(subtask=1, name="a", description="What is the population of Paris?")


def call(tool: str, arguments: JsonObject, response: str = '{"id": 7}', status: StepStatus = "ok") -> CallFinished:
    bound = tuple(Binding(parameter=name, origin="request", reference=str(value)) for name, value in arguments.items())
    result = StepResult(tool=ToolId(tool), arguments=arguments, provenance=bound, status=status, response=response)
    return CallFinished(step=1, result=result)


def left_by(*events: Event) -> EarlierRun:
    return build_earlier_run(
        [
            EventRecord(run="r1", seq=number, at=datetime.now(UTC), subtask=1, event=event)
            for number, event in enumerate(events, start=1)
        ]
    )


def test_what_found_something_is_kept_with_the_number_of_its_event() -> None:
    found = left_by(
        RunStarted(request="?", planner="dfs", policy="offline"),
        BEGUN,
        call("a", {"city": "Paris"}),
        call("b", {}, status="failed"),
        call("c", {}, response='{"items": []}'),
        call("d", {"x": 1}),
        StepBacktracked(dropped=ToolId("d"), path=(), reason="it failed", phase="execute"),
    )
    assert (found.run, found.request) == ("r1", "What is the population of Paris?")
    assert [(seq, result.tool) for seq, result in found.steps] == [(3, "a")]
    assert (found.steps[0][1].note, found.steps[0][1].provenance) == (REUSED_NOTE, ())


def test_a_change_is_kept_whatever_it_answered() -> None:
    """What is to be taken back is found by its arguments alone."""
    bare = [call(api, {"id": 7}, response=body) for api, body in (("a", ""), ("b", "{}"), ("c", '{"deleted": []}'))]
    changes = [one.model_copy(update={"result": one.result.model_copy(update={"changes": True})}) for one in bare]
    assert [result.tool for _, result in left_by(BEGUN, *changes).steps] == ["a", "b", "c"]
    assert all(result.arguments == {"id": 7} for _, result in left_by(BEGUN, *changes).steps)


def test_it_is_bounded() -> None:
    found = left_by(BEGUN, *(call("a", {"n": n}) for n in range(MAX_STEPS_PER_RUN + 3)), call("a", {"n": 5}))
    assert [result.arguments["n"] for _, result in found.steps] == [3, 4, *range(6, MAX_STEPS_PER_RUN + 3), 5]
    long = call("a", {}, response=json.dumps({"text": "x" * MAX_RESPONSE_CHARS}))
    short = long.model_copy(update={"result": long.result.model_copy(update={"compressed": '{"text": "x…"}'})})
    assert left_by(BEGUN, short).steps[0][1].response == '{"text": "x…"}'
    assert len(left_by(BEGUN, long).steps[0][1].response) == MAX_RESPONSE_CHARS


def references(request: str = "And its weather?", *numbers: int) -> StepReferences:
    steps = tuple((seq, call("a", {"city": city}).result) for seq, city in enumerate(("Oslo", "Paris"), start=1))
    return StepReferences(request, ConversationHistory((EarlierRun("r1", "?", steps),)), numbers)


def started(*bindings: Binding, **arguments: str) -> CallStarted:
    return CallStarted(step=2, tool=ToolId("b"), arguments=dict(arguments), provenance=bindings)


def test_a_value_of_an_earlier_call_is_told_by_its_number_in_the_conversation() -> None:
    given = Binding(parameter="id", origin="step", reference="1.items[0].id")
    own = Binding(parameter="n", origin="step", reference="2.n")
    names = references("And its weather?", 2)
    told = names.to_run_event(started(given, own, id="7", n="1"))
    assert isinstance(told, CallStarted)
    assert [one.reference for one in told.provenance] == ["earlier.2.items[0].id", "2.n"]
    assert [names.to_subtask_binding(one) for one in told.provenance] == [given, own]


def test_a_value_that_only_an_earlier_question_named_is_told_as_its_argument() -> None:
    city = Binding(parameter="place", origin="request", reference="Paris")
    told = references("And tomorrow?").to_run_event(started(city, place="Paris"))
    assert isinstance(told, CallStarted)
    assert told.provenance == (Binding(parameter="place", origin="step", reference="earlier.2:city"),)
    assert references("And in Paris?").to_run_event(started(city, place="Paris")) == started(city, place="Paris")


def test_what_is_told_of_the_conversation_says_where_it_is() -> None:
    steps = ((4, call("a", {}).result), (9, call("b", {}).result))
    told = ConversationHistory((EarlierRun("r1", "?", steps), EarlierRun("r2", "?", steps[:1]))).list_step_references()
    assert [(one.run, one.seq, one.tool) for one in told] == [("r1", 4, "a"), ("r1", 9, "b"), ("r2", 4, "a")]


def test_a_loop_does_not_drive_out_what_it_began_with() -> None:
    kept = build_earlier_run(run_of([program(), *calls(40), ended()])).steps
    assert [result.tool for _, result in kept[:2]] == [SEARCH, COLLEAGUES]
    assert [result.arguments["person_id"] for _, result in kept[2:]] == list(range(34, 40))


def test_only_the_program_that_stands_answers() -> None:
    """One that lacked something is followed by one over more tools: what the first one said is no answer."""
    lacking = ProgramEnded(number=1, answered="no", answer="I cannot look that up.", verdict="no", missing="tasks")
    wider = ProgramEnded(number=2, answered="yes", answer="2 tasks are open.", verdict="yes")
    assert left_by(BEGUN, lacking, wider).answer == "2 tasks are open."
    assert left_by(BEGUN, wider, lacking, wider).answer == "2 tasks are open."
    two = [*enumerate((lacking, wider), start=1)]
    records = [EventRecord(run="r1", seq=at, at=datetime.now(UTC), subtask=at, event=event) for at, event in two]
    assert build_earlier_run(records).answer == "I cannot look that up.\n2 tasks are open."
