"""The side bar: where one is, the conversations, how to plan, who one is."""

import streamlit as st

from ui import places, session
from ui.client import Client
from ui.language import say
from ui.replies import Conversation
from ui.screens.navigation import navigation
from ui.screens.run_choices import choosing
from ui.texts import unmarked

_TITLE = 48
_SEEN, _HEIGHT = 8, 300
"""More conversations than that are scrolled in a box so high: what lies below them stays in reach."""


def sidebar(client: Client) -> str:
    """The open conversation's id; empty: a new one, made with its first question."""
    chosen = places.place("conversation")
    with st.sidebar:
        st.subheader("Footpath")
        if st.button(say("New conversation"), icon=":material/add:", width="stretch"):
            _open("")
        navigation(client)
        _conversations(client, chosen)
        st.divider()
        choosing(client)
        st.caption(say("Logged in as {name}", name=unmarked(client.account.user.name)))
        if st.button(say("Log out"), type="tertiary", icon=":material/logout:"):
            session.leave()
            st.query_params.clear()
            st.rerun()
    return chosen


def _conversations(client: Client, chosen: str) -> None:
    """Those that wait for their user are marked; the open one can be renamed and deleted beside it."""
    search = st.text_input(say("Search"), max_chars=200, placeholder=say("Search"), label_visibility="collapsed")
    found = client.conversations(search)
    with st.container(key="talks", height=_HEIGHT if len(found) > _SEEN else "content", border=False, gap=None):
        for one in found:
            if one.id == chosen:
                _chosen(client, one)
            else:
                _talk(one, "tertiary")
    if not found:
        st.caption(say("Nothing was found.") if search else say("What you ask will be kept here."))


def _chosen(client: Client, one: Conversation) -> None:
    with st.container(horizontal=True, vertical_alignment="center", gap=None, key="talk-chosen"):
        _talk(one, "primary")
        with st.container(key="icon-change", width="content"):
            _change(client, one)


def _talk(one: Conversation, kind: str) -> None:
    primary, title = kind == "primary", unmarked(_short(one.shown_title))
    pressed = st.button(
        f":orange-badge[{say('waits for you')}] {title}" if one.waits else title,
        key=one.id,
        type="primary" if primary else "tertiary",
        width="stretch",
    )
    if pressed:
        _open(one.id)


def _change(client: Client, conversation: Conversation) -> None:
    with st.popover(say("Rename or delete"), icon=":material/more_horiz:", type="tertiary"):
        title = st.text_input(say("Title"), conversation.title, max_chars=200, key=f"title-{conversation.id}")
        if st.button(say("Rename"), key=f"rename-{conversation.id}"):
            client.rename(conversation.id, title)
            st.rerun()
        if st.button(say("Delete with all its runs"), key=f"delete-{conversation.id}"):
            client.remove(conversation.id)
            _open("")


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else title[: _TITLE - 1].rstrip() + "…"


def _open(conversation: str) -> None:
    places.go(conversation=conversation)
