"""Coming in: log in, or make an account where the server lets one."""

from collections.abc import Callable

import streamlit as st

from ui import session
from ui.client import Client, log_in, register, registration
from ui.problems import ServerError


def login() -> None:
    """Two forms; whoever comes in stays in."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title("Footpath")
        st.caption("Ask in plain words; see which tools are weighed, called, and why.")
        if told := st.session_state.pop("told", ""):
            st.warning(told)
        rule = registration(session.connections())
        names = ["Log in"] if rule == "closed" else ["Log in", "Register"]
        tabs = st.tabs(names)
        with tabs[0]:
            _log_in()
        if len(tabs) > 1:
            with tabs[1]:
                _register(invited=rule == "invited")


def _log_in() -> None:
    with st.form("login"):
        name = st.text_input("Name", max_chars=64, autocomplete="username")
        password = st.text_input("Password", type="password", max_chars=256, autocomplete="current-password")
        if st.form_submit_button("Log in", type="primary"):
            _enter(lambda: log_in(session.connections(), name, password))


def _register(*, invited: bool) -> None:
    with st.form("register"):
        name = st.text_input("Name", max_chars=64, autocomplete="username", key="new-name")
        password = st.text_input(
            "Password",
            type="password",
            max_chars=256,
            autocomplete="new-password",
            key="new-password",
            help="At least 8 characters, and none of the common passwords.",
        )
        invitation = st.text_input("Invitation", type="password", max_chars=200) if invited else ""
        if st.form_submit_button("Make an account", type="primary"):
            _enter(lambda: register(session.connections(), name, password, invitation))


def _enter(way: Callable[[], Client]) -> None:
    try:
        client = way()
    except ServerError as error:
        st.error(str(error))
        return
    session.enter(client)
    st.rerun()
