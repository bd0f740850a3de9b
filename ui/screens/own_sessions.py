"""Where one is logged in, and how to log out there."""

import streamlit as st

from ui.client import Client
from ui.language import say
from ui.own_account import Session, end_others, end_session, sessions
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked


def own_sessions(client: Client) -> None:
    """This one first, then the others, the newest first."""
    st.caption(
        say(
            "Where you are logged in, and the tokens that programs have of you. What you do not know, end it, and change your password."
        )
    )
    listed = sorted(sessions(client), key=lambda one: not one.current)
    for one in listed:
        session_line(client, one)
    others = [one for one in listed if not one.current]
    if not others:
        st.caption(say("You are logged in nowhere else."))
        return
    if st.button(say("End all others"), icon=":material/logout:", key="end-others") and told(
        lambda: end_others(client)
    ):
        st.rerun()


def session_line(client: Client, one: Session) -> None:
    """What it is, since when, and a button that ends it."""
    with st.container(border=True, horizontal=True, vertical_alignment="center"):
        name = unmarked(one.label) or say("Unknown")
        marks = say("a program") if one.program else say("this one") if one.current else ""
        since = when(one.created_at)
        dates = (
            say("since {since}, until {until}", since=since, until=when(one.expires_at))
            if one.program
            else say("since {when}", when=since) + say(" · last used {when}", when=when(one.renewed_at))
        )
        if one.scopes:
            dates += " · " + ", ".join(one.scopes)
        st.markdown(f"**{name}**" + (f" · {marks}" if marks else "") + f"  \n{unmarked(dates)}", width="stretch")
        if (
            not one.current
            and st.button(say("End it"), key=f"end-{one.id}")
            and told(lambda: end_session(client, one.id))
        ):
            st.rerun()
