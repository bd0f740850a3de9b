"""A user's own keys for tools, and those that tools want which the user has not."""

import streamlit as st

from ui.client import Client
from ui.screens.key_fields import keeping
from ui.source_words import names_told
from ui.texts import labelled, unmarked
from ui.tool_keys import NeededKey, Vault, needed_keys


def keys(client: Client) -> None:
    """What is kept is sealed; values are never shown again."""
    st.title("Keys")
    st.caption(
        "Keys that calls send in your name. They are sealed, sent to the hosts that you name for them, and seen by no model."
    )
    needed = needed_keys(client) if client.can("/me/needed-keys") else []
    for one in needed:
        st.warning(_wanted(one))
    hosts = sorted({host for one in needed for host in one.hosts})
    keeping(Vault(client), "own", [one.name for one in needed], hosts)


def _wanted(one: NeededKey) -> str:
    hosts = f" at {unmarked(', '.join(one.hosts))}" if one.hosts else ""
    tools = f" ({unmarked(names_told(one.tools))})" if one.tools else ""
    return f"**{labelled(one.name)}** is wanted by tools{hosts}{tools}."
