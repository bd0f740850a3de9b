"""What a terminal shows of a whole run: what happens as it goes on, the answer last and apart."""

import importlib
import io
import sys
from pathlib import Path

import pytest
from rich.console import Console

from domain.event import AnswerDelta, ProgramRefused, RunFinished, SolutionTaken
from domain.usage import Usage
from tests.support.program_events import broken, calls, ended, program, run_of

SCRIPTS = Path(__file__).resolve().parents[3] / "scripts"


@pytest.fixture
def lines(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Those on the terminal after a run whose loop calls something forty times."""
    monkeypatch.setattr(sys, "path", [str(SCRIPTS), *sys.path])
    screen = io.StringIO()
    view = importlib.import_module("_ask_view").AskView(Console(file=screen, width=120, highlight=False))
    usage = Usage(
        plan_seconds=1.5, write_seconds=1, check_seconds=0.25, execute_seconds=2, total_seconds=4, model_calls=1
    )
    unwritten = ProgramRefused(text="", complaints=("I would rather not.",))
    taken = SolutionTaken(solution="s", pattern="Who wrote {title}?", how="chosen", reason="it finds authors")
    events = [
        taken,
        unwritten,
        program(),
        *calls(1),
        broken(line=5),
        program(number=2),
        *calls(40, number=2),
        ended(number=2),
    ]
    for record in run_of([*events, AnswerDelta(text="Ada: "), AnswerDelta(text="12")])[:-1]:
        view.show(record.event)
    view.show(RunFinished(outcome="answered", answer="Ada: 12", usage=usage))
    return screen.getvalue().splitlines()


def test_the_answer_is_last_and_apart(lines: list[str]) -> None:
    assert lines[-1] == "Ada: 12"
    assert lines[-2].startswith("answer ──")
    assert lines.count("Ada: 12") == 1


def test_where_the_time_went_is_told_before_it(lines: list[str]) -> None:
    told = " ".join(lines)
    assert "answered in 4.00 s: plan 1.50 s (write 1.00 s, check 0.25 s), run 2.00 s" in told


def test_calls_are_told_with_their_lines_and_why_no_text_was_written(lines: list[str]) -> None:
    told = "\n".join(lines)
    assert "no program was written  I would rather not." in told
    assert "  3. line 4 people/info(person_id=0)" in told
    assert "and 35 calls more of people/info" in told


def test_the_solution_that_was_chosen_is_told(lines: list[str]) -> None:
    assert "  ≈ Wrote after the solution for “Who wrote {title}?”: it finds authors" in lines
