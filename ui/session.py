"""What a browser's visit holds: who is logged in, which conversation is open."""

import os
from collections.abc import Sequence
from functools import cache

import httpx
import streamlit as st

from domain.client_addresses import TrustedProxies
from ui import PAGE_PROXIES, SERVER_ADDRESS
from ui.client import Client, opened
from ui.language import COOKIE as LANGUAGE
from ui.language import HERE, chosen_language, say
from ui.login_tickets import COOKIE, FORGETTING_SCRIPT, Tickets, build_keeping_script, language_kept
from ui.own_account import browser_named
from ui.problems import ServerError

_HERE = "127.0.0.1"
_LEFT = "logged-out-here"


@cache
def tickets() -> Tickets:
    """One for the whole process: for the page's code, and for the route that sets the cookie, which runs outside of any page."""
    return Tickets()


def connections() -> httpx.Client:
    """To the server that the environment names, in the name of the browser's address."""
    forwarded = st.context.headers.get_all("X-Forwarded-For")
    address = visitor_address(st.context.ip_address or "", forwarded, os.environ.get(PAGE_PROXIES, ""))
    browser = browser_named(st.context.headers.get("User-Agent", "") or "")
    return opened(os.environ.get(SERVER_ADDRESS, "http://127.0.0.1:8000"), address, browser)


def visitor_address(peer: str, forwarded: Sequence[str], proxies: str) -> str:
    """A browser's address, as far as the named ``proxies`` tell it. ``peer``: who is connected; empty, as Streamlit has it: this machine."""
    address = TrustedProxies(proxies).find_client(peer or _HERE, forwarded)
    return "" if address == _HERE else address


def visitor() -> Client | None:
    """Who is logged in here, by this visit or by a ticket of an earlier one."""
    ticket = st.session_state.get("ticket", st.context.cookies.get(COOKIE, ""))
    client = tickets().client(ticket) if ticket else None
    st.session_state.ticket = ticket if client else ""
    return client


def enter(client: Client) -> None:
    """Keep who has logged in."""
    st.session_state.ticket = tickets().issue(client)


def leave() -> None:
    """Forget who was logged in, here and at the server, which may have ended the session already."""
    if client := tickets().client(st.session_state.get("ticket", "")):
        try:
            client.log_out()
        except ServerError as error:
            if not error.logged_out:
                st.toast(say("Logged out here; the server was not told: {error}", error=error))
    forget()


def forget() -> None:
    """The same, where the server knows it already."""
    tickets().withdraw(st.session_state.get("ticket", ""))
    chosen = chosen_language()
    st.session_state.clear()
    st.session_state.ticket, st.session_state[HERE], st.session_state[_LEFT] = "", chosen, True


def keep() -> None:
    """Have the browser keep what this visit knows, where it holds something else."""
    secure = str(st.context.url).startswith("https:")
    if (chosen := chosen_language()) and chosen != st.context.cookies.get(LANGUAGE):
        st.html(language_kept(chosen, secure=secure), unsafe_allow_javascript=True)
    ticket, held = st.session_state.ticket, st.context.cookies.get(COOKIE, "")  # held: when this visit was connected
    if ticket and ticket != held and (code := tickets().offer(ticket)):
        st.html(build_keeping_script(code), unsafe_allow_javascript=True)
    elif not ticket and (held or st.session_state.get(_LEFT)):
        st.html(FORGETTING_SCRIPT, unsafe_allow_javascript=True)
