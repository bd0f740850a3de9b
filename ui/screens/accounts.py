"""Accounts, for administrators: who is what, who is locked out, who is invited."""

from collections.abc import Callable

import streamlit as st

from ui import places
from ui.accounts import (
    PAGE,
    Account,
    Invitation,
    PasswordLink,
    accounts,
    accounts_named,
    end_sessions,
    give_role,
    invitations,
    invite,
    link,
    lock_out,
    password_link,
    withdraw,
)
from ui.client import Client
from ui.language import day, message, say
from ui.replies import ROLES
from ui.screens.telling import told
from ui.source_words import when
from ui.texts import unmarked

_ROLES = {
    "user": message("user: asks"),
    "author": message("author: adds APIs, too"),
    "admin": message("administrator: may do all"),
}
_AFTER = "accounts-after"
_MADE = "invitation-made"
_LINK = "password-link"
_DAYS = {1: message("a day"), 3: message("3 days"), 7: message("a week"), 30: message("a month")}


def all_accounts(client: Client) -> None:
    """A row for each; what is said counts at once."""
    st.title(say("Accounts"))
    st.caption(
        say(
            "A role counts from the next thing that somebody does; where it falls, and where an account is locked out, its runs end."
        )
    )
    prefix = st.text_input(say("Search by the beginning of a name"), max_chars=64, key="accounts-prefix").strip()
    pages: list[str] = st.session_state.setdefault(_AFTER, [])
    found = accounts_named(client, prefix) if prefix else accounts(client, pages[-1] if pages else "")
    for one in found:
        _account(client, one)
    if not found:
        st.caption(say("Nobody who may log in has a name that begins so.") if prefix else say("There are no more."))
    if not prefix:
        _turning(pages, found)
    with st.expander(say("Invitations"), expanded=bool(_made())):
        _invitations(client)


def _account(client: Client, one: Account) -> None:
    own = one.id == client.account.user.id
    with st.container(border=True):
        name, role, give, lock = st.columns([5, 4, 3, 3], vertical_alignment="bottom")
        role_told = say(ROLES.get(one.role, one.role))
        out = say("locked out since {when}", when=when(one.disabled_at)) if one.disabled_at else ""
        since = say("since {day}", day=day(one.created_at)) if one.created_at else ""
        you = f" {say('(you)')}" if own else ""
        facts = " · ".join(part for part in (role_told, since, out) if part)
        name.markdown(f"**{unmarked(one.name)}**{you}  \n{unmarked(facts)}")
        roles = list(_ROLES)
        chosen = role.selectbox(
            say("Role of {name}", name=unmarked(one.name)), roles, roles.index(one.role) if one.role in roles else 0,
            format_func=lambda one: say(_ROLES[one]), key=f"role-{one.id}-{one.role}",
        )  # fmt: skip
        if give.button(say("Give this role"), key=f"give-{one.id}", disabled=chosen == one.role, width="stretch"):
            _done(lambda: give_role(client, one.id, chosen))
        with lock:
            _lock(client, one, own=own)
        if not one.disabled_at:
            with st.container(horizontal=True, gap="small"):
                asked = _asks_password(one)
                if not own and client.can("/users/{user_id}/sessions", "delete"):
                    _sessions(client, one)
            _new_password(client, one, asked=asked)


def _lock(client: Client, one: Account, *, own: bool) -> None:
    """Who is locked out loses what cannot be given back, so it is asked once."""
    if one.disabled_at or own:
        label = say("Let in again") if one.disabled_at else say("Lock out")
        if st.button(label, key=f"lock-{one.id}", disabled=own, width="stretch"):
            _done(lambda: lock_out(client, one.id, out=False))
        return
    name = unmarked(one.name)
    with st.popover(say("Lock out"), width="stretch"):
        st.markdown(
            say(
                "{name} can log in no more. All runs and sessions end at once, and tokens of programs do not count any more, also after letting in again.",
                name=name,
            )
        )
        if st.button(say("Lock {name} out", name=name), key=f"lock-{one.id}"):
            _done(lambda: lock_out(client, one.id, out=True))


def _sessions(client: Client, one: Account) -> None:
    name = unmarked(one.name)
    with st.popover(say("End all sessions"), icon=":material/logout:", type="tertiary"):
        st.markdown(
            say(
                "{name} is logged out everywhere. Runs end, and tokens of programs do not count any more. The password stays: {name} can log in again.",
                name=name,
            )
        )
        if st.button(say("End all sessions of {name}", name=name), key=f"sessions-{one.id}") and told(
            lambda: end_sessions(client, one.id)
        ):
            st.success(say("They have ended."))


def _asks_password(one: Account) -> bool:
    label = say("Link for a new password of {name}", name=unmarked(one.name))
    return st.button(label, key=f"password-{one.id}", type="tertiary", icon=":material/key:")


def _new_password(client: Client, one: Account, *, asked: bool) -> None:
    """A link by which the user sets it; nobody else learns it."""
    if asked:
        made: list[PasswordLink] = []
        if told(lambda: made.append(password_link(client, one.id))):
            st.session_state[_LINK] = (one.id, made[0])
    of, shown = st.session_state.get(_LINK, ("", None))
    if of == one.id and shown is not None:
        st.session_state.pop(_LINK)
        st.success(
            say(
                "Give this to {name}; it counts once, until {when}, and is not shown again:",
                name=unmarked(one.name),
                when=when(shown.expires_at),
            )
        )
        st.code(link(str(st.context.url), "reset", shown.secret), language=None, wrap_lines=True)


def _done(what: Callable[[], None]) -> None:
    if told(what):
        st.rerun()


def _turning(pages: list[str], found: list[Account]) -> None:
    with st.container(horizontal=True, gap="small"):
        if pages and st.button(say("Back"), icon=":material/arrow_back:", key="accounts-back"):
            pages.pop()
            st.rerun()
        if len(found) == PAGE and st.button(say("More"), icon=":material/arrow_forward:", key="accounts-more"):
            pages.append(found[-1].id)
            st.rerun()


def _invitations(client: Client) -> None:
    """Each makes one account: its link opens the page where one registers."""
    found, made = invitations(client), _made()
    open_ones = {one.id for one in found if not one.used_at}
    for one in (one for one in reversed(made) if one.id in open_ones):
        made_for = (
            say("Made for {whom}. Give this link to nobody else:", whom=one.note)
            if one.note
            else say("Made. Whoever has this link can make an account:")
        )
        st.success(unmarked(made_for))
        st.code(link(str(st.context.url), "invitation", one.secret), language=None, wrap_lines=True)
    if made:
        st.caption(say("Links are shown until you leave this page, and then not again."))
    with st.form("invite", clear_on_submit=True, border=False):
        role = st.selectbox(say("Role"), list(_ROLES), format_func=lambda one: say(_ROLES[one]), key="invite-role")
        note = st.text_input(say("For whom"), max_chars=200, key="invite-note")
        days = st.selectbox(
            say("It counts for"), list(_DAYS), 2, format_func=lambda one: say(_DAYS[one]), key="invite-days"
        )
        pressed = st.form_submit_button(say("Invite somebody"))
    if pressed:
        _done(lambda: made.append(invite(client, role, note.strip(), days)))
    for one in found:
        _invitation(client, one)


def _made() -> list[Invitation]:
    """Those that were made since this page was opened, with their secrets."""
    return places.kept_here().setdefault(_MADE, [])


def _invitation(client: Client, one: Invitation) -> None:
    left, right = st.columns([5, 1], vertical_alignment="center")
    stands = (
        say("used {when}", when=when(one.used_at))
        if one.used_at
        else say("good until {when}", when=when(one.expires_at))
    )
    left.caption(unmarked(f"{one.note or say('For whoever has it')} · {say(ROLES.get(one.role, one.role))} · {stands}"))
    if not one.used_at and right.button(say("Withdraw"), key=f"withdraw-{one.id}", type="tertiary"):
        _done(lambda: withdraw(client, one.id))
