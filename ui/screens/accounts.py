"""Accounts, for administrators: who is what, who is locked out, who is invited."""

from collections.abc import Callable

import streamlit as st

from ui.accounts import (
    PAGE,
    Account,
    Invitation,
    PasswordLink,
    accounts,
    accounts_named,
    give_role,
    invitations,
    invite,
    link,
    lock_out,
    password_link,
    withdraw,
)
from ui.client import Client
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked

_ROLES = {"user": "user: asks", "author": "author: adds APIs, too", "admin": "administrator: may do all"}
_AFTER = "accounts-after"
_MADE = "invitation-made"
_LINK = "password-link"
_DAYS = {1: "a day", 3: "3 days", 7: "a week", 30: "a month"}


def all_accounts(client: Client) -> None:
    """A row for each; what is said counts at once."""
    st.title("Accounts")
    st.caption(
        "A role counts from the next thing that somebody does; where it falls, and where an account is locked out, its runs end."
    )
    prefix = st.text_input("Search by the beginning of a name", max_chars=64, key="accounts-prefix").strip()
    pages: list[str] = st.session_state.setdefault(_AFTER, [])
    found = accounts_named(client, prefix) if prefix else accounts(client, pages[-1] if pages else "")
    for one in found:
        _account(client, one)
    if not found:
        st.caption("Nobody who may log in has a name that begins so." if prefix else "There are no more.")
    if not prefix:
        _turning(pages, found)
    with st.expander("Invitations", expanded=_MADE in st.session_state):
        _invitations(client)


def _account(client: Client, one: Account) -> None:
    own = one.id == client.account.user.id
    with st.container(border=True):
        name, role, give, lock = st.columns([5, 4, 3, 3], vertical_alignment="bottom")
        out = f" · locked out since {when(one.disabled_at)}" if one.disabled_at else ""
        since = f" · since {one.created_at:%Y-%m-%d}" if one.created_at else ""
        name.markdown(f"**{unmarked(one.name)}**{' (you)' if own else ''}  \n{unmarked(one.role + since + out)}")
        roles = list(_ROLES)
        chosen = role.selectbox(
            f"Role of {unmarked(one.name)}", roles, roles.index(one.role) if one.role in roles else 0,
            format_func=_ROLES.__getitem__, key=f"role-{one.id}-{one.role}",
        )  # fmt: skip
        if give.button("Give this role", key=f"give-{one.id}", disabled=chosen == one.role, width="stretch"):
            _done(lambda: give_role(client, one.id, chosen))
        label = "Let in again" if one.disabled_at else "Lock out"
        if lock.button(label, key=f"lock-{one.id}", disabled=own, width="stretch"):
            _done(lambda: lock_out(client, one.id, out=one.disabled_at is None))
        if not one.disabled_at:
            _new_password(client, one)


def _new_password(client: Client, one: Account) -> None:
    """A link by which the user sets it; nobody else learns it."""
    label = f"Link for a new password of {unmarked(one.name)}"
    if st.button(label, key=f"password-{one.id}", type="tertiary", icon=":material/key:"):
        made: list[PasswordLink] = []
        if told(lambda: made.append(password_link(client, one.id))):
            st.session_state[_LINK] = (one.id, made[0])
    of, shown = st.session_state.get(_LINK, ("", None))
    if of == one.id and shown is not None:
        st.session_state.pop(_LINK)
        st.success(
            f"Give this to {unmarked(one.name)}; it counts once, until {when(shown.expires_at)}, and is not shown again:"
        )
        st.code(link(str(st.context.url), "reset", shown.secret), language=None, wrap_lines=True)


def _done(what: Callable[[], None]) -> None:
    if told(what):
        st.rerun()


def _turning(pages: list[str], found: list[Account]) -> None:
    with st.container(horizontal=True, gap="small"):
        if pages and st.button("Back", icon=":material/arrow_back:", key="accounts-back"):
            pages.pop()
            st.rerun()
        if len(found) == PAGE and st.button("More", icon=":material/arrow_forward:", key="accounts-more"):
            pages.append(found[-1].id)
            st.rerun()


def _invitations(client: Client) -> None:
    """Each makes one account: its link opens the page where one registers."""
    if made := st.session_state.pop(_MADE, ""):
        st.success("Made. Give this link to the invited person; it is not shown again:")
        st.code(link(str(st.context.url), "invitation", made), language=None, wrap_lines=True)
    with st.form("invite", clear_on_submit=True, border=False):
        role = st.selectbox("Role", list(_ROLES), format_func=_ROLES.__getitem__, key="invite-role")
        note = st.text_input("For whom", max_chars=200, key="invite-note")
        days = st.selectbox("It counts for", list(_DAYS), 2, format_func=_DAYS.__getitem__, key="invite-days")
        pressed = st.form_submit_button("Invite somebody")
    if pressed:
        _done(lambda: st.session_state.update({_MADE: invite(client, role, note.strip(), days).secret}))
    for one in invitations(client):
        _invitation(client, one)


def _invitation(client: Client, one: Invitation) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center")
    stands = f"used {when(one.used_at)}" if one.used_at else f"good until {when(one.expires_at)}"
    left.caption(unmarked(f"{one.note or 'For whoever has it'} · {one.role} · {stands}"))
    if not one.used_at and right.button("Withdraw", key=f"withdraw-{one.id}", type="tertiary"):
        _done(lambda: withdraw(client, one.id))
