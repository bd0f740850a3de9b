"""What a terminal shows of programs."""

import io

from rich.console import Console

from domain.event import CallFinished, CallStarted, Event, ProgramEvent, ProgramLooked, ProgramRefused
from scripts._program_view import ProgramView
from tests.support.program_events import TEXT, broken, calls, ended, program


def shown(*events: Event, whole: bool = False) -> str:
    """What is on the terminal after these."""
    screen = io.StringIO()
    view = ProgramView(Console(file=screen, width=120, highlight=False), whole=whole)
    for event in events:
        if isinstance(event, CallStarted | CallFinished):
            assert view.takes(event)
        else:
            assert isinstance(event, ProgramEvent)
            view.show(event)
    return screen.getvalue()


def test_a_program_is_shown_with_its_calls_and_what_became_of_it() -> None:
    text = shown(program(), *calls(2), ended("partly", veto="nothing was changed", missing="the year"))
    assert all(line in text for line in TEXT.splitlines())
    assert "3. line 4 people/info(person_id=0)" in text
    assert "■ answered: partly  nothing was changed; missing: the year" in text


def test_a_long_line_of_a_program_stays_one() -> None:
    line = f"names = {[f'name {number}' for number in range(40)]!r}"
    assert f"  1  {line}\n" in shown(program(line))


def test_of_a_loop_the_first_calls_are_shown_and_the_others_counted() -> None:
    text = shown(program(), *calls(40), ended())
    assert text.count("people/info(") == 5
    assert "and 35 calls more of people/info" in text
    assert shown(program(), *calls(40), ended(), whole=True).count("people/info(") == 40


def test_refusals_looks_and_failures_are_told() -> None:
    refused = ProgramRefused(text="nope()", complaints=("nope is not offered",))
    text = shown(refused, program(), ProgramLooked(number=1, shown="a list of 2"), broken(line=3))
    assert "program refused" in text
    assert "nope is not offered" in text
    assert "looked at a list of 2" in text
    assert "broke off on line 3  KeyError: 'id'" in text


def test_what_could_steer_the_terminal_is_not_printed() -> None:
    text = shown(program("x = '\x1b[2J[bold]'\n"), broken(error="\x1b]0;mine\x07[red]"), ended(missing="\x1b[31m"))
    assert "\x1b" not in text
    assert "[bold]" in text
    assert "[red]" in text


def test_a_call_of_no_program_is_shown_by_others() -> None:
    view = ProgramView(Console(file=io.StringIO()))
    started, finished = calls(0)[:2]
    assert isinstance(started, CallStarted)
    assert isinstance(finished, CallFinished)
    assert not view.takes(started.model_copy(update={"site": ""}))
    assert not view.takes(finished.model_copy(update={"site": ""}))
