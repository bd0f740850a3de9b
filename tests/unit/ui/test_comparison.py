"""Two runs beside each other: which calls belong together, and which lines differ."""

from domain.event import CallFinished, CallStarted, Event, ProgramRefused, ProgramStarted
from domain.model import JsonObject
from domain.plan import StepResult
from domain.program import Program
from domain.tool import make_tool_id
from tests.unit.ui.telling import told
from ui.comparison import call_differences, program_text, text_differences
from ui.run_state import RunState, run_state

FIND, LOOK = make_tool_id("c", "s", "find"), make_tool_id("c", "s", "look")


def story(*calls: tuple[str, JsonObject, str]) -> RunState:
    events: list[Event] = []
    for step, (tool, arguments, response) in enumerate(calls, 1):
        of = FIND if tool == "find" else LOOK
        result = StepResult(tool=of, arguments=arguments, status="ok", response=response)
        events += [CallStarted(step=step, tool=of, arguments=arguments), CallFinished(step=step, result=result)]
    return run_state(told(seq, event) for seq, event in enumerate(events, 1))


def test_calls_with_the_same_values_belong_together_whatever_their_order() -> None:
    one = story(("find", {"a": 1, "b": 2}, '{"x": 1, "y": 2}'), ("find", {"a": 2}, "[]"), ("look", {}, "1"))
    two = story(("find", {"a": 2}, "[ ]"), ("find", {"b": 2, "a": 1}, '{"y": 2, "x": 1}'), ("look", {}, "2"))
    found, same = call_differences(one, two)
    assert (same, [(each.kind, each.tool) for each in found]) == (2, [("response", LOOK)])


def test_what_is_left_is_given_other_values_or_made_by_one_alone() -> None:
    one = story(("find", {"a": 1, "b": 2}, ""), ("find", {"a": 3}, ""), ("find", {"a": 4}, ""))
    two = story(("find", {"a": 9, "b": 2, "c": None}, ""), ("look", {}, ""), ("find", {"a": 3}, ""))
    found, same = call_differences(one, two)
    assert same == 1
    assert [(each.kind, each.values) for each in found] == [("arguments", ("a", "c")), ("first", ()), ("second", ())]


def test_the_same_call_made_more_often_is_more_calls() -> None:
    nothing: JsonObject = {}
    found, same = call_differences(story(*[("find", nothing, "")] * 3), story(("find", nothing, "")))
    assert (same, [each.kind for each in found]) == (1, ["first", "first"])


def test_lines_that_differ_stand_between_some_that_do_not() -> None:
    before = "\n".join(f"line {number}" for number in range(20))
    lines = text_differences(before, before.replace("line 9\n", "another\n"))
    assert [(one.kind, one.text) for one in lines] == [
        ("skipped", ""), ("same", "line 7"), ("same", "line 8"), ("gone", "line 9"), ("new", "another"), ("same", "line 10"),
        ("same", "line 11"), ("skipped", ""),
    ]  # fmt: skip
    assert text_differences(before, before) == []


def test_a_runs_text_is_the_last_that_ran() -> None:
    started = ProgramStarted(number=1, program=Program(text="ran", tools={}))
    assert program_text(run_state([told(1, started), told(2, ProgramRefused(text="no", complaints=("why",)))])) == "ran"
    assert program_text(run_state([told(1, ProgramRefused(text="no", complaints=("why",)))])) == "no"
    assert program_text(story(("find", {}, ""))) == ""
