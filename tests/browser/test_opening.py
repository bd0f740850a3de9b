"""Milliseconds until every page can be used, by a link in a tab that is open already and by a click in the side bar, each beside the first screen."""

from statistics import median
from time import perf_counter

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.visits import asks, ended, logs_in, sidebar, visit
from ui.screens.views import VIEWS

pytestmark = [pytest.mark.bench, pytest.mark.browser, pytest.mark.timeout(900)]
TIMES = 5


def test_every_page(browser_program: BrowserContext, up: Up, capsys: pytest.CaptureFixture[str]) -> None:
    up.account("hurried", "admin")
    with visit(browser_program, up.addresses["page"]) as page:
        logs_in(page, "hurried")
        asks(page, "Convert 250 VDK into the currency of Marovia.")
        ended(page, "Answered")
        conversation = page.url.partition("conversation=")[2].partition("&")[0]
        address = f"{up.addresses['page']}/?conversation={conversation}"
        first = _milliseconds(page, up.addresses["page"], "h1")
        rows = [
            ("first screen", first),
            ("conversation", _milliseconds(page, address, '[data-testid="stChatMessage"]')),
        ]
        rows += [(view, _milliseconds(page, f"{address}&view={view}", "h1")) for view in VIEWS]
        clicked = _milliseconds_by_click(page)
    with capsys.disabled():
        print()
        for name, taken in rows:
            print(f"{name:14} {taken:6.0f} ms, {taken / first:.2f} of the first screen")
        print(f"by a click     {clicked:6.0f} ms, {clicked / first:.2f} of the first screen (tools)")
    assert all(taken < 20 * first for _, taken in rows)


def _milliseconds(page: Page, address: str, shown: str) -> float:
    """From the address to a page that is drawn and takes what one does: the median."""

    def once() -> float:
        page.goto("about:blank")
        began = perf_counter()
        page.goto(address, wait_until="commit")
        _usable(page, shown)
        return (perf_counter() - began) * 1000

    return median(once() for _ in range(TIMES))


def _milliseconds_by_click(page: Page) -> float:
    def once() -> float:
        sidebar(page).get_by_role("button", name="New conversation").click()
        _usable(page, "h1")
        began = perf_counter()
        sidebar(page).get_by_role("button", name="Tools").click()
        expect(page.get_by_role("heading", name="Tools", level=1)).to_be_visible()
        _usable(page, "h1")
        return (perf_counter() - began) * 1000

    return median(once() for _ in range(TIMES))


def _usable(page: Page, shown: str) -> None:
    page.locator(shown).first.wait_for()
    page.locator('[data-testid="stApp"][data-test-script-state="notRunning"]').wait_for()
