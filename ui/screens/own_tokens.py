"""Tokens by which one's programs and scripts are let in: made, shown until the page is left, ended."""

import streamlit as st

from ui import places
from ui.client import Client
from ui.language import message, say
from ui.own_account import ProgramToken, make_token, sessions
from ui.screens.own_sessions import session_line
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked

_MADE = "token-made"
_DAYS = {7: message("a week"), 30: message("a month"), 90: message("3 months"), 365: message("a year")}
_SCOPES = {
    "ask": message("Ask: begin runs that only read"),
    "read": message("Read: conversations, runs, tools"),
    "run_changes": message("Make changes: in runs, as far as you allow them, and to what is kept here"),
    "administer": message("Administer: what needs the role of an author or administrator"),
}
_USUAL = ("ask", "read")


def own_tokens(client: Client) -> None:
    """Those that count, and a form that makes one."""
    st.caption(
        say(
            "A script or another program sends a token instead of your name and password, and may then do what you choose here. Give each program its own, so that you can end one alone. No token can approve calls, invite, set passwords, end sessions or make other tokens."
        )
    )
    made: dict[str, ProgramToken] = places.kept_here().setdefault(_MADE, {})
    _form(client, made)
    for label, one in made.items():
        _shown(label, one)
    listed = [one for one in sessions(client) if one.program]
    for one in listed:
        session_line(client, one)
    if not listed:
        st.caption(say("You have no tokens."))


def _form(client: Client, made: dict[str, ProgramToken]) -> None:
    with st.form("token", clear_on_submit=True, border=True):
        label = st.text_input(say("What it is for"), max_chars=200, key="token-label").strip()
        days = st.selectbox(
            say("It counts for"), list(_DAYS), 1, format_func=lambda one: say(_DAYS[one]), key="token-days"
        )
        offered = [one for one in _SCOPES if one != "administer" or client.account.user.role != "user"]
        scopes = [
            one for one in offered if st.checkbox(say(_SCOPES[one]), value=one in _USUAL, key=f"token-scope-{one}")
        ]
        if not st.form_submit_button(say("Make a token"), type="primary"):
            return
        if label and not scopes:
            st.error(say("Choose at least one thing that it may do."))
        elif label:
            told(lambda: made.update({label: make_token(client, label, days, scopes)}))
        else:
            st.error(say("Say what it is for, so that you know it again."))


def _shown(label: str, one: ProgramToken) -> None:
    st.success(
        unmarked(
            say(
                "The token for {label}; it counts until {when}. Copy it now: it is shown until you leave this page, and then not again.",
                label=label,
                when=when(one.expires_at),
            )
        )
    )
    token = one.token.get_secret_value()
    st.code(token, language=None, wrap_lines=True)
    st.caption(say("It is sent in the header of each request:"))
    st.code(f"Authorization: Bearer {token}", language=None, wrap_lines=True)
