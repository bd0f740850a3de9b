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
    """An API by the address of its document; its page is seen afterwards."""
    goes(page, "Sources")
    presses(page, "Add an API")
    fills(page, "Name", name)
    fills(page, "Address of its OpenAPI or Swagger document", address)
    presses(page, "Add it")
    expect(page.get_by_role("heading", name=name, exact=True)).to_be_visible()


def checks(page: Page, button: str | re.Pattern[str]) -> None:
    """Have the gate look, and wait until it has."""
    drawn(page)
    page.get_by_role("button", name=button).click()
    expect(page.get_by_text("The gate is at work")).to_have_count(0)
    expect(page.get_by_text("The gate has not looked at it yet.")).to_have_count(0)
    drawn(page)


def keeps(page: Page, value: str) -> None:
    """A key under the name and for the hosts that stand there."""
    fills(page, "Its value", value)
    presses(page, "Keep it")
    expect(page.get_by_text(re.compile("· kept 20"))).to_be_visible()


def cell(page: Page, tool: str, check: str) -> str:
    """What the table says of a tool's check."""
    found = page.locator(".fp-gate tbody tr", has=page.locator("th", has_text=re.compile(f"^{tool}$")))
    told = found.locator(f"td[title^='{check}: ']")
    return (told.get_attribute("title") or "").removeprefix(f"{check}: ")


def test_an_api_is_added_gated_and_used_by_another_user(browser_program: Browser, up: Up, harbour: Harbour) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        enters(page, up, "berta")
        adds(page, "Harbour", f"{harbour.address}/openapi.json")
        expect(page.get_by_text("Its calls send a key that you have not kept")).to_be_visible()
        part(page, "Keys")
        keeps(page, KEY)
        part(page, "Tools")
        checks(page, "Check all 6 tools")
        assert cell(page, "list_berths", "Live call") == "passed"
        assert cell(page, "find_ship", "Live call") == "not done"
        assert cell(page, "cancel_booking", "Live call") == "not done"
        assert harbour.calls == 1
        chooses(page, "Tool", re.compile("^find_ship"))
        page.get_by_text("Check it with values of your own").click()
        fills(page, "name (required)", "Aurora")
        checks(page, re.compile("^Check it$"))
        assert cell(page, "find_ship", "Live call") == "passed"
        presses(page, "Admit 6 tools that passed")
        expect(page.get_by_text("6 admitted").first).to_be_visible()
        assert (harbour.calls, harbour.bookings) == (2, {})
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "carlo")
        goes(page, "Keys")
        keeps(page, KEY)
        goes_to_ask(page)
        chooses(page, "Decided by", "A language model")
        asks(page, BERTH)
        expect(page.get_by_text("needs your leave")).to_be_visible(timeout=3 * PATIENCE)
        assert harbour.bookings == {}
        presses(page, "Allow once")
        ended(page, "Answered")
        expect(page.get_by_text("The Aurora lies at berth 2, booking KB-0001.")).to_be_visible()
        assert [(one.imo, one.berth, one.stay.nights) for one in harbour.bookings.values()] == [(9074729, 2, 2)]


def goes_to_ask(page: Page) -> None:
    """Back to where one asks."""
    drawn(page)
    sidebar(page).get_by_role("button", name="Conversation", exact=True).click()
    expect(page.get_by_placeholder("Ask something")).to_be_visible()
