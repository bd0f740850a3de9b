"""What administrators say of a tool, and of the ways out of it: pin, mute, ban, each with a reason."""

import streamlit as st

from domain.tool import FINISH, ToolId
from ui.client import Client
from ui.explorer_words import said_told
from ui.language import message, moment, say
from ui.library import Said, Tool, mark, marks, neighbours
from ui.screens.telling import told
from ui.texts import unmarked, visible
from ui.tool_graph import MARKS
from ui.walk_graph import tool_name

_KINDS = {
    "edge": message("A way from it to another tool"),
    "tool": message("The tool itself"),
    "effect": message("What a call of it does"),
}
_WORDS = {
    "edge": ("pin", "mute", "ban", "clear"),
    "tool": ("mute", "ban", "clear"),
    "effect": ("reads", "changes", "clear"),
}
_SAID = {
    "pin": message("pin"),
    "mute": message("mute"),
    "ban": message("ban"),
    "reads": message("reads"),
    "changes": message("changes"),
    "clear": message("clear"),
}
_MEANS = {
    "pin": message("Pin: it comes first"),
    "mute": message("Mute: a tenth of its weight"),
    "ban": message("Ban: it is never offered"),
    "reads": message("It only reads"),
    "changes": message("It changes something"),
    "clear": message("Nothing any more"),
}


def marking(client: Client, found: Tool) -> None:
    """It counts from the next run on."""
    said = marks(client, found.id)
    if said.tool:
        st.warning(
            unmarked(say("The tool is {mark}: {reason}", mark=say(MARKS.get(said.tool, said.tool)), reason=said.reason))
        )
    kind = st.selectbox(say("What is marked"), list(_KINDS), format_func=lambda one: say(_KINDS[one]), key="mark-kind")
    ends = [one.tool for one in neighbours(client, found.id).after] if kind == "edge" else []
    if kind == "edge" and not ends:
        st.info(say("No way from it is known yet."))
    else:
        _form(client, found, kind, ends)
    st.subheader(say("What was said"))
    for one in said.history:
        st.text(visible(_line(one)))
    if not said.history:
        st.caption(say("Nothing yet."))


def _form(client: Client, found: Tool, kind: str, ends: list[ToolId]) -> None:
    with st.form(f"mark-{kind}", clear_on_submit=True):
        target = st.selectbox(say("To"), ends, format_func=_end, key=f"mark-to-{found.id}") if ends else ""
        word = st.selectbox(
            say("What is said of it"), _WORDS[kind], format_func=lambda one: say(_MEANS[one]), key=f"mark-word-{kind}"
        )
        reason = st.text_input(say("Why"), max_chars=400, key=f"mark-why-{kind}")
        sent = st.form_submit_button(say("Mark it"), type="primary")
    if not sent:
        return
    if len(reason.strip()) < 3:
        st.error(say("Say why, in a few words."))
    elif told(lambda: mark(client, found.id, kind, word, reason.strip(), target or "")):
        st.rerun()


def _end(tool: ToolId) -> str:
    return say("the end of the request") if tool == FINISH else tool_name(tool)


def _line(one: Said) -> str:
    if one.kind in ("entity", "feed", "runs"):
        return said_told(one)
    word = say(_SAID.get(one.mark, one.mark))
    of = f"{word} {_end(one.target)}" if one.kind == "edge" else f"{word} ({say(_KINDS.get(one.kind, one.kind))})"
    return f"{moment(one.at)} {one.by}: {of}: {one.reason}"
