"""The calls of a source that was written by hand, in the fields in which they were written."""

from collections.abc import Sequence
from zlib import crc32

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.problems import ServerError
from ui.screens.typed_tools import forget_tools, typed_tools
from ui.source_words import changes_told
from ui.sources import Source, rewrite_source, source_tools
from ui.texts import unmarked
from ui.tool_drafts import TypedTool, missing_of, tool_body, typed_as


def calls(client: Client, one: Source) -> None:
    """They are compared with what stood there before, as a document is that is read again."""
    st.caption(
        say(
            "What is kept here is compared with what stood there. A call to which other values, another address or another key belong is not offered until it has passed the admission check and you admit it again; another name makes it another call."
        )
    )
    before = [typed_as(tool.original) for tool in source_tools(client, one.id) if not tool.gone]
    anew = f"typed-anew-{one.id}"
    key = f"typed-{one.id}-{st.session_state.get(anew, 0)}-{crc32(repr(before).encode())}"
    typed = typed_tools(key, before)
    with st.container(horizontal=True, gap="small"):
        pressed = st.button(say("Keep these calls"), type="primary", key=f"keep-calls-{one.id}")
        if st.button(say("As they were"), key=f"drop-calls-{one.id}"):
            forget_tools(key)
            st.session_state[anew] = st.session_state.get(anew, 0) + 1
            st.rerun()
    if pressed and (missing := missing_of(typed)):
        st.error(unmarked(say("Still needed: {missing}.", missing="; ".join(missing))))
    elif pressed:
        _keep(client, one, typed)


def _keep(client: Client, one: Source, typed: Sequence[TypedTool]) -> None:
    try:
        now = rewrite_source(client, one.id, [tool_body(tool) for tool in typed])
    except ServerError as error:
        if error.logged_out:
            raise
        st.error(unmarked(str(error)))
        return
    changed = len(now.changes) - len(one.changes)
    st.toast(
        say("Kept: {changes}. Check it under Tools.", changes=changes_told(changed))
        if changed
        else say("Kept: nothing is other than before.")
    )
    st.rerun()
