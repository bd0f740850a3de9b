"""The tool graph in a real browser: from afar to a tool, to an edge in full, on to a neighbour by keyboard, and back."""

from collections.abc import Generator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.visits import drawn, goes, presses, registers, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who has just made an account."""
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "walker")
        yield page


def test_one_goes_through_the_graph_and_back(page: Page) -> None:
    goes(page, "Tool graph")
    graph = page.locator(".footpath-graph")
    expect(graph.get_by_role("button", name="Tool set Atlas Places of Location")).to_be_visible()
    search = page.get_by_label("Begin with a tool")
    search.fill("convert an amount of money into another currency")
    search.press("Enter")
    presses(page, "convert_currency")
    expect(page.get_by_role("heading", name="Open Rates / convert_currency")).to_be_visible()
    centre = graph.get_by_role("button", name="Open Rates / convert_currency")
    expect(centre).to_be_visible()

    drawn(page)
    graph.locator(".edge:not(.feed) .reach").first.dispatch_event("click")
    edge = page.locator('[class*="st-key-chosen-edge"]')
    expect(edge.get_by_text("ways out of").first).to_be_visible()
    expect(edge.get_by_text("× availability")).to_be_visible()

    drawn(page)
    centre.focus()
    page.keyboard.press("ArrowLeft")
    chosen = page.evaluate("document.activeElement.getAttribute('aria-label')").split(".")[0]
    assert chosen != "Open Rates / convert_currency"
    page.keyboard.press("Enter")
    presses(page, "Centre on it")
    expect(page.get_by_role("heading", name=chosen, exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name=chosen, exact=True)).to_be_visible()
    presses(page, "Back to Open Rates / convert_currency")
    expect(centre).to_be_visible()
    drawn(page)
