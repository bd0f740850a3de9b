"""A tool that is picked by words, as the library finds it."""

import streamlit as st

from domain.tool import ToolId
from ui.client import Client
from ui.language import say
from ui.library import tools
from ui.texts import unmarked
from ui.tool_words import facts_told

_SHOWN = 6


def picked(client: Client, label: str, key: str) -> ToolId | None:
    """The tool whose button was pressed just now."""
    query = st.text_input(label, max_chars=4000, key=f"{key}-words", placeholder=say("What should it do?")).strip()
    if not query:
        return None
    found = tools(client, query).tools[:_SHOWN]
    if not found:
        st.info(say("No tool is found: search in other words."))
    for one in found:
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            pressed = st.button(unmarked(one.api), key=f"{key}-{one.id}", type="tertiary")
            st.caption(unmarked(facts_told(one)))
        if pressed:
            return one.id
    return None
