"""What may happen without being asked: the tools and hosts of which a user has said so, each of which can be taken back."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.leave import (
    ORIGINS,
    AllowedTool,
    HostTransfer,
    allow_tool,
    allowed_tools,
    disallow_tool,
    forget_transfer,
    host_transfers,
)
from ui.library import Tool
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import labelled, unmarked
from ui.walk_graph import tool_name


def permissions(client: Client) -> None:
    """Both lists; a card in a run adds to them."""
    st.caption(
        "What calls may do without asking you. *Always allow* on the card of a call adds to it, and so does *Permissions* on the page of a tool."
    )
    st.subheader("Tools that may change things")
    listed = allowed_tools(client)
    for one in listed:
        _allowed(client, one)
    if not listed:
        st.caption("None: each call that may change something asks you.")
    st.subheader("Values that go from one host to another")
    decided = host_transfers(client)
    for one in decided:
        _transfer(client, one)
    if not decided:
        st.caption("You have not been asked yet.")


def leave_for(client: Client, found: Tool) -> None:
    """Of one tool, on its page."""
    if not found.changes:
        st.info("It only reads, and so asks nobody.")
        return
    said = next((one for one in allowed_tools(client) if one.tool == found.id), None)
    if said:
        _allowed(client, said)
    if said and said.holds is not False:
        return
    st.caption(
        "A run asks you before each of its calls. Where you let it, it asks no more for values that you say, that its document gives or that are "
        "whole fields of an answer; any other value is asked about each time."
    )
    if st.button("Let it change things without asking me", key="leave-give") and told(
        lambda: allow_tool(client, found.id)
    ):
        st.rerun()


def _allowed(client: Client, one: AllowedTool) -> None:
    with st.container(border=True):
        if st.button(unmarked(tool_name(one.tool)), key=f"leave-open-{one.tool}", type="tertiary"):
            places.go("tools", tool=one.tool)
        values = ", ".join(ORIGINS.get(kind, kind) for kind in one.origins) or "no values"
        st.caption(unmarked(f"{one.method} {one.address} · for {values} · since {when(one.created_at)}"))
        if one.holds is False:
            st.warning("It is gone, or goes elsewhere than when you said so: it asks you again.")
        if st.button("Have it ask again", key=f"leave-take-{one.tool}") and told(
            lambda: disallow_tool(client, one.tool)
        ):
            st.rerun()


def _transfer(client: Client, one: HostTransfer) -> None:
    with st.container(border=True):
        said = "may go to" if one.allowed else "never go to"
        st.markdown(f"Answers of **{labelled(one.source)}** {said} **{labelled(one.target)}**")
        st.caption(f"Since {when(one.decided_at)}")
        if st.button("Ask me again", key=f"transfer-{one.source}-{one.target}") and told(
            lambda: forget_transfer(client, one)
        ):
            st.rerun()
