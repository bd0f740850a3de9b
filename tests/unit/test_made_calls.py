"""Calls are counted that were made, by the one rule of the server and the page."""

from typing import Any

import pytest

from domain.call_counter import CallCounter
from domain.event import CallFinished, CallStarted, Event
from domain.plan import StepResult
from domain.tool import make_tool_id

TOOL = make_tool_id("c", "Set", "get_item")
BEGUN = CallStarted(step=1, tool=TOOL, arguments={})


def ended(status: str, **more: Any) -> CallFinished:
    return CallFinished(step=1, result=StepResult.model_validate({"tool": TOOL, "status": status, **more}))


@pytest.mark.parametrize(
    ("events", "count"),
    [
        ([BEGUN, ended("ok", outcome="ok", attempts=1)], 1),
        ([BEGUN, ended("failed", outcome="unreached", attempts=2)], 1),
        ([BEGUN, ended("unknown")], 1),
        ([BEGUN, BEGUN, ended("ok", outcome="ok", attempts=1)], 2),
        ([BEGUN, BEGUN, ended("skipped")], 1),
        ([BEGUN, ended("skipped")], 0),
        ([BEGUN, ended("failed", outcome="caller_fault")], 0),
        ([ended("missing")], 0),
        ([ended("ok", outcome="ok")], 0),
        ([BEGUN], 0),
    ],
)
def test_what_came_as_far_as_its_tool_counts(events: list[Event], count: int) -> None:
    made = CallCounter()
    for event in events:
        made.count_event(event, 1)
    assert (made.count, made.by_tool[TOOL]) == (count, count)
