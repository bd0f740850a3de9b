"""What administrators say of a tool, and of the ways out of it: pin, mute, ban, each with a reason."""

import streamlit as st

from domain.tool import FINISH, ToolId
from ui.client import Client
from ui.library import Said, Tool, mark, marks, neighbours
from ui.screens.telling import told
from ui.texts import unmarked, visible
from ui.walk_graph import tool_name

_KINDS = {"edge": "A way from it to another tool", "tool": "The tool itself", "effect": "What a call of it does"}
_WORDS = {
    "edge": ("pin", "mute", "ban", "clear"),
    "tool": ("mute", "ban", "clear"),
    "effect": ("reads", "changes", "clear"),
}
_MEANS = {
    "pin": "Pin: it comes first",
    "mute": "Mute: a tenth of its weight",
    "ban": "Ban: it is never offered",
    "reads": "It only reads",
    "changes": "It changes something",
    "clear": "Nothing any more",
}


def marking(client: Client, found: Tool) -> None:
    """It counts from the next run on."""
    said = marks(client, found.id)
    if said.tool:
        st.warning(unmarked(f"The tool is under the mark {said.tool}: {said.reason}"))
    kind = st.selectbox("What is marked", list(_KINDS), format_func=lambda one: _KINDS[one], key="mark-kind")
    ends = [one.tool for one in neighbours(client, found.id).after] if kind == "edge" else []
    if kind == "edge" and not ends:
        st.info("No way from it is known yet.")
    else:
        _form(client, found, kind, ends)
    st.subheader("What was said")
    for one in said.history:
        st.text(visible(_line(one)))
    if not said.history:
        st.caption("Nothing yet.")


def _form(client: Client, found: Tool, kind: str, ends: list[ToolId]) -> None:
    with st.form(f"mark-{kind}", clear_on_submit=True):
        target = st.selectbox("To", ends, format_func=_end, key=f"mark-to-{found.id}") if ends else ""
        word = st.selectbox(
            "What is said of it", _WORDS[kind], format_func=lambda one: _MEANS[one], key=f"mark-word-{kind}"
        )
        reason = st.text_input("Why", max_chars=400, key=f"mark-why-{kind}")
        sent = st.form_submit_button("Mark it", type="primary")
    if not sent:
        return
    if len(reason.strip()) < 3:
        st.error("Say why, in a few words.")
    elif told(lambda: mark(client, found.id, kind, word, reason.strip(), target or "")):
        st.rerun()


def _end(tool: ToolId) -> str:
    return "the end of the request" if tool == FINISH else tool_name(tool)


def _line(one: Said) -> str:
    of = f"{one.mark} {_end(one.target)}" if one.kind == "edge" else f"{one.mark} ({_KINDS.get(one.kind, one.kind)})"
    return f"{one.at:%Y-%m-%d %H:%M} {one.by}: {of}: {one.reason}"
