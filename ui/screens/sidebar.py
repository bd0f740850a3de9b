"""The side bar: conversations, how to plan, who one is."""

import streamlit as st

from ui import places, session
from ui.client import Client
from ui.replies import Conversation
from ui.screens.run_choices import choosing
from ui.screens.views import VIEWS
from ui.texts import unmarked

_TITLE = 48
_SEEN, _HEIGHT = 8, 330
"""More conversations than that are scrolled in a box so high: what lies below them stays in reach."""


def sidebar(client: Client) -> str:
    """The open conversation's id; empty: a new one, made with its first question."""
    with st.sidebar:
        st.subheader("Footpath")
        if st.button("New conversation", icon=":material/add:", width="stretch"):
            _open("")
        search = st.text_input("Search", max_chars=200, placeholder="Search", label_visibility="collapsed")
        found = client.conversations(search)
        chosen = st.query_params.get("conversation", "")
        with st.container(height=_HEIGHT if len(found) > _SEEN else "content", border=False):
            for one in found:
                kind = "primary" if one.id == chosen else "tertiary"
                if st.button(unmarked(_short(one.shown_title)), key=one.id, type=kind, width="stretch"):
                    _open(one.id)
        if not found:
            st.caption("Nothing was found." if search else "What you ask will be kept here.")
        current = next((one for one in found if one.id == chosen), None)
        if current:
            _change(client, current)
        _views(client, chosen)
        st.divider()
        choosing(client)
        st.caption(f"Logged in as {unmarked(client.account.user.name)}")
        if st.button("Log out", width="stretch"):
            session.leave()
            st.query_params.clear()
            st.rerun()
    return chosen


def _change(client: Client, conversation: Conversation) -> None:
    with st.popover("Rename or delete", width="stretch"):
        title = st.text_input("Title", conversation.title, max_chars=200, key=f"title-{conversation.id}")
        if st.button("Rename", key=f"rename-{conversation.id}"):
            client.rename(conversation.id, title)
            st.rerun()
        if st.button("Delete with all its runs", key=f"delete-{conversation.id}"):
            client.remove(conversation.id)
            _open("")


def _views(client: Client, conversation: str) -> None:
    """The conversation and what else there is to see, always in the same order; which of them is open is marked, and stands in the address."""
    seen = places.view()
    if _view("Conversation", "chat", opened=not seen):
        places.go()
    for name, one in VIEWS.items():
        if one.offered(client, conversation) and _view(one.label, one.icon, opened=name == seen):
            places.go(name)


def _view(label: str, icon: str, *, opened: bool) -> bool:
    kind = "primary" if opened else "secondary"
    return st.button(label, icon=f":material/{icon}:", key=f"view-{icon}", type=kind, width="stretch")


def _short(title: str) -> str:
    return title if len(title) <= _TITLE else title[: _TITLE - 1].rstrip() + "…"


def _open(conversation: str) -> None:
    st.query_params.from_dict({"conversation": conversation} if conversation else {})
    st.rerun()
