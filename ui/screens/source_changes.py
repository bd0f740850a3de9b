"""What a source has changed since it was read before, with what that touches; and its past, the last step of which can be taken back."""

from collections.abc import Sequence

import streamlit as st

from ui.client import Client
from ui.language import listing, message, say, say_count
from ui.screens.document_text import document_body, document_text, forget_document
from ui.screens.telling import told
from ui.source_words import past_told
from ui.sources import Change, Past, Source, Touched, changes_seen, refresh_source, source_history, touched, undo
from ui.texts import labelled, unmarked, visible

_MOST = 100
_KINDS = {
    "added": message("new"),
    "removed": message("gone"),
    "schema": message("its values"),
    "auth": message("its key"),
    "method": message("its method"),
    "host": message("where it goes"),
    "description": message("its wording"),
}


def changes(client: Client, one: Source) -> None:
    """Those that nobody has looked at, each with the solutions and templates that call the tool."""
    _refresh(client, one)
    if not one.changes:
        st.caption(say("Nothing has changed that was not looked at."))
        return
    resting = {found.tool: found for found in touched(client, one.id)}
    for tool, told_of in by_tool(one.changes).items():
        _change(tool, told_of, resting.get(tool))
    st.caption(say("Tools that were kept out are checked and admitted under *Tools*."))
    if st.button(say("I have looked at these"), key="seen") and told(lambda: changes_seen(client, one.id)):
        st.rerun()


def by_tool(found: Sequence[Change]) -> dict[str, list[Change]]:
    """The changes of each tool; of very many the first."""
    told_of: dict[str, list[Change]] = {}
    for change in found[:_MOST]:
        told_of.setdefault(change.tool, []).append(change)
    return told_of


def _change(tool: str, found: Sequence[Change], resting: Touched | None) -> None:
    with st.container(border=True):
        out = any(change.breaks for change in found)
        kept_out = f" ({say('kept out')})" if out else ""
        st.markdown(f"**{labelled(tool.rpartition('/')[2])}**{kept_out}")
        for change in found:
            what = say(_KINDS.get(change.kind, change.kind)).capitalize()
            st.text(visible(say("{what}: {text}", what=what, text=change.told)))
        if resting is not None:
            _resting(resting, out=out)


def _resting(resting: Touched, *, out: bool) -> None:
    """What calls the tool, and what becomes of it. ``out``: the tool is kept out."""
    if resting.solutions:
        calling = say_count("1 solution calls it", "{count:,} solutions call it", len(resting.solutions))
        later = (
            say("none is taken until it is admitted again; then see *Solutions*, where each can be checked again.")
            if out
            else say("see *Solutions*, where each can be checked again.")
        )
        st.caption(say("{what}: {text}", what=calling, text=later))
    if resting.templates:
        names = listing([labelled(one) for one in resting.templates])
        st.caption(
            say("Templates that call it: {names}; none can be run until it is admitted again.", names=names)
            if out
            else say("Templates that call it: {names}.", names=names)
        )
    if resting.others:
        st.caption(
            say_count(
                "1 solution or template of others calls it.",
                "{count:,} solutions and templates of others call it.",
                resting.others,
            )
        )


def _refresh(client: Client, one: Source) -> None:
    """From where it was read; one that has no address is given as it is now."""
    if one.kind == "form":
        st.caption(say("It was written by hand: change its calls under *Calls*."))
        return
    text, missing = "", list[str]()
    if one.kind == "openapi" and not one.address:
        st.caption(say("It has no address: give its document as it is now."))
        text, missing = document_text(f"again-{one.id}")
    pressed = st.button(say("Read it again"), icon=":material/refresh:", key=f"refresh-{one.id}")
    if pressed and missing:
        st.error(unmarked(say("Still needed: {missing}.", missing="; ".join(missing))))
    elif pressed and told(lambda: refresh_source(client, one.id, document_body(client, text) if text else None)):
        forget_document()
        st.rerun()


def history(client: Client, one: Source) -> None:
    """What was done, by whom and why, the last first."""
    past = sorted(source_history(client, one.id), key=lambda line: line.at, reverse=True)
    if not past:
        st.caption(say("Nothing was done yet."))
        return
    _undo(client, one, past)
    for line in past[:_MOST]:
        st.text(visible(past_told(line)))
    if len(past) > _MOST:
        st.caption(say("… {count} lines before these.", count=len(past) - _MOST))


def _undo(client: Client, one: Source, past: Sequence[Past]) -> None:
    last = next((line for line in past if line.undoable and not line.undone), None)
    if last is None:
        return
    st.caption(unmarked(say("What can be undone: {step}", step=past_told(last))))
    if st.button(say("Undo the last step"), icon=":material/undo:", key=f"undo-{one.id}") and told(
        lambda: undo(client, one.id)
    ):
        st.rerun()
