"""Two runs beside each other: what each came to and took, how their programs differ, and which calls."""

from html import escape

import streamlit as st

from ui.answer_parts import Table
from ui.answer_view import draw_answer, table_html
from ui.call_view import folded
from ui.calls import Call
from ui.client import Client
from ui.comparison import CallDifference, TextLine, call_differences, program_text, text_differences
from ui.language import listing, moment, say, say_count
from ui.past_runs import ENDS
from ui.replies import PLANNERS, Run
from ui.run_state import RunState
from ui.run_summary import outcome_told, seconds_told
from ui.screens.history_places import go_history
from ui.screens.past_run import own_run, story_of
from ui.texts import clipped, readable, response_text, unmarked, visible
from ui.walk_graph import tool_name

_MOST = 50
"""Calls that are shown; of more, the others are counted."""
_SIGNS = {"same": "", "gone": "−", "new": "+", "skipped": "⋯"}


def comparison(client: Client, first: str, second: str) -> None:
    """Either may be none of this user's."""
    st.title(say("Two runs compared"))
    with st.container(horizontal=True, gap="small"):
        if st.button(say("All runs"), icon=":material/arrow_back:", type="tertiary", key="compare-back"):
            go_history()
        for number, name, run in ((1, say("Look at the first"), first), (2, say("Look at the second"), second)):
            if st.button(name, type="tertiary", icon=":material/visibility:", key=f"compare-{number}"):
                go_history(run)
    runs = own_run(client, first), own_run(client, second) if first != second else None
    if runs[0] is None:
        return
    if runs[1] is None:
        if first == second:
            st.info(say("That is the same run twice; choose another one."))
        return
    one, two = story_of(client, runs[0]), story_of(client, runs[1])
    with st.container(key="compared-figures"):
        st.html(table_html(_figures(runs[0], one, runs[1], two), say("What each run took")))
    _answers(one, two)
    _programs(one, two)
    _calls(one, two)


def _figures(first: Run, one: RunState, second: Run, two: RunState) -> Table:
    """A row for each figure, so that it reads on a narrow screen too."""
    rows = [
        (name, left, right)
        for (name, left), (_, right) in zip(_figures_of(first, one), _figures_of(second, two), strict=True)
        if left or right
    ]
    return Table(tuple(rows), ("", say("First"), say("Second")))


def _figures_of(run: Run, story: RunState) -> list[tuple[str, str]]:
    usage = run.usage if run.outcome else None
    verdict = {"right": say("Right"), "wrong": say("Wrong")}.get(run.verdict or "", "")
    return [
        (say("Asked"), moment(run.created_at) if run.created_at else ""),
        (say("Question"), run.request),
        (
            say("How it ended"),
            outcome_told(run.outcome, story.refused) if run.outcome else say(ENDS.get(run.status, run.status)),
        ),
        (say("Right or wrong"), verdict),
        (say("Time"), seconds_told(usage.total_seconds) if usage else ""),
        (say("Tokens"), f"{usage.tokens:,}" if usage else ""),
        (say("Calls of models"), f"{usage.model_calls:,}" if usage else ""),
        (say("Calls"), f"{story.made.count:,}"),
        (say("Planner"), say(PLANNERS.get(run.planner, run.planner))),
    ]


def _answers(one: RunState, two: RunState) -> None:
    st.subheader(say("Answers"))
    if one.answer.strip() == two.answer.strip():
        st.caption(say("Both gave the same answer.") if one.answer.strip() else say("Neither gave an answer."))
        if one.answer:
            draw_answer(one.answer, one.calls, one.request)
        return
    for column, name, story in zip(st.columns(2), (say("First"), say("Second")), (one, two), strict=True):
        with column:
            st.markdown(f"**{name}**")
            if story.answer:
                draw_answer(story.answer, story.calls, story.request)
            else:
                st.caption(say("It gave no answer."))


def _programs(one: RunState, two: RunState) -> None:
    texts = program_text(one), program_text(two)
    if not any(texts):
        return
    st.subheader(say("Programs"))
    if not all(texts):
        which = say("Only the first wrote a program.") if texts[0] else say("Only the second wrote a program.")
        st.caption(which)
        return
    lines = text_differences(*texts)
    if not lines:
        st.caption(say("Both ran the same program."))
        return
    st.caption(say("A line with − stands in the first alone, one with + in the second."))
    st.html(_lines_html(lines))


def _lines_html(lines: list[TextLine]) -> str:
    rows = "".join(
        f'<li class="fp-{one.kind}"><span class="fp-sign">{_SIGNS[one.kind]}</span>'
        f'<code dir="ltr">{escape(visible(one.text)) or " "}</code></li>'
        for one in lines
    )
    name = escape(say("How the programs differ"))
    return f'<div class="fp-code fp-differences" tabindex="0" role="group" aria-label="{name}"><ol>{rows}</ol></div>'


def _calls(one: RunState, two: RunState) -> None:
    st.subheader(say("Calls"))
    if not one.calls and not two.calls:
        st.caption(say("Neither called anything."))
        return
    found, same = call_differences(one, two)
    told = [say_count("1 call is the same in both", "{count:,} calls are the same in both", same)] if same else []
    for kind, count in (
        (kind, sum(each.kind == kind for each in found)) for kind in ("arguments", "response", "first", "second")
    ):
        told += [_counted(kind, count)] if count else []
    st.caption(say("{parts}.", parts=listing(told)))
    for number, each in enumerate(found[:_MOST]):
        with folded(unmarked(_told(each)), f"compared-{number}") as opened:
            if opened:
                _call(each)
    if len(found) > _MOST:
        st.caption(say("… and {count:,} more that differ.", count=len(found) - _MOST))


def _counted(kind: str, count: int) -> str:
    match kind:
        case "arguments":
            return say_count("1 was given other values", "{count:,} were given other values", count)
        case "response":
            return say_count("1 was answered otherwise", "{count:,} were answered otherwise", count)
        case "first":
            return say_count("1 was made by the first alone", "{count:,} were made by the first alone", count)
        case _:
            return say_count("1 was made by the second alone", "{count:,} were made by the second alone", count)


def _told(each: CallDifference) -> str:
    tool = tool_name(each.tool)
    match each.kind:
        case "arguments":
            return say("≠ {tool}: other {values}", tool=tool, values=listing(list(each.values)) or say("values"))
        case "response":
            return say("≠ {tool}: another answer", tool=tool)
        case "first":
            return say("− {tool}: the first alone", tool=tool)
        case "second":
            return say("+ {tool}: the second alone", tool=tool)


def _call(each: CallDifference) -> None:
    for column, name, call in zip(st.columns(2), (say("First"), say("Second")), (each.first, each.second), strict=True):
        with column:
            st.markdown(f"**{name}**")
            _one(call)


def _one(call: Call | None) -> None:
    if call is None:
        st.caption(say("It did not make this call."))
        return
    st.code(readable(call.arguments), language="json", wrap_lines=True)
    if not call.result:
        return
    st.text(call.result.status + (f" {call.result.http_status}" if call.result.http_status else ""))
    if call.result.note:
        st.text(clipped(call.result.note))
    if call.result.response:
        st.code(response_text(call.result.response), language="json", wrap_lines=True, height=300)
