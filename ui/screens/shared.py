"""An answer that somebody shares: to be read, and nothing else. All of it may be a stranger's, and is shown as text."""

import streamlit as st

from ui import places
from ui.answer_view import draw_answer
from ui.client import Client
from ui.language import say, say_count
from ui.problems import ServerError
from ui.run_summary import OUTCOMES
from ui.shared_answers import ReadAnswer, SharedCall, read_shared
from ui.source_words import when
from ui.texts import clipped, readable, response_text, unmarked, visible
from ui.walk_graph import tool_name


def shared(client: Client, _conversation: str) -> None:
    """Its secret stands in the address."""
    st.title(say("A shared answer"))
    try:
        found = read_shared(client, places.place("answer") or "-")
    except ServerError as error:
        if error.status != 404:
            raise
        st.info(
            say(
                "This link leads nowhere any more: it has expired or was taken back. Ask who gave it to you for another."
            )
        )
        return
    st.caption(
        unmarked(
            say(
                "{owner} asked this, and shares what came of it until {when}.",
                owner=found.owner,
                when=when(found.expires_at),
            )
        )
    )
    with st.chat_message("user"):
        st.text(visible(found.request))
    with st.chat_message("assistant"):
        _answer(found)


def _answer(found: ReadAnswer) -> None:
    if found.withheld:
        st.warning(
            say_count(
                "It rests on a tool that you may not use, so the answer and how it came about are not shown to you. Ask an administrator of this server.",
                "It rests on {count} tools that you may not use, so the answer and how it came about are not shown to you. Ask an administrator of this server.",
                found.withheld,
            )
        )
    elif found.answer:
        draw_answer(found.answer, [], found.request)
    else:
        st.caption(say("No answer is kept of it."))
    ended = say(OUTCOMES[found.outcome]) if found.outcome in OUTCOMES else found.outcome or ""
    st.caption(unmarked(say("{ended}, {when}", ended=ended, when=when(found.finished_at))))
    for number, text in enumerate(found.programs, 1):
        with st.expander(say("Program {number}", number=number), icon=":material/code:"):
            st.code(visible(text), language="python", wrap_lines=True)
    if found.calls:
        with st.expander(say_count("1 call", "{count:,} calls", len(found.calls)), icon=":material/call_made:"):
            for one in found.calls:
                _call(one)


def _call(one: SharedCall) -> None:
    st.text(visible(f"{tool_name(one.tool)}: {one.status}"))
    if one.arguments is not None:
        st.code(readable(one.arguments), language="json", wrap_lines=True)
    if one.response:
        st.code(clipped(response_text(one.response)), language=None, wrap_lines=True, height=200)
