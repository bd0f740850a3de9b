"""A run on the page: its answer first, then in one folded line how it came about. The same for a live run and one of long ago, by program or by
steps.

Texts of tools and answers are strangers': they are shown as text and code, never as markup.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import streamlit as st

from ui.call_view import CallsView, folded
from ui.calls import Call
from ui.dialogue import draw_dialogue
from ui.program_view import draw_programs
from ui.run_calls import RunCalls
from ui.run_state import RunState
from ui.run_summary import from_library, summary, took, under_way
from ui.texts import clipped, unmarked, visible
from ui.walk_graph import tool_name, walk_dot


@dataclass(frozen=True)
class Around:
    """What is known of a run beside its events. ``key``: begins the keys of what is folded. ``calls``: what the server tells of its calls, asked for
    only where that is shown. ``open``: ids of what waits for an answer; ``answers``: what was answered, by the questions' ids.
    """

    key: str = "run"
    calls: Callable[[], RunCalls] = RunCalls
    open: Collection[str] = ()
    answers: Callable[[], dict[str, str]] = field(default=dict[str, str])


def draw(story: RunState, around: Around = Around(), *, unfolded: bool = False) -> None:
    """A run that goes on is unfolded, and its answer grows above it. ``unfolded``: so is one that has ended, until somebody folds it."""
    draw_dialogue(story)
    if not story.finished:
        st.caption(under_way(story, waits=bool(around.open)))
        _answer(story)
        if story.nodes or story.programs.texts or story.calls:
            with st.container(border=True):
                _whole(story, around)
        return
    _answer(story)
    if told := from_library(story):
        st.caption(unmarked(told))
    if story.finished.error:
        st.error(unmarked(story.finished.error))
    with folded(summary(story, story.finished), f"{around.key}-story", unfolded=unfolded) as opened:
        if opened:
            _whole(story, around)
            st.caption(took(story.finished.usage))


def _answer(story: RunState) -> None:
    if story.answer:
        st.text(visible(story.answer))


def _whole(story: RunState, around: Around) -> None:
    calls = CallsView(around.key, _waits(story, around.open), around.calls())
    texts = story.programs.texts
    if not texts:
        _walk(story, around, unfolded=True)
    draw_programs(texts, calls, live=story.finished is None)
    calls.each([call for call in story.calls if not call.site])
    _asked(story, around)
    for note in story.notes:
        st.caption(unmarked(note))
    if texts:
        _walk(story, around, unfolded=False)


def _waits(story: RunState, open_ids: Collection[str]) -> Callable[[Call], bool]:
    """Whether a call is asked about."""
    waiting = {
        (one.tool, _same(call.arguments))
        for key, one in story.questions.items()
        if key in open_ids
        for call in one.together
    }
    return lambda call: bool(waiting) and (call.tool, _same(call.arguments)) in waiting


def _same(arguments: object) -> str:
    return json.dumps(arguments, sort_keys=True)


def _asked(story: RunState, around: Around) -> None:
    """What the run asked its user and what was answered; what is still open stands below the run, what the request left open in the dialogue."""
    asked = [one for one in story.asked if one.input not in around.open and one.asks != "question"]
    answers = around.answers() if asked else {}
    for one in asked:
        st.caption(f"⏸ {unmarked(clipped(one.reason)[:600])} → {unmarked(answers.get(one.input, 'not answered'))}")


def _walk(story: RunState, around: Around, *, unfolded: bool) -> None:
    if not story.nodes:
        return
    chosen = sum(node.state == "chosen" for node in story.nodes.values())
    left = sum(node.state == "backtracked" for node in story.nodes.values())
    count = len(story.nodes)
    tools = f"{count} {'tool' if count == 1 else 'tools'}"
    title = f"Walk: {tools} considered, {chosen} chosen" + (f", {left} left again" if left else "")
    if not chosen and not left:
        title = f"Offered: {tools}"
    with folded(title, f"{around.key}-walk", unfolded=unfolded) as opened:
        if not opened:
            return
        st.graphviz_chart(walk_dot(story), width="content", alt="The walk over the tools")  # pyright: ignore[reportUnknownMemberType]
        st.caption("✓ and green was chosen, ← and dashed was left again; a number on the way there is its weight.")
        for node in story.nodes.values():
            if node.reason:
                done = "left again" if node.state == "backtracked" else "chosen"
                st.caption(f"**{unmarked(tool_name(node.tool))}** {done}: {unmarked(node.reason)}")
