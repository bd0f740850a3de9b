"""What a source has changed since it was read before, with what that touches; and its past, the last step of which can be taken back."""

from collections.abc import Sequence

import streamlit as st

from ui.client import Client
from ui.screens.telling import told
from ui.source_words import counted, past_told
from ui.sources import Past, Source, Touched, changes_seen, refresh_source, source_history, touched, undo
from ui.texts import labelled, unmarked, visible

_MOST = 100
_KINDS = {
    "added": "new",
    "removed": "gone",
    "schema": "its values",
    "auth": "its key",
    "method": "its method",
    "host": "where it goes",
    "description": "its wording",
}


def changes(client: Client, one: Source) -> None:
    """Those that nobody has looked at, each with the solutions and templates that call the tool."""
    _refresh(client, one)
    found = touched(client, one.id) if one.changes else []
    if not found:
        st.caption("Nothing has changed that was not looked at.")
        return
    for change in found[:_MOST]:
        _change(change)
    if len(found) > _MOST:
        st.caption(f"… {len(found) - _MOST} more.")
    st.caption("Tools that were kept out are checked and admitted under *Tools*.")
    if st.button("I have looked at these", key="seen") and told(lambda: changes_seen(client, one.id)):
        st.rerun()


def _change(one: Touched) -> None:
    change = one.change
    kept_out = ", kept out" if change.breaks else ""
    kind = _KINDS.get(change.kind, change.kind)
    with st.container(border=True):
        st.markdown(f"**{labelled(one.tool.rpartition('/')[2])}**: {unmarked(kind)}{kept_out}")
        st.text(visible(change.told))
        if one.solutions:
            st.caption(
                f"{counted(len(one.solutions), 'solution')} call it; they are under *Solutions*, where they are checked again."
            )
        if one.templates:
            st.caption("Templates that call it: " + ", ".join(map(labelled, one.templates)))


def _refresh(client: Client, one: Source) -> None:
    text = ""
    if one.kind == "form":
        st.caption("It was written by hand: correct its tools, or add another source.")
        return
    if one.kind == "openapi" and not one.address:
        text = st.text_area("Its document as it is now", key=f"again-{one.id}", height=160)
    pressed = st.button("Read it again", icon=":material/refresh:", key=f"refresh-{one.id}")
    if pressed and not text.strip() and one.kind == "openapi" and not one.address:
        st.error("It has no address: paste its document as it is now.")
    elif pressed and told(lambda: refresh_source(client, one.id, text)):
        st.rerun()


def history(client: Client, one: Source) -> None:
    """What was done, by whom and why, the last first."""
    past = sorted(source_history(client, one.id), key=lambda line: line.at, reverse=True)
    if not past:
        st.caption("Nothing was done yet.")
        return
    _undo(client, one, past)
    for line in past[:_MOST]:
        st.text(visible(past_told(line)))
    if len(past) > _MOST:
        st.caption(f"… {len(past) - _MOST} lines before these.")


def _undo(client: Client, one: Source, past: Sequence[Past]) -> None:
    last = next((line for line in past if line.undoable and not line.undone), None)
    if last is None:
        return
    st.caption(unmarked(f"What can be undone: {past_told(last)}"))
    if st.button("Undo the last step", icon=":material/undo:", key=f"undo-{one.id}") and told(
        lambda: undo(client, one.id)
    ):
        st.rerun()
