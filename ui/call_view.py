"""Calls on the page: what each was given, what came back; many calls of one place as one."""

from collections import Counter
from collections.abc import Sequence

import streamlit as st

from ui.run_state import Call, RunState
from ui.texts import readable, response_text, unmarked
from ui.walk_graph import tool_name

_MARKS = {"ok": "✓", "failed": "✗", "missing": "?", "skipped": "–", "unknown": "?"}
_SHOWN = 10
"""Of the calls of one place of a program, the latest so many are shown."""


def draw_calls(story: RunState, calls: Sequence[Call]) -> None:
    """Each with its arguments, where they come from, and its answer."""
    for call in calls:
        with st.expander(_title(call, _waits(story, call)), expanded=False):
            _draw(call)


def draw_repeated(story: RunState, calls: Sequence[Call], line: int) -> None:
    """The calls of one place of a program, which is on that line: of a loop all in one."""
    place = f"line {line}: " if line else ""
    if len(calls) == 1:
        with st.expander(f"{place}{_title(calls[0], _waits(story, calls[0]))}", expanded=False):
            _draw(calls[0])
        return
    told = Counter(call.result.status if call.result else _waits(story, call) for call in calls)
    became = ", ".join(f"{count} {status}" for status, count in told.items())
    mark = "…" if any(call.result is None for call in calls) else _MARKS["ok" if set(told) == {"ok"} else "failed"]
    with st.expander(f"{mark} {place}{unmarked(tool_name(calls[0].tool))} ×{len(calls)} ({became})", expanded=False):
        if len(calls) > _SHOWN:
            st.caption(f"The latest {_SHOWN} of {len(calls)} calls:")
        for call in calls[-_SHOWN:]:
            st.text(_title(call, _waits(story, call), tool_name(call.tool)))
            _draw(call)


def _waits(story: RunState, call: Call) -> str:
    """What is told of a call without a result."""
    asked = any(
        call.tool == one.tool and call.arguments in [about.arguments for about in one.together]
        for one in story.questions.values()
    )
    return "asked about" if asked else "under way"


def _draw(call: Call) -> None:
    st.text("Arguments")
    st.code(readable(call.arguments), language="json", wrap_lines=True)
    origins = [f"{one.parameter}: from {one.origin} {one.reference}".rstrip() for one in call.provenance]
    if origins:
        st.code("\n".join(origins), language=None, wrap_lines=True)
    if call.result:
        if call.result.note:
            st.text(call.result.note)
        st.text("Response")
        st.code(response_text(call.result.response), language="json", wrap_lines=True)


def _title(call: Call, told: str, name: str = "") -> str:
    """An expander's title is Markdown: what could be markup in a tool's name is taken for what it is. ``told``: of a call without a result;
    ``name``: in place of that.
    """
    mark = "…"
    if result := call.result:
        mark = _MARKS[result.status]
        code = f" {result.http_status}" if result.http_status else ""
        told = f"{result.status}{code}, {result.seconds * 1000:.0f} ms"
    return f"{mark} {call.step}. {name or unmarked(tool_name(call.tool))} ({told})"
