"""A tool is tried: a field for each parameter, one call, what it came to, and what one tried before."""

from uuid import uuid4

import streamlit as st

from domain.model import JsonObject
from ui.client import Client
from ui.language import listing, moment, say
from ui.library import Tool, Try, attempt, tries
from ui.problems import ServerError
from ui.screens.fields import field
from ui.texts import clipped, readable, response_text, unmarked
from ui.tool_words import try_told

_SENT = "try-sent"


def trying(client: Client, found: Tool) -> None:
    """One call, in one's own name and with one's own keys."""
    st.caption(say("One call, in your name and with your keys. Only you see what you tried."))
    arguments: JsonObject = {}
    with st.form(f"try-{found.id}"):
        for one in found.parameters:
            value = field(one.name, one.field, f"try-{found.id}-{one.name}", one.default, required=one.required)
            if value is not None:
                arguments[one.name] = value
        leave = found.changes and st.checkbox(
            say("It may change something ({why}): I want that", why=say(found.why)), key="try-leave"
        )
        called = st.form_submit_button(say("Call it"), type="primary", icon=":material/play_arrow:")
    if called:
        _call(client, found, arguments, leave=leave)
    _before(client, found)


def _call(client: Client, found: Tool, arguments: JsonObject, *, leave: bool) -> None:
    if missing := [one.name for one in found.parameters if one.required and one.name not in arguments]:
        st.error(unmarked(say("Still needed: {missing}.", missing=listing(missing))))
        return
    try:
        with st.spinner(say("It is called …")):
            made = attempt(client, found.id, arguments, _key(found, arguments), leave=leave)
    except ServerError as error:
        if error.logged_out:
            raise
        st.error(unmarked(str(error)))
        return
    st.session_state.pop(_SENT, None)
    if made.finished_at is None:
        st.warning(say("It was sent before, and nobody knows yet how it ended: look there before you send it anew."))
        return
    st.text(try_told(made))
    _shown(made)


def _key(found: Tool, arguments: JsonObject) -> str:
    """By which the server knows this call again, where its answer did not come and it is sent once more."""
    tool, sent, key = st.session_state.get(_SENT, ("", {}, ""))
    if (tool, sent) != (found.id, arguments):
        key = uuid4().hex
        st.session_state[_SENT] = (found.id, arguments, key)
    return key


def _shown(one: Try) -> None:
    if one.note:
        st.text(clipped(say(one.note)))
    if one.response:
        st.code(response_text(one.response), language="json", wrap_lines=True)
    if one.whole > len(one.response):
        st.caption(say("The first {count:,} of {whole:,} characters.", count=len(one.response), whole=one.whole))
    if one.short:
        st.text(say("As a model would be shown it"))
        st.code(clipped(one.short), language=None, wrap_lines=True)


def _before(client: Client, found: Tool) -> None:
    before = tries(client, found.id)
    if not before:
        return
    st.subheader(say("What you tried"))
    for one in before:
        with st.expander(unmarked(f"{moment(one.started_at, seconds=True)}: {try_told(one)}")):
            st.code(readable(one.arguments), language="json", wrap_lines=True)
            _shown(one)
