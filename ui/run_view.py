"""A run on the page: its answer first, then in one folded line how it came about. The same for a live run and one of long ago, by program or by
steps.

Texts of tools and answers are strangers': they are shown as text and code, never as markup.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass, field

import streamlit as st

from ui.answer_view import draw_answer
from ui.call_view import CallsView, folded
from ui.calls import Call
from ui.dialogue import draw_dialogue
from ui.language import say, say_count
from ui.program_view import draw_programs
from ui.run_calls import RunCalls
from ui.run_state import RunState
from ui.run_summary import from_library, summary, took, under_way
from ui.texts import clipped, unmarked, visible
from ui.walk_graph import reasons, walk_dot

_REASONS = 20
"""Of so many places of a walk, the last ones, it is told why it went there or left them."""


@dataclass(frozen=True)
class Around:
    """What is known of a run beside its events. ``key``: begins the keys of what is folded. ``calls``: what the server tells of its calls, asked for
    only where that is shown. ``open``: ids of what waits for an answer; ``answers``: what was answered, by the questions' ids. ``why_not``: draws a search for what was not offered.
    """

    key: str = "run"
    calls: Callable[[], RunCalls] = RunCalls
    open: Collection[str] = ()
    answers: Callable[[], dict[str, str]] = field(default=dict[str, str])
    why_not: Callable[[], None] = lambda: None


def draw(story: RunState, around: Around = Around(), *, unfolded: bool = False) -> None:
    """A run that goes on is unfolded, and its answer grows above it. ``unfolded``: so is one that has ended, until somebody folds it."""
    draw_dialogue(story)
    if not story.finished:
        _live(story, around)
        return
    if story.answer:
        draw_answer(story.answer, story.calls, story.request)
    if told := from_library(story):
        st.caption(unmarked(told))
    if story.finished.error:
        st.error(unmarked(say(story.finished.error)))
    with folded(summary(story, story.finished), f"{around.key}-story", unfolded=unfolded) as opened:
        if opened:
            _whole(story, around)
            st.caption(took(story.finished.usage))


def _live(story: RunState, around: Around) -> None:
    """A run that goes on, no higher than a part of the screen; one that waits for its user is folded, so that what it waits for is in sight."""
    told = under_way(story, waits=bool(around.open))
    st.caption(told)
    if story.answer:
        st.text(visible(story.answer))
    if not (story.nodes or story.programs.texts or story.calls):
        return
    if around.open:
        with folded(say("What it has done so far"), f"{around.key}-so-far") as opened:
            if opened:
                _whole(story, around)
        return
    with st.container(border=True, key=f"live-{around.key}"):
        _whole(story, around)


def _whole(story: RunState, around: Around) -> None:
    """The program and the walk side by side where there is room, below each other on a narrow screen."""
    calls = CallsView(around.key, _waits(story, around.open), around.calls())
    texts, single = story.programs.texts, [call for call in story.calls if not call.site]
    if story.nodes and any(one.text for one in texts):
        left, right = st.columns([3, 2])
    else:
        right, left = st.container(), st.container()
    with left:
        draw_programs(texts, calls, live=story.finished is None)
        calls.each(single)
    with right:
        _walk(story, around, unfolded=story.finished is None or not texts)
    _asked(story, around)
    for note in story.notes:
        st.caption(unmarked(note))


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
        st.caption(f"⏸ {unmarked(clipped(one.reason)[:600])} → {unmarked(answers.get(one.input, say('not answered')))}")


def _walk(story: RunState, around: Around, *, unfolded: bool) -> None:
    if not story.nodes:
        return
    chosen = sum(node.state == "chosen" for node in story.nodes.values())
    left = sum(node.state == "backtracked" for node in story.nodes.values())
    count = len(story.nodes)
    tools = say_count("1 tool", "{count:,} tools", count)
    if not chosen and not left:
        title = say("Offered: {tools}", tools=tools)
    elif left:
        title = say(
            "Path search: {tools} considered, {chosen} chosen, {left} given up", tools=tools, chosen=chosen, left=left
        )
    else:
        title = say("Path search: {tools} considered, {chosen} chosen", tools=tools, chosen=chosen)
    key = f"{around.key}-walk" if story.finished else f"{around.key}-walk-live"
    with folded(title, key, unfolded=unfolded) as opened:
        if not opened:
            return
        st.graphviz_chart(walk_dot(story), width="content", alt=say("The path search over the tools"))  # pyright: ignore[reportUnknownMemberType]
        st.caption(say("✓ and green was chosen, ← and dashed was left again; a number on the way there is its weight."))
        if chosen + left > _REASONS:
            st.caption(say("Why the last {shown} of {count:,} were:", shown=_REASONS, count=chosen + left))
        for line in reasons(story, _REASONS):
            st.caption(unmarked(line))
        if story.finished:
            around.why_not()
