"""The tool library in a real browser: a tool is found, opened, tried, and a way from it banned with a reason."""

import re
from collections.abc import Generator
from itertools import count

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.visits import chooses, drawn, goes, logs_in, presses, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
REASON = "Its rates are of last year."
_NUMBERS = count(1)


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """An administrator, who is logged in."""
    name = f"boss{next(_NUMBERS)}"
    up.account(name, "admin")
    with visit(browser_program, up.addresses["page"]) as page:
        logs_in(page, name)
        expect(page.get_by_placeholder("Ask something")).to_be_visible()
        yield page


def test_a_tool_is_found_tried_and_a_way_from_it_banned_with_a_reason(page: Page) -> None:
    goes(page, "Tools")
    expect(page.get_by_text(re.compile(r"^\d+ tools$"))).to_be_visible()
    search = page.get_by_label("What should a tool do?")
    search.fill("convert an amount of money into another currency")
    search.press("Enter")
    expect(page.get_by_text(re.compile(r"^score 0\.\d\d: meaning")).first).to_be_visible()
    presses(page, "convert_currency")
    heading = page.get_by_role("heading", name="convert_currency")
    expect(heading).to_be_visible()
    expect(page.get_by_role("cell", name="from_currency")).to_be_visible()
    page.reload()
    expect(heading).to_be_visible()

    presses(page, "Try it")
    for name, value in (("from_currency", "VDK"), ("to_currency", "MRV"), ("amount", "250")):
        page.get_by_role("textbox", name=f"{name} (required)").fill(value)
    presses(page, "Call it")
    expect(page.get_by_text(re.compile(r"^It answered with 200 in"))).to_be_visible()
    expect(page.get_by_role("heading", name="What you tried")).to_be_visible()

    presses(page, "Marks")
    chooses(page, "What is said of it", re.compile("^Ban"))
    page.get_by_label("Why").fill(REASON)
    presses(page, "Mark it")
    expect(page.get_by_text(re.compile(rf"boss\d+: ban .*: {re.escape(REASON)}$"))).to_be_visible()
    presses(page, "Neighbours")
    expect(page.get_by_role("cell", name="banned", exact=True)).to_be_visible()
    expect(page.get_by_test_id("stGraphVizChart").locator("svg")).to_be_visible()
    drawn(page)
