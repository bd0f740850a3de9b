"""Tickets open what they were issued for, as long as they count."""

from typing import cast

from ui.client import Client
from ui.login_tickets import Tickets, build_keeping_script

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


def test_a_browser_gets_a_ticket_for_a_code_once() -> None:
    tickets = Tickets()
    ticket = tickets.issue(SOMEBODY)
    code = tickets.offer(ticket)
    assert code == tickets.offer(ticket), "the page is drawn again before the browser has asked"
    assert ticket not in build_keeping_script(code)
    assert tickets.redeem(code[:-1]) == ""
    assert tickets.redeem(code) == ticket
    assert tickets.redeem(code) == ""
    assert tickets.offer(ticket) == "", "the browser has it"
    assert tickets.client(ticket) is SOMEBODY


def test_no_code_leads_to_a_ticket_that_opens_nothing() -> None:
    now = [0.0]
    tickets = Tickets(lambda: now[0])
    late, withdrawn = tickets.issue(SOMEBODY), tickets.issue(SOMEBODY)
    first, second = tickets.offer(late), tickets.offer(withdrawn)
    tickets.withdraw(withdrawn)
    assert (tickets.redeem(second), tickets.offer(withdrawn), tickets.offer("never issued")) == ("", "", "")
    now[0] = 61.0
    assert tickets.redeem(first) == ""
    assert tickets.redeem(tickets.offer(late)) == late, "a new code is given where the browser did not come in time"
