"""What may happen without being asked: the tools and hosts of which a user has said so, each of which can be taken back."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import listing, say
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
        say(
            "What calls may do without asking you. *Always allow* on the card of a call adds to it, and so does *Permissions* on the page of a tool."
        )
    )
    st.subheader(say("Tools that may change things"))
    listed = allowed_tools(client)
    for one in listed:
        _allowed(client, one)
    if not listed:
        st.caption(say("None: each call that may change something asks you."))
    st.subheader(say("Values that go from one host to another"))
    decided = host_transfers(client)
    for one in decided:
        _transfer(client, one)
    if not decided:
        st.caption(say("You have not been asked yet."))


def leave_for(client: Client, found: Tool) -> None:
    """Of one tool, on its page."""
    if not found.changes:
        st.info(say("It only reads, and so asks nobody."))
        return
    said = next((one for one in allowed_tools(client) if one.tool == found.id), None)
    if said:
        _allowed(client, said)
    if said and said.holds is not False:
        return
    st.caption(
        say(
            "A run asks you before each of its calls. Where you let it, it asks no more for values that you say, that its document gives or that are whole fields of an answer; any other value is asked about each time."
        )
    )
    if st.button(say("Let it change things without asking me"), key="leave-give") and told(
        lambda: allow_tool(client, found.id)
    ):
        st.rerun()


def _allowed(client: Client, one: AllowedTool) -> None:
    with st.container(border=True):
        if st.button(unmarked(tool_name(one.tool)), key=f"leave-open-{one.tool}", type="tertiary"):
            places.go("tools", tool=one.tool)
        values = listing([say(ORIGINS.get(kind, kind)) for kind in one.origins]) or say("no values")
        st.caption(
            unmarked(
                say(
                    "{method} {address} · for {values} · since {when}",
                    method=one.method,
                    address=one.address,
                    values=values,
                    when=when(one.created_at),
                )
            )
        )
        if one.holds is False:
            st.warning(say("It is gone, or goes elsewhere than when you said so: it asks you again."))
        if st.button(say("Have it ask again"), key=f"leave-take-{one.tool}") and told(
            lambda: disallow_tool(client, one.tool)
        ):
            st.rerun()


def _transfer(client: Client, one: HostTransfer) -> None:
    with st.container(border=True):
        source, target = labelled(one.source), labelled(one.target)
        st.markdown(
            say("Answers of **{source}** may go to **{target}**", source=source, target=target)
            if one.allowed
            else say("Answers of **{source}** never go to **{target}**", source=source, target=target)
        )
        st.caption(say("Since {when}", when=when(one.decided_at)))
        if st.button(say("Ask me again"), key=f"transfer-{one.source}-{one.target}") and told(
            lambda: forget_transfer(client, one)
        ):
            st.rerun()
