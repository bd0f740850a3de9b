"""Sources of tools: the list of them, one of them, or a new one; which is seen stands in the address."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import say
from ui.problems import ServerError
from ui.replies import ROLES
from ui.screens.add_source import adding
from ui.screens.source import looking
from ui.source_words import about, changes_told, tools_told
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
    st.title(say("Sources"))
    user = client.account.user
    st.info(
        say(
            "APIs and MCP servers are added by authors, and you are a {role}: you can use what they add. Would you like to add one? Ask an administrator of this server to make you an author: under *Accounts*, where you are called **{name}**.",
            role=say(ROLES.get(user.role, unmarked(user.role))),
            name=unmarked(user.name),
        )
    )
    st.button(say("Look again"), icon=":material/refresh:")


def _all(client: Client) -> None:
    st.title(say("Sources"))
    st.caption(
        say(
            "APIs and MCP servers that were added, by you and by others. What passes the admission check and you admit is offered with the next question."
        )
        if client.account.user.role == "admin"
        else say(
            "APIs and MCP servers of your own. What passes the admission check and you admit is offered with the next question."
        )
    )
    if st.button(say("Add an API"), type="primary", icon=":material/add:"):
        places.go("sources", add="1")
    try:
        found = listed_sources(client)
    except ServerError as error:
        if error.status != 403:
            raise
        st.info(unmarked(str(error)))
        return
    if not found:
        st.caption(say("Nothing was added yet."))
    for one in found:
        _line(client, one)


def _line(client: Client, one: Source) -> None:
    with st.container(border=True):
        if st.button(labelled(one.name), key=f"open-{one.id}", type="tertiary", icon=":material/hub:"):
            places.go("sources", source=one.id)
        mine = one.author in ("", client.account.user.name)
        st.caption(unmarked(about(one) + ("" if mine else f" · {say('of {author}', author=one.author)}")))
        if one.checking:
            st.caption(
                say(
                    "The admission check is running: {checked} of {tools} checked.",
                    checked=one.checked,
                    tools=tools_told(one.to_check),
                )
            )
        if one.trouble:
            st.warning(unmarked(say("It could not be read last: {trouble}", trouble=one.trouble)))
        if one.changes:
            st.warning(say("{changes} that nobody has looked at.", changes=changes_told(len(one.changes))))
