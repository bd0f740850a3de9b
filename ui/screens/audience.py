"""Who may use a source, whose keys its calls send, and how often it is read again: the same fields for a new one and one that is there."""

from collections.abc import Mapping, Sequence

import streamlit as st

from domain.model import JsonObject
from ui.client import Client
from ui.language import message, say
from ui.problems import ServerError
from ui.source_words import KEYS_OF, VISIBLE_TO, WATCHED
from ui.sources import Person, Source, people
from ui.texts import labelled, unmarked

_ROLES = {"user": message("users"), "author": message("authors"), "admin": message("administrators")}


def audience(client: Client, key: str, now: Source | None = None) -> JsonObject:
    """What is chosen, as the server takes it. ``now``: what stands there at first."""
    visible_to, roles, users = (now.visibility, now.roles, now.users) if now else ("everybody", [], [])
    chosen = st.radio(
        say("Who may use it"),
        list(VISIBLE_TO),
        index=_at(VISIBLE_TO, visible_to),
        format_func=lambda one: say(VISIBLE_TO[one]),
        key=f"{key}-visible",
        horizontal=True,
    )
    picked_roles: list[str] = []
    picked_users: list[str] = []
    if chosen == "roles":
        picked_roles = st.multiselect(
            say("Roles"), list(_ROLES), default=[one for one in roles if one in _ROLES], format_func=lambda one: say(_ROLES[one]), key=f"{key}-roles"
        )  # fmt: skip
    elif chosen == "users":
        picked_users = _named(client, key, users)
    keys_of = st.radio(
        say("Whose keys its calls send"),
        list(KEYS_OF),
        index=_at(KEYS_OF, now.keys_of if now else "caller"),
        format_func=lambda one: say(KEYS_OF[one]),
        key=f"{key}-keys",
    )
    return {"visibility": chosen, "roles": [*picked_roles], "users": [*picked_users], "keys_of": keys_of}


def watched(key: str, now: int = 0) -> int:
    """How often it is read again, in minutes."""
    offered = list(WATCHED) if now in WATCHED else [*WATCHED, now]
    return st.selectbox(
        say("Read it again, and tell what has changed"),
        offered,
        index=offered.index(now),
        format_func=_watched,
        key=f"{key}-watch",
    )


def _watched(minutes: int) -> str:
    return say(WATCHED[minutes]) if minutes in WATCHED else say("Every {minutes} minutes", minutes=minutes)


def _named(client: Client, key: str, already: Sequence[str]) -> list[str]:
    """Users by their ids; those found so far are kept, so that several searches add up."""
    known: dict[str, str] = st.session_state.setdefault(f"{key}-people", {one: one for one in already})
    prefix = st.text_input(
        say("Search for users by the beginning of their name"), max_chars=64, key=f"{key}-prefix"
    ).strip()
    if prefix:
        found: Sequence[Person] = []
        try:
            found = people(client, prefix)
        except ServerError as error:
            if error.logged_out:
                raise
            st.error(unmarked(str(error)))
        known |= {one.id: one.name for one in found}
        if not found:
            st.caption(say("Nobody's name begins so."))
    return st.multiselect(
        say("Users"), list(known), default=[*already], format_func=lambda one: labelled(known[one]), key=f"{key}-users"
    )


def _at(choices: Mapping[str, str], value: str) -> int:
    listed = list(choices)
    return listed.index(value) if value in listed else 0
