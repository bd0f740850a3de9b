"""A run on the page: the walk, the calls, the answer. The same for a live run and one of long ago.

Texts of tools and answers are strangers': they are shown as text and code, never as markup.
"""

import streamlit as st

from ui.call_view import draw_calls
from ui.dialogue import draw_dialogue
from ui.program_view import draw_programs
from ui.run_state import RunState
from ui.texts import unmarked
from ui.walk_graph import tool_name, walk_dot

_OUTCOMES = {
    "answered": "Answered",
    "partly": "Answered in part",
    "gave_up": "Found no way to answer",
    "budget": "Stopped at its limits",
    "cancelled": "Stopped",
    "failed": "Failed",
}


def draw(story: RunState, *, unfolded: bool) -> None:
    """The answer first, once it is whole; until then it grows below what it comes from. ``unfolded``: the walk is open."""
    draw_dialogue(story)
    if story.finished:
        _answer(story)
        _end(story)
    _walk(story, unfolded=unfolded)
    draw_programs(story, unfolded=unfolded)
    draw_calls(story, [call for call in story.calls if not call.site])
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


def _end(story: RunState) -> None:
    if not (end := story.finished):
        return
    if end.error:
        st.error(unmarked(end.error))
    usage = end.usage
    told = f"{_OUTCOMES[end.outcome]} in {usage.total_seconds:.1f} s"
    told += f": {usage.considered} tools considered, {usage.decisions} decisions" if usage.considered else ""
    st.caption(told + (f", {usage.model_calls} model calls" if usage.model_calls else ""))
