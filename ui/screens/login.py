"""Coming in: log in, or make an account where the server lets one."""

import re
from collections.abc import Callable

import streamlit as st

from ui import places, session
from ui.client import Client, log_in, register, registration, reset_password
from ui.language import HERE, LANGUAGES, language, message, say
from ui.problems import ServerError
from ui.screens.telling import told

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]*")
"""As the server wants it, which says it by this pattern."""
_PASSWORDS = message("At least 8 characters, and none of the common passwords.")


def login() -> None:
    """Two forms; whoever comes in stays in."""
    _, middle, _ = st.columns([1, 2, 1])
    with middle:
        st.title("Footpath")
        st.caption(say("Ask in plain words; see which tools are weighed, called, and why."))
        if why := st.session_state.pop("told", ""):
            st.warning(why)
        if places.view() == "shared":
            st.info(
                say(
                    "Somebody shares an answer with you. Log in, or make an account where this server lets you, to read it."
                )
            )
        rule = registration(session.connections())
        if secret := places.place("reset"):
            _new_password(secret)
            _languages()
            return
        invitation = places.place("invitation")
        names = [say("Log in"), *([] if rule == "closed" else [say("Register")])]
        tabs = st.tabs(names, default=say("Register") if invitation and len(names) > 1 else None)
        with tabs[0]:
            _log_in()
        if len(tabs) > 1:
            with tabs[1]:
                _register(invitation, invited=rule == "invited" or bool(invitation))
        elif invitation:
            st.info(say("This server makes no accounts by invitation any more; ask an administrator."))
        _languages()


def _languages() -> None:
    """Each by its own name: whoever cannot read the page finds it. The browser keeps what is chosen."""

    def chosen() -> None:
        st.session_state[HERE] = st.session_state["login-language"]

    st.selectbox(
        say("Language"),
        list(LANGUAGES),
        list(LANGUAGES).index(language()),
        format_func=LANGUAGES.__getitem__,
        key="login-language",
        on_change=chosen,
        width=160,
    )


def _new_password(secret: str) -> None:
    st.subheader(say("A new password"))
    with st.form("reset"):
        password = st.text_input(
            say("New password"), type="password", max_chars=256, autocomplete="new-password", help=say(_PASSWORDS)
        )
        again = st.text_input(say("Once more"), type="password", max_chars=256, autocomplete="new-password")
        if not st.form_submit_button(say("Set it"), type="primary"):
            return
    if password != again:
        st.error(say("The two differ; type the same twice."))
    elif told(lambda: reset_password(session.connections(), secret, password)):
        st.query_params.clear()
        st.session_state.told = say("Your new password is set. Log in with it.")
        st.rerun()


def _log_in() -> None:
    with st.form("login"):
        name = st.text_input(say("Name"), max_chars=64, autocomplete="username")
        password = st.text_input(say("Password"), type="password", max_chars=256, autocomplete="current-password")
        if st.form_submit_button(say("Log in"), type="primary"):
            _enter(lambda: log_in(session.connections(), name, password))


def _register(given: str, *, invited: bool) -> None:
    with st.form("register"):
        name = st.text_input(say("Name"), max_chars=64, autocomplete="username", key="new-name")
        password = st.text_input(
            say("Password"),
            type="password",
            max_chars=256,
            autocomplete="new-password",
            key="new-password",
            help=say(_PASSWORDS),
        )
        invitation = st.text_input(say("Invitation"), given, type="password", max_chars=200) if invited else ""
        if not st.form_submit_button(say("Make an account"), type="primary"):
            return
        if not _NAME.fullmatch(name.strip()):
            st.error(say("A name has letters from A to Z, digits and . _ @ + - only, and begins with a letter or a digit: no spaces."))  # fmt: skip
        else:
            _enter(lambda: register(session.connections(), name.strip(), password, invitation))


def _enter(way: Callable[[], Client]) -> None:
    try:
        client = way()
    except ServerError as error:
        st.error(str(error))
        return
    session.enter(client)
    if places.place("invitation"):
        st.query_params.clear()  # it was used, and is nobody else's business
    st.rerun()
