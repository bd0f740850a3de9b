"""Calls that no program made, as they are told one below the other."""

from typing import Any

from streamlit.testing.v1 import AppTest

from domain.event import CallFinished, CallStarted, Event, RunFinished
from domain.plan import StepResult
from domain.tool import make_tool_id
from domain.usage import Usage
from tests.unit.ui.served import HOSTILE
from tests.unit.ui.telling import told

TOOL = make_tool_id("c", "Set", "find")


def page(bodies: list[str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from ui.run_state import run_state
    from ui.run_view import draw
    from ui.stream import Told

    draw(run_state(Told(seq, "", body) for seq, body in enumerate(bodies, start=1)), unfolded=True)


def titles(events: list[Event]) -> list[str]:
    bodies = [told(seq, event).text for seq, event in enumerate(events, 1)]
    shown = AppTest.from_function(page, default_timeout=30, kwargs={"bodies": bodies}).run()
    assert not shown.exception
    return [one.label.replace("\\", "") for one in shown.expander]


def begun(step: int, city: str) -> CallStarted:
    return CallStarted(step=step, tool=TOOL, arguments={"city": city})


def ended(step: int, status: str, city: str = "", **more: Any) -> CallFinished:
    result = {"tool": TOOL, "status": status, "arguments": {"city": city}, **more}
    return CallFinished(step=step, result=StepResult.model_validate(result))


def test_calls_are_in_one_count_and_say_what_became_of_those_that_were_not_made() -> None:
    made = {"outcome": "ok", "attempts": 1, "seconds": 0.012}
    found = titles(
        [
            begun(1, "Oskvik"),
            begun(1, "Velmora"),
            ended(1, "ok", "Velmora", **made),
            ended(2, "missing", note="No value was found for: city."),
            ended(1, "ok", "Tarnholm", outcome="ok"),
            begun(2, "Oskvik"),
            ended(2, "skipped"),
            begun(1, "Oskvik"),
            ended(1, "ok", "Oskvik", **made),
            begun(3, "Oskvik"),
            RunFinished(outcome="gave_up", answer="", usage=Usage()),
        ]
    )
    summary, *calls = found
    assert summary == "Not done, as you did not allow it, in 0.0 s: 3 calls"
    assert calls[:7] == [
        "? 1. Set / find (made again with other values)",
        "✓ 2. Set / find (ok, 12 ms)",
        "? 3. Set / find (not called: No value was found for: city)",
        "✓ 4. Set / find (ok)",
        "– 5. Set / find (not made)",
        "✓ 6. Set / find (ok, 12 ms, [1] in the answer)",
        "? 7. Set / find (its answer did not come before the run ended)",
    ]


def test_why_a_call_was_not_made_is_no_markup() -> None:
    bodies = [told(1, ended(1, "missing", note=HOSTILE)).text]
    shown = AppTest.from_function(page, default_timeout=30, kwargs={"bodies": bodies}).run()
    (label,) = [one.label for one in shown.expander if "not called" in one.label]
    assert "\\<img" in label
    assert "\\*\\*loud" in label
    assert "\u202e" not in label
