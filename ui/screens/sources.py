"""Sources of tools: the list of them, one of them, or a new one; which is seen stands in the address."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.problems import ServerError
from ui.screens.add_source import adding
from ui.screens.source import looking
from ui.source_words import about, counted
from ui.sources import AUTHORS, Source
from ui.sources import sources as listed_sources
from ui.texts import labelled, unmarked


def sources(client: Client) -> None:
    """What the author added, with how it is; an administrator sees everybody's."""
    if client.account.user.role not in AUTHORS:
        client.look_again()
    if client.account.user.role not in AUTHORS:
        _not_for(client)
    elif places.place("add"):
        adding(client)
    elif chosen := places.place("source"):
        looking(client, chosen)
    else:
        _all(client)


def _not_for(client: Client) -> None:
    st.title("Sources")
    user = client.account.user
    st.info(
        f"APIs and MCP servers are added by authors, and you are a {unmarked(user.role)}: you can use what they add. Would you like to add one? Ask an "
        f"administrator of this server to make you an author: under *Accounts*, where you are called **{unmarked(user.name)}**."
    )
    st.button("Look again", icon=":material/refresh:")


def _all(client: Client) -> None:
    st.title("Sources")
    whose = "that were added, by you and by others" if client.account.user.role == "admin" else "of your own"
    st.caption(
        f"APIs and MCP servers {whose}. What the gate lets through and you admit is offered with the next question."
    )
    if st.button("Add an API", type="primary", icon=":material/add:"):
        places.go("sources", add="1")
    try:
        found = listed_sources(client)
    except ServerError as error:
        if error.status != 403:
            raise
        st.info(unmarked(str(error)))
        return
    if not found:
        st.caption("Nothing was added yet.")
    for one in found:
        _line(client, one)


def _line(client: Client, one: Source) -> None:
    with st.container(border=True):
        if st.button(labelled(one.name), key=f"open-{one.id}", type="tertiary", icon=":material/hub:"):
            places.go("sources", source=one.id)
        mine = one.author in ("", client.account.user.name)
        st.caption(unmarked(about(one) + ("" if mine else f" · of {one.author}")))
        if one.checking:
            st.caption(f"The gate is at work: {one.checked} of {counted(one.to_check, 'tool')} checked.")
        if one.trouble:
            st.warning(unmarked(f"It could not be read last: {one.trouble}"))
        if one.changes:
            st.warning(f"{counted(len(one.changes), 'change')} that nobody has looked at.")
