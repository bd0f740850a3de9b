"""Programs on the page: folded from events, and drawn by Streamlit itself."""

from collections.abc import Mapping, Sequence

import pytest
from streamlit.testing.v1 import AppTest

from domain.event import CallFinished, Event, EventRecord, ProgramLooked, ProgramRefused
from domain.tool import ToolId
from tests.support.program_events import TEXT, broken, call, calls, ended, program, run_of
from ui.calls import Call, CallState
from ui.program_lines import ProgramLines, program_lines
from ui.program_state import Written
from ui.program_view import verdict
from ui.run_state import RunState, run_state
from ui.stream import Told


def story(records: list[EventRecord]) -> RunState:
    """What these add up to."""
    return run_state(Told(one.seq, one.event.kind, one.model_dump_json()) for one in records)


def texts(events: Sequence[Event]) -> list[Written]:
    """The programs of a run that still goes on."""
    return story(run_of(events)[:-1]).programs.texts


def nobody_asked(_: Call) -> bool:
    return False


def states(events: Sequence[Event]) -> dict[int, CallState]:
    """Of the lines of its last program."""
    return texts(events)[-1].lines(nobody_asked)


def page(bodies: list[str], unfolded: bool) -> None:
    """A page with a run on it; Streamlit runs it apart, so it imports for itself."""
    from ui.run_state import run_state
    from ui.run_view import draw
    from ui.stream import Told

    draw(run_state(Told(seq, "", body) for seq, body in enumerate(bodies, start=1)), unfolded=unfolded)


def drawn(records: list[EventRecord], *, unfolded: bool = True) -> AppTest:
    """The page of a run."""
    told = {"bodies": [one.model_dump_json() for one in records], "unfolded": unfolded}
    return AppTest.from_function(page, default_timeout=30, kwargs=told).run()


def test_calls_are_told_by_the_places_that_make_them() -> None:
    [one] = texts([program(), *calls(12), ended()])
    made = [(line, len(one.calls.get(place, ()))) for place, line, _ in one.called]
    assert made == [(1, 1), (3, 1), (4, 12)]
    assert one.became == "answered"


def test_lines_tell_how_far_a_program_has_come() -> None:
    assert states([program()]) == dict.fromkeys(range(1, 7), "unreached")
    begun, done = call(1, "search", {})
    assert states([program(), begun]) == {1: "running", **dict.fromkeys(range(2, 7), "unreached")}
    assert states([program(), begun, done])[1] == "done"
    looping = states([program(), *calls(2), call(9, "info", {"person_id": 9}, time=9)[0]])
    assert looping == {1: "done", 3: "done", 4: "running", 5: "unreached", 6: "unreached"}
    assert states([program(), *calls(1), ended()]) == {1: "done", 3: "done", 4: "done"}


def test_a_line_that_broke_off_or_failed_says_so_and_those_behind_it_were_not_reached() -> None:
    failed = call(1, "search", {}, outcome="gone")
    assert states([program(), *failed, broken(line=1)]) == {1: "failed", **dict.fromkeys(range(2, 7), "unreached")}
    assert states([program(), *calls(0), broken(line=5)]) == {
        1: "done",
        3: "done",
        4: "unreached",
        5: "failed",
        6: "unreached",
    }


def test_a_call_within_a_function_is_of_the_statement_that_uses_it() -> None:
    text = "async def one(name):\n    return await search(name=name)\nfirst = 1\nx = await one('a')\n{'answer': x}\n"
    assert states([program(text), call(1, "search", {}, text=text)[0]]) == {2: "running", 5: "unreached"}


def test_a_call_that_was_not_allowed_is_not_made_and_has_not_failed() -> None:
    [begun, ended_ok] = call(1, "search", {})
    assert isinstance(ended_ok, CallFinished)
    denied = ended_ok.result.model_copy(update={"status": "skipped", "outcome": None})
    events = [program(), begun, ended_ok.model_copy(update={"result": denied}), broken(line=1)]
    assert states(events) == {1: "not_made", **dict.fromkeys(range(2, 7), "unreached")}
    titles = [one.label for one in drawn(run_of(events)).expander]
    assert "– line 1: people / search (not made)" in titles


def test_a_call_that_is_asked_about_waits() -> None:
    [one] = texts([program(), call(1, "search", {"name": "x"})[0]])
    assert one.lines(lambda asked: asked.arguments == {"name": "x"})[1] == "waits"


def test_each_text_is_told_with_what_became_of_it() -> None:
    refused = ProgramRefused(text="nope()", complaints=("nope is not offered",))
    again = [program(number=2), ProgramLooked(number=2, shown="a list"), program("1\n", 3, goes_on=True)]
    told = texts([refused, program(), *calls(0), broken(), *again, ended("partly", 3)])
    assert [(one.became, one.mends) for one in told] == [
        ("refused before anything was called", False),
        ("broke off on line 3", True),
        ("stopped to look", True),
        ("answered in part", False),
    ]
    assert [sum(map(len, one.calls.values())) for one in told] == [0, 2, 0, 0]


def test_where_none_was_written_that_is_told_once_and_as_no_failure() -> None:
    why = ProgramRefused(text="", complaints=("no sentence says it",))
    page = drawn(run_of([why, program(), *calls(0), ended(), why]))
    assert not page.exception
    titles = [*(one.label for one in page.expander), *(one.value for one in page.markdown)]
    assert titles.count("Tried and not used") == 1
    assert not any(one.startswith("✗") or "none was written" in one for one in titles)
    page.session_state["run-not-written"] = True
    told = [one.value for one in page.run().caption]
    assert sum("no sentence says it" in one for one in told) == 1


def test_the_verdict_says_why_it_is_less_than_the_program_says() -> None:
    [one] = texts([program(), ended("no", veto="its change failed", missing="the year")])
    assert verdict(one) == (
        "The program says that it serves all of it. It counts as none of it: its change failed. Missing: the year"
    )


def test_a_text_is_read_once_however_many_calls_it_makes(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []

    def counted(text: str, tools: Mapping[str, ToolId]) -> ProgramLines:
        read.append(text)
        return program_lines(text, tools)

    monkeypatch.setattr("ui.program_state.program_lines", counted)
    state = story(run_of([program(), *calls(200), ended()]))
    assert read == [TEXT]
    assert len(state.calls) == 202
    assert state.programs.texts[0].times[4].now == 0


def test_a_run_that_has_ended_is_its_answer_and_one_folded_line() -> None:
    page = drawn(run_of([program(), *calls(12), ended("partly", missing="the year")], "partly"), unfolded=False)
    assert not page.exception
    assert page.text[0].value == "Ada: 12"
    assert [one.label for one in page.expander] == ["Answered in part in 0.0 s: 14 calls"]


def test_unfolded_it_is_the_text_its_calls_and_the_verdict() -> None:
    page = drawn(run_of([program(), *calls(12), ended("partly", missing="the year")], "partly"))
    assert not page.exception
    assert any("search" in one.body for one in page.get("html"))  # type: ignore[attr-defined]
    titles = [one.label for one in page.expander]
    assert any(title.startswith("✓ line 4: people / info ×12 (12 ok") for title in titles)
    assert "Its calls, and what feeds what" in titles
    told = [one.value for one in page.caption]
    assert any("Missing" in one for one in told)
    assert any(one.startswith("Time: ") for one in told)


def test_the_first_calls_of_a_loop_are_shown_and_all_on_request() -> None:
    page = drawn(run_of([program(), *calls(50), ended()]))
    loop = f"run-1-1-{TEXT.index('info(')}"
    page.session_state[loop] = True
    page.run()
    assert len([one for one in page.expander if "person" in one.label]) == 5
    page.button(f"{loop}-all-button").click().run()
    assert not page.exception
    assert len([one for one in page.expander if "person" in one.label]) == 50
    assert not page.button


def test_strange_texts_are_no_markup() -> None:
    nasty = program("x = '[a](http://evil.example)'\n")
    page = drawn(
        run_of([nasty, broken(error="**![x](http://evil.example/x.png)**"), ended(missing="<b>[a](http://e.example)")])
    )
    assert not page.exception
    shown = (
        [one.value for one in page.markdown]
        + [one.value for one in page.caption]
        + [one.label for one in page.expander]
    )
    assert not any("](http" in text for text in shown)


def test_a_call_under_way_is_told_as_such() -> None:
    page = drawn(run_of([program(), *calls(0), call(3, "info", {"person_id": 1})[0]])[:-1])
    assert not page.exception
    assert any("info" in one.label and "under way" in one.label for one in page.expander)
