"""What events add up to."""

from domain.event import (
    AnswerDelta,
    CallFinished,
    CallStarted,
    CandidatesConsidered,
    ConsideredTool,
    NoSolution,
    ProgramStarted,
    RunFinished,
    SolutionTaken,
    StepBacktracked,
    StepChosen,
)
from domain.plan import Binding, StepResult
from domain.program import Program
from domain.tool import ToolId, make_tool_id
from domain.usage import Usage
from tests.unit.ui.telling import raw, told
from ui.run_state import given_values, run_state
from ui.run_summary import from_library, summary

FIRST, SECOND = make_tool_id("c", "s", "first"), make_tool_id("c", "s", "second")


def considered(tool: ToolId, weight: float) -> ConsideredTool:
    return ConsideredTool(tool=tool, weight=weight, availability=None, relevance=0.5, origin="graph")


def test_a_walk_is_its_candidates_and_what_became_of_them() -> None:
    candidates = (considered(FIRST, 0.7), considered(SECOND, 0.2))
    story = run_state(
        [
            told(1, CandidatesConsidered(path=(), candidates=candidates, finish_weight=0)),
            told(2, StepChosen(tool=FIRST, path=(FIRST,), reason="it fits")),
            told(3, StepBacktracked(dropped=FIRST, path=(), reason="it led nowhere")),
            told(4, StepChosen(tool=SECOND, path=(SECOND,), reason="what is left")),
        ]
    )
    shown = {path: (node.state, node.weight, node.reason) for (_, path), node in story.nodes.items()}
    assert shown == {
        (FIRST,): ("backtracked", 0.7, "it led nowhere"),
        (SECOND,): ("chosen", 0.2, "what is left"),
    }


def test_the_same_tool_of_two_subtasks_is_two_nodes() -> None:
    event = StepChosen(tool=FIRST, path=(FIRST,), reason="")
    assert len(run_state([told(1, event, subtask=1), told(2, event, subtask=2)]).nodes) == 2


def test_a_result_belongs_to_the_call_of_its_subtask_and_step() -> None:
    started = CallStarted(step=1, tool=FIRST, arguments={"a": 1})
    result = StepResult(tool=FIRST, status="ok", response="yes")
    story = run_state(
        [told(1, started, 1), told(2, started, 2), told(3, CallFinished(step=1, result=result), subtask=1)]
    )
    assert [(call.subtask, call.result) for call in story.calls] == [(1, result), (2, None)]


def test_a_call_that_was_never_made_is_shown_with_its_result() -> None:
    result = StepResult(tool=FIRST, status="missing", note="nothing gives its city")
    assert [call.result for call in run_state([told(1, CallFinished(step=1, result=result))]).calls] == [result]


def test_the_answer_grows_and_is_that_of_the_end() -> None:
    events = [told(1, AnswerDelta(text="Four")), told(2, AnswerDelta(text=" of"))]
    assert run_state(events).answer == "Four of"
    end = RunFinished(outcome="answered", answer="Four of them.", usage=Usage())
    assert run_state([*events, told(3, end)]).answer == "Four of them."


def test_an_event_that_comes_twice_counts_once() -> None:
    event = told(1, AnswerDelta(text="once"))
    assert run_state([event, event]).answer == "once"


def test_kinds_of_a_later_server_are_passed_over() -> None:
    story = run_state([raw(1, {"kind": "moon.rose"}), told(2, AnswerDelta(text="still here"))])
    assert (story.skipped, story.answer, story.seq) == (1, "still here", 2)


def test_a_question_is_taken_in_with_its_call() -> None:
    asked: dict[str, object] = {
        "kind": "input.needed",
        "input": "q1",
        "asks": "call",
        "tool": FIRST,
        "arguments": {"n": 1},
        "reason": "may it?",
    }
    story = run_state([raw(1, asked), raw(2, {"kind": "input.needed"})])
    assert [(one.input, one.tool, one.arguments) for one in story.questions.values()] == [("q1", FIRST, {"n": 1})]
    assert story.skipped == 1


def test_an_ended_run_asks_nothing() -> None:
    asked: dict[str, object] = {
        "kind": "input.needed",
        "input": "q1",
        "asks": "call",
        "tool": FIRST,
        "arguments": {},
        "reason": "",
    }
    end = RunFinished(outcome="cancelled", answer="", usage=Usage())
    assert not run_state([raw(1, asked), told(2, end)]).questions


def test_values_that_were_fixed_before_the_run_are_told_once() -> None:
    bound = (Binding(parameter="city", origin="user"), Binding(parameter="year", origin="request"))
    started = CallStarted(step=1, tool=FIRST, arguments={"city": "Rome", "year": 2026}, provenance=bound)
    again = started.model_copy(update={"step": 2})
    assert given_values(run_state([told(1, started), told(2, again)])) == ["city: Rome"]


def test_a_call_that_lacks_a_key_is_noticed() -> None:
    tool = make_tool_id("c", "s", "a")
    for note, lacks in (("a key is needed for h:1: keep it", True), ("HTTP 500", False)):
        ended = CallFinished(step=1, result=StepResult(tool=tool, status="failed", note=note))
        assert run_state([told(1, ended)]).lacks_a_key == lacks


def test_no_call_is_under_way_for_ever() -> None:
    first, second = (CallStarted(step=1, tool=FIRST, arguments={"city": name}) for name in ("Old Mill", "Kamalakot"))
    cut_off = CallStarted(step=2, tool=SECOND, arguments={})
    result = StepResult(tool=FIRST, arguments={"city": "Kamalakot"}, status="ok", response="yes")
    events = [first, second, CallFinished(step=1, result=result), cut_off]
    story = run_state([told(seq, event) for seq, event in enumerate(events, start=1)])
    assert [call.result and call.result.status for call in story.calls] == ["unknown", "ok", None]
    assert "other values" in (story.calls[0].result or result).note
    story.add(told(5, RunFinished(outcome="cancelled", answer="", usage=Usage())))
    assert "ended before" in (story.calls[2].result or result).note


def test_what_was_taken_out_of_the_library_is_noted() -> None:
    events = (
        SolutionTaken(solution="s", pattern="Who wrote {title}?", how="plain", values={"title": "Dune"}),
        NoSolution(shown=4, path=("first", "second"), reason="none finds a forecast"),
        NoSolution(shown=0, reason="the library is empty"),
    )
    story = run_state([told(number, event) for number, event in enumerate(events, start=1)])
    assert story.notes == [
        'Took the solution for “Who wrote {title}?” with title = "Dune"',
        "None of 4 solutions fits: none finds a forecast; proposed calls: first, second",
        "Wrote without a solution: the library is empty",
    ]


def test_an_answer_out_of_the_library_says_so_and_how_to_say_no() -> None:
    taken = SolutionTaken(solution="s", pattern="Who wrote {title}?", how="plain", values={"title": "Dune"})
    program = Program(text="'Frank Herbert'", tools={}, arguments={})
    answered = [told(2, ProgramStarted(number=1, program=program)), told(3, AnswerDelta(text="Frank Herbert"))]
    shown = from_library(run_state([told(1, taken), *answered]))
    assert shown.startswith('Took the solution for “Who wrote {title}?” with title = "Dune". Not right? Say Wrong')
    again = told(4, ProgramStarted(number=2, program=program))
    assert from_library(run_state([told(1, taken), *answered, again])) == ""
    chosen = told(1, taken.model_copy(update={"how": "chosen"}))
    assert from_library(run_state([chosen, *answered])) == ""


def test_what_its_user_did_not_allow_is_no_failure_to_find_a_way() -> None:
    end = RunFinished(outcome="gave_up", answer="", usage=Usage())
    made = CallStarted(step=1, tool=FIRST, arguments={})
    for status, said in (
        ("skipped", "Not done, as you did not allow it, in 0.0 s: no calls"),
        ("failed", "Found no way to answer in 0.0 s: 1 call"),
    ):
        result = StepResult.model_validate({"tool": FIRST, "status": status})
        story = run_state([told(1, made), told(2, CallFinished(step=1, result=result)), told(3, end)])
        assert summary(story, end) == said


def test_a_walk_without_a_program_is_told_as_such_wherever_it_is_seen() -> None:
    walked = run_state([told(1, StepChosen(tool=FIRST, path=(FIRST,), reason=""))])
    assert (walked.by_program, run_state([]).by_program) == (False, True)
