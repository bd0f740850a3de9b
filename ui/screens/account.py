"""One's own account, in parts: who one is and how the page looks, sessions, API tokens, keys, permissions."""

from collections.abc import Callable

import streamlit as st

from ui import places, session
from ui.client import Client
from ui.language import LANGUAGES, language, message, say
from ui.own_account import Share, Today, change_password, prefer, remove_account, used_today
from ui.screens.keys import own_keys
from ui.screens.leave import permissions
from ui.screens.own_sessions import own_sessions
from ui.screens.own_tokens import own_tokens
from ui.screens.sharing import own_shared
from ui.screens.telling import told
from ui.texts import unmarked
from ui.themes import THEMES, kept_by_browser, theme

ROLES = {
    "user": message("A user: asks, and keeps templates and solutions"),
    "author": message("An author: adds APIs, too, and shares templates"),
    "admin": message("An administrator: may do all"),
}
_BROWSER = ""
"""The language of whom has chosen none."""


def account(client: Client, part: str = "") -> None:
    """``part``: which is seen; empty: that of the address, else the first."""
    st.title(say("Account"))
    parts: dict[str, tuple[str, Callable[[Client], None]]] = {"you": (message("You"), _you)}
    if client.can("/me/sessions"):
        parts["sessions"] = (message("Sessions"), own_sessions)
    if client.can("/me/tokens"):
        parts["tokens"] = (message("API tokens"), own_tokens)
    parts["keys"] = (message("Keys"), own_keys)
    parts["permissions"] = (message("Permissions"), permissions)
    if client.can("/me/shared"):
        parts["shared"] = (message("Shared answers"), own_shared)
    wanted = part or places.place("part")
    chosen = wanted if wanted in parts else "you"
    with st.container(horizontal=True, gap="small", key="account-parts"):
        for name, (label, _) in parts.items():
            kind = "primary" if name == chosen else "secondary"
            if st.button(say(label), key=f"account-part-{name}", type=kind):
                places.go("account", part=name)
    parts[chosen][1](client)


def _you(client: Client) -> None:
    user = client.account.user
    st.subheader(unmarked(user.name))
    st.caption(say(ROLES[user.role]) if user.role in ROLES else unmarked(user.role))
    if client.can("/me/usage"):
        st.caption(_today(used_today(client)))
    _looks(client)
    _password(client)
    _remove(client)


def _today(used: Today) -> str:
    return unmarked(
        say("Used today: {runs} runs, {tokens} tokens.", runs=_share(used.runs), tokens=_share(used.tokens))
    )


def _share(one: Share) -> str:
    used = f"{one.used:,.0f}"
    return say("{used} of {most}", used=used, most=f"{one.most:,.0f}") if one.most else used


def _looks(client: Client) -> None:
    with st.container(border=True):
        names = {one: say(name) for one, name in THEMES.items()}
        chosen = st.radio(
            say("Theme, in this browser"), list(THEMES), list(THEMES).index(theme()), horizontal=True, key=f"theme-{language()}",
            format_func=names.__getitem__,
        )  # fmt: skip
        if chosen != theme():
            st.html(kept_by_browser(chosen), unsafe_allow_javascript=True)
        if "language" in client.account.user.model_fields_set:  # else the server keeps none
            _language(client)


def _language(client: Client) -> None:
    names = {_BROWSER: say("As the browser says")} | LANGUAGES
    kept = client.account.user.language or _BROWSER
    kept = kept if kept in names else _BROWSER
    chosen = st.radio(
        say("Language, wherever you log in"), list(names), list(names).index(kept), horizontal=True,
        format_func=names.__getitem__, key=f"language-{language()}",
    )  # fmt: skip
    if chosen != kept and told(lambda: prefer(client, chosen or None)):
        st.session_state.language = chosen
        st.rerun()


def _password(client: Client) -> None:
    with st.expander(say("Change the password"), icon=":material/password:"), st.form("password", border=False):
        old = st.text_input(say("Password until now"), type="password", max_chars=256, autocomplete="current-password")
        new = st.text_input(
            say("New password"), type="password", max_chars=256, autocomplete="new-password",
            help=say("At least 8 characters, and none of the common passwords."),
        )  # fmt: skip
        again = st.text_input(say("Once more"), type="password", max_chars=256, autocomplete="new-password")
        if not st.form_submit_button(say("Change it"), type="primary"):
            return
        if new != again:
            st.error(say("The two differ; type the same twice."))
        elif told(lambda: change_password(client, old, new)):
            st.success(say("It is changed. You stay logged in here; all your other sessions have ended."))


def _remove(client: Client) -> None:
    with st.expander(say("Delete my account"), icon=":material/person_remove:"), st.form("remove", border=False):
        st.markdown(
            say(
                "Your conversations, runs, files, keys, templates, memories and solutions are removed, with links to answers that you shared and with what others share of your solutions. Solutions that an administrator shares, sources that you added, counts of how tools did, the audit log, and backups and exports made before stay. This cannot be undone."
            )
        )
        password = st.text_input(say("Your password"), type="password", max_chars=256, autocomplete="current-password")
        if st.form_submit_button(say("Delete it for good")) and told(lambda: remove_account(client, password)):
            session.forget()
            st.session_state.told = say("Your account is deleted.")
            st.query_params.clear()
            st.rerun()
