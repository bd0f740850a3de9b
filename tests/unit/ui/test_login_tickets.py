"""Tickets open what they were issued for, as long as they count."""

from typing import cast

from ui.client import Client
from ui.login_tickets import Tickets, kept_by_browser

SOMEBODY = cast("Client", object())


def test_a_ticket_opens_what_it_was_issued_for() -> None:
    tickets = Tickets()
    ticket = tickets.issue(SOMEBODY)
    assert tickets.client(ticket) is SOMEBODY
    assert tickets.client(ticket[:-1]) is None


def test_a_withdrawn_ticket_opens_nothing() -> None:
    tickets = Tickets()
    ticket = tickets.issue(SOMEBODY)
    tickets.withdraw(ticket)
    assert tickets.client(ticket) is None


def test_a_ticket_ends() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    ticket = tickets.issue(SOMEBODY)
    now[0] = 31 * 24 * 3600.0
    assert tickets.client(ticket) is None


def test_the_cookie_goes_to_no_other_site() -> None:
    assert "SameSite=Strict; Secure" in kept_by_browser("t", secure=True)
    assert "Max-Age=0" in kept_by_browser("", secure=False)
