"""A run of a thousand events: what the page draws of it does not grow with them."""

import pytest
from streamlit.testing.v1 import AppTest


def page(*, by_program: bool) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    from domain.event import CallFinished, CallStarted, Event, ProgramStarted
    from domain.plan import StepResult
    from domain.program import Program
    from domain.tool import make_tool_id
    from tests.unit.ui.telling import told
    from ui.run_state import run_state
    from ui.run_view import draw

    tool, text = make_tool_id("c", "Set", "get_item"), "for number in range(499):\n    await get_item(number=number)\n"
    events: list[Event] = [ProgramStarted(number=1, program=Program(text=text, tools={"get_item": tool}))] * by_program
    for number in range(1, 500):
        site = f"1:{text.index('get_item')}#{number}-0" if by_program else ""
        result = StepResult(tool=tool, status="ok", arguments={"number": number}, response="[]")
        events.append(CallStarted(step=number, tool=tool, arguments={"number": number}, site=site))
        events.append(CallFinished(step=number, site=site, result=result))
    draw(run_state(told(seq, event) for seq, event in enumerate(events, 1)))


@pytest.mark.parametrize(("by_program", "drawn"), [(True, 1), (False, 30)])
def test_the_calls_of_a_long_run_are_drawn_as_far_as_they_can_be_looked_at(*, by_program: bool, drawn: int) -> None:
    shown = AppTest.from_function(page, default_timeout=60, kwargs={"by_program": by_program}).run()
    assert not shown.exception
    assert sum("get_item" in one.label.replace("\\", "") for one in shown.expander) == drawn
    if not by_program:
        assert "499." in shown.expander[-1].label.replace("\\", "")
        shown = shown.button[0].click().run()
        assert sum("get_item" in one.label.replace("\\", "") for one in shown.expander) == 300
