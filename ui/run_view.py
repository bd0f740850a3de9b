"""A run on the page: the walk, the calls, the answer. The same for a live run and one of long ago.

Texts of tools and answers are strangers': they are shown as text and code, never as markup.
"""

import json
import re

import streamlit as st
from pydantic import JsonValue

from ui.run_state import Call, RunState
from ui.walk_graph import tool_name, walk_dot

_MARKS = {"ok": "✓", "failed": "✗", "missing": "?", "skipped": "–", "unknown": "?"}
_LONGEST = 20_000
_LINKS = re.compile(r":(?=//)|@|www(?=\.)", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z0-9]+(_[A-Za-z0-9]+)*")
_OUTCOMES = {
    "answered": "Answered",
    "gave_up": "Found no way to answer",
    "budget": "Stopped at its limits",
    "cancelled": "Stopped",
    "failed": "Failed",
}


def draw(story: RunState, *, unfolded: bool) -> None:
    """The answer first, once it is whole; until then it grows below what it comes from. ``unfolded``: the walk is open."""
    if story.finished:
        _answer(story)
        _end(story)
    _walk(story, unfolded=unfolded)
    _calls(story)
    for note in story.notes:
        st.caption(unmarked(note))
    if not story.finished:
        _answer(story)


def _answer(story: RunState) -> None:
    if story.answer:
        st.text(story.answer)


def _walk(story: RunState, *, unfolded: bool) -> None:
    if not story.nodes:
        return
    chosen = sum(node.state == "chosen" for node in story.nodes.values())
    left = sum(node.state == "backtracked" for node in story.nodes.values())
    count = len(story.nodes)
    title = f"Walk: {count} {'tool' if count == 1 else 'tools'} considered, {chosen} chosen" + (
        f", {left} left again" if left else ""
    )
    with st.expander(title, expanded=unfolded):
        st.graphviz_chart(walk_dot(story), width="content", alt="The walk over the tools")  # pyright: ignore[reportUnknownMemberType]
        st.caption("Green was chosen, dashed was left again; a number on the way there is its weight.")
        for node in story.nodes.values():
            if node.reason:
                done = "left again" if node.state == "backtracked" else "chosen"
                st.caption(f"**{unmarked(tool_name(node.tool))}** {done}: {unmarked(node.reason)}")


def _calls(story: RunState) -> None:
    asked = [(one.tool, one.arguments) for one in story.questions.values()]
    for call in story.calls:
        waits = call.result is None and (call.tool, call.arguments) in asked
        with st.expander(_title(call, "asked about" if waits else "under way"), expanded=False):
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


def _title(call: Call, told: str) -> str:
    """An expander's title is Markdown: what could be markup in a tool's name is taken for what it is. ``told``: of a call without a result."""
    mark = "…"
    if result := call.result:
        mark = _MARKS[result.status]
        code = f" {result.http_status}" if result.http_status else ""
        told = f"{result.status}{code}, {result.seconds * 1000:.0f} ms"
    return f"{mark} {call.step}. {unmarked(tool_name(call.tool))} ({told})"


def unmarked(text: str) -> str:
    """Text that Markdown shows as it is. Addresses, which would become links however they are escaped, are parted by a joiner that is not seen."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    plain = _LINKS.sub(lambda found: f"{found[0]}\u2060", plain)
    return "".join(f"\\{character}" if character in "\\`*_{}[]()<>#+-.!|~$:&" else character for character in plain)


def labelled(name: str) -> str:
    """A name in a label. One that no Markdown can be in stays as it is: what is escaped is read out with its escapes."""
    return name if _PLAIN.fullmatch(name) else unmarked(name)


def readable(value: JsonValue) -> str:
    """JSON, indented; cut where it is very long."""
    text = json.dumps(value, indent=2, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}\n… {len(text) - _LONGEST} characters more"


def response_text(text: str) -> str:
    """As JSON where it is some; else its beginning as it is."""
    try:
        return readable(json.loads(text))
    except (ValueError, RecursionError):
        return text[:_LONGEST]


def _end(story: RunState) -> None:
    if not (end := story.finished):
        return
    if end.error:
        st.error(unmarked(end.error))
    usage = end.usage
    told = f"{_OUTCOMES[end.outcome]} in {usage.total_seconds:.1f} s"
    told += f": {usage.considered} tools considered, {usage.decisions} decisions" if usage.considered else ""
    st.caption(told + (f", {usage.model_calls} model calls" if usage.model_calls else ""))
