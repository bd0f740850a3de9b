"""A user's own keys for tools, and those that tools want which the user has not."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import listing, say, sentences
from ui.screens.key_fields import keeping
from ui.screens.telling import told
from ui.source_words import names_told
from ui.texts import labelled, unmarked
from ui.tool_keys import NeededKey, Vault, needed_keys


def own_keys(client: Client) -> None:
    """What is kept is sealed; values are never shown again."""
    st.caption(
        say(
            "Keys that calls send in your name. They are sealed, sent to the hosts that you name for them, and seen by no model."
        )
    )
    needed = _needed(client)
    for number, one in enumerate(needed):
        st.warning(_wanted(one))
        if one.source_id and st.button(say("To its source"), key=f"to-{number}", icon=":material/hub:"):
            places.go("sources", source=one.source_id)
    own = [one for one in needed if one.source_id is None]
    hosts = sorted({host for one in own for host in one.hosts})
    keeping(Vault(client), "own", {one.name: one.flows for one in own}, hosts)


def _needed(client: Client) -> list[NeededKey]:
    """One's own can be kept also where the server cannot say which are wanted."""
    found: list[NeededKey] = []
    if client.can("/me/needed-keys"):
        told(lambda: found.extend(needed_keys(client)))
    return found


def _wanted(one: NeededKey) -> str:
    name, hosts, tools = labelled(one.name), unmarked(listing(one.hosts)), unmarked(names_told(one.tools))
    told = (
        say("**{name}** is wanted by tools at {hosts}: {tools}.", name=name, hosts=hosts, tools=tools)
        if hosts and tools
        else say("**{name}** is wanted by tools at {hosts}.", name=name, hosts=hosts)
        if hosts
        else say("**{name}** is wanted by tools.", name=name)
    )
    where = say("It is kept with their source, which is yours.") if one.source_id else ""
    return sentences([part for part in (told, where, unmarked(say(one.lapsed))) if part])
