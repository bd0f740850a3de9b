"""A small search below what a run was offered: why not this tool?"""

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.problems import ServerError
from ui.texts import unmarked, visible
from ui.why_not import ROUTE, told, why_not


def ask_why_not(client: Client, run: str) -> None:
    """In a fragment. Names that mean several tools, or none, are told with those that are near."""
    if not client.can(ROUTE):
        return
    name = st.text_input(
        say("Why not …?"),
        key=f"why-not-{run}",
        max_chars=300,
        placeholder=say("a tool that could have helped"),
        help=say("The name of a tool: why it was, or was not, offered here."),
    ).strip()
    if not name:
        return
    try:
        found = why_not(client, run, name)
    except ServerError as error:
        if error.logged_out:
            raise
        st.info(unmarked(str(error)))
        return
    st.text(visible("\n".join(told(found))))
