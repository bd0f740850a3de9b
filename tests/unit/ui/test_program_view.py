"""Programs on the page: folded from events, and drawn by Streamlit itself."""

from streamlit.testing.v1 import AppTest

from domain.event import EventRecord, ProgramLooked, ProgramRefused
from tests.unit.agent.program_events import TEXT, broken, call, calls, ended, program, run_of
from ui.program_state import line_of
from ui.program_view import by_place, verdict
from ui.run_state import RunState, run_state
from ui.stream import Told


def story(records: list[EventRecord]) -> RunState:
    """What these add up to."""
    return run_state(Told(one.seq, one.event.kind, one.model_dump_json()) for one in records)


def page(bodies: list[str]) -> None:
    """A page with a run on it; Streamlit runs it apart, so it imports for itself."""
    from ui.run_state import run_state
    from ui.run_view import draw
    from ui.stream import Told

    draw(run_state(Told(seq, "", body) for seq, body in enumerate(bodies, start=1)), unfolded=True)


def drawn(records: list[EventRecord]) -> AppTest:
    """The page of a run."""
    bodies = [one.model_dump_json() for one in records]
    return AppTest.from_function(page, default_timeout=30, kwargs={"bodies": bodies}).run()


def test_calls_are_told_by_the_lines_that_make_them() -> None:
    told = story(run_of([program(), *calls(12), ended()]))
    [one] = told.programs
    assert [(line, len(made)) for line, made in by_place(told, one)] == [(1, 1), (3, 1), (4, 12)]
    assert one.became == "answered"


def test_a_line_is_counted_in_bytes() -> None:
    assert line_of("é = 1\nö = 2\n", len("é = 1\n".encode())) == 2


def test_each_text_is_told_with_what_became_of_it() -> None:
    refused = ProgramRefused(text="nope()", complaints=("nope is not offered",))
    again = [program(number=2), ProgramLooked(number=2, shown="a list"), program("1\n", 3, goes_on=True)]
    told = story(run_of([refused, program(), *calls(0), broken(), *again, ended("partly", 3)], "partly"))
    assert [one.became for one in told.programs] == [
        "refused before anything was called",
        "broke off on line 3",
        "stopped to look",
        "answered in part",
    ]
    assert [len(by_place(told, one)) for one in told.programs] == [0, 2, 0, 0]


def test_the_verdict_says_why_it_is_less_than_the_program_says() -> None:
    [one] = story(run_of([program(), ended("no", veto="its change failed", missing="the year")])).programs
    assert verdict(one) == (
        "The program says that it serves all of it. It counts as none of it: its change failed. Missing: the year"
    )


def test_the_page_shows_the_text_its_calls_and_the_verdict() -> None:
    page = drawn(run_of([program(), *calls(12), ended("partly", missing="the year")], "partly"))
    assert not page.exception
    assert page.code[0].value == TEXT.strip()
    titles = [one.label for one in page.expander]
    assert titles[0] == "Program 1: answered in part"
    assert any(title.startswith("✓ line 4: people / info ×12 (12 ok)") for title in titles)
    told = [one.value for one in page.caption]
    assert any(one.startswith("Answered in part") for one in told)
    assert any("Missing" in one for one in told)


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
