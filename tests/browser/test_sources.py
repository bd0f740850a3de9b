"""APIs that an author adds, in a real browser: read, gated, admitted, and used by somebody else with the next question."""

import re
from collections.abc import Generator
from itertools import count

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.authors import BERTH
from tests.browser.everything import Up
from tests.browser.harbour import KEY, Harbour, harbour_in_thread
from tests.browser.visits import PATIENCE, asks, chooses, drawn, ended, logs_in, presses, registers, sidebar, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)


@pytest.fixture
def harbour() -> Generator[Harbour]:
    """A port whose API nobody has added."""
    with harbour_in_thread() as running:
        yield running


def enters(page: Page, up: Up, name: str, role: str = "author") -> None:
    """Log in with a new account of that role."""
    logs_in(page, up.account(f"{name}{next(_NUMBERS)}", role))
    expect(page.get_by_placeholder("Ask something")).to_be_visible()


def goes(page: Page, view: str) -> None:
    """To another view, by the side bar."""
    drawn(page)
    sidebar(page).get_by_role("button", name=view, exact=True).click()
    expect(page.get_by_role("heading", name=view, exact=True)).to_be_visible()


def fills(page: Page, label: str, text: str) -> None:
    """Type into a field, and leave it: the page is drawn anew then."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Tab")
    drawn(page)


def part(page: Page, name: str) -> None:
    """Another part of a source's page."""
    drawn(page)
    page.get_by_test_id("stButtonGroup").get_by_text(name, exact=True).click()
    drawn(page)


def adds(page: Page, name: str, address: str) -> None:
    """An API by the address of its document, one key of which serves all; its page is seen afterwards."""
    goes(page, "Sources")
    presses(page, "Add an API")
    fills(page, "Name", name)
    fills(page, "Address of its OpenAPI or Swagger document", address)
    page.get_by_text("Those kept with the source, for all its users").click()
    presses(page, "Add it")
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def keeps(page: Page, value: str) -> None:
    """A key under the name and for the hosts that stand there."""
    fills(page, "Its value", value)
    presses(page, "Keep it")
    expect(page.get_by_text(re.compile("· kept 20"))).to_be_visible()


def says(page: Page, tool: str, check: str, verdict: str | re.Pattern[str]) -> None:
    """Wait until the table says so of a tool's check."""
    row = page.locator(".fp-gate tbody tr", has=page.locator("th", has_text=re.compile(f"^{tool}$")))
    told = row.locator("td .fp-said", has_text=re.compile(f"^{check}: "))
    wanted = verdict if isinstance(verdict, re.Pattern) else f"{check}: {verdict}"
    expect(told).to_have_text(wanted)


def test_an_api_is_added_gated_and_used_by_another_user(browser_program: Browser, up: Up, harbour: Harbour) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "berta")
        adds(page, "Harbour", f"{harbour.address}/openapi.json")
        expect(page.get_by_text("Its calls send a key that you have not kept")).to_be_visible()
        part(page, "Keys")
        keeps(page, KEY)
        part(page, "Tools")
        presses(page, "Check all 6 tools")
        says(page, "list_berths", "Live call", "passed")
        expect(page.get_by_text("The gate is at work")).to_have_count(0)
        says(page, "find_ship", "Live call", "not done")
        says(page, "cancel_booking", "Live call", "not done")
        says(page, "berth_occupancy", "Live call", "passed with a warning")
        chooses(page, "Tool", re.compile("^find_ship"))
        page.get_by_text("Check it with values of your own").click()
        fills(page, "name (required)", "Aurora")
        presses(page, "Check it")
        says(page, "find_ship", "Live call", "passed")
        expect(page.get_by_text("The gate is at work")).to_have_count(0)
        presses(page, "Admit 6 tools that passed")
        expect(page.get_by_text("6 admitted").first).to_be_visible()
        assert (harbour.calls > 2, harbour.bookings, harbour.cancelled) == (True, {}, [])
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "carlo")
        chooses(page, "Decided by", "A language model")
        asks(page, BERTH)
        expect(page.get_by_text("needs your leave")).to_be_visible(timeout=3 * PATIENCE)
        assert harbour.bookings == {}
        presses(page, "Allow once")
        ended(page, "Answered")
        expect(page.get_by_text("The Aurora lies at berth 2, booking KB-0001.")).to_be_visible()
        assert [(one.imo, one.berth, one.stay.nights) for one in harbour.bookings.values()] == [(9074729, 2, 2)]
