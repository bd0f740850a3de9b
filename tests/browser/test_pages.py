"""Every page as an administrator has it: by day and by night, wide and narrow, without what keeps somebody out."""

from collections.abc import Generator
from itertools import count

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.looks import in_all_lights, settled
from tests.browser.visits import asks, ended, logs_in, press, visit
from ui.screens.views import VIEWS

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)


@pytest.fixture(scope="module")
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """An administrator, who has asked something."""
    name = f"looker{next(_NUMBERS)}"
    up.account(name, "admin")
    with visit(browser_program, up.addresses["page"]) as page:
        logs_in(page, name)
        expect(page.get_by_placeholder("Ask something")).to_be_visible()
        asks(page, "Convert 250 VDK into the currency of Marovia.")
        ended(page, "Answered")
        yield page


def test_before_one_is_in(browser_program: BrowserContext, up: Up) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        in_all_lights(page, "log-in")


def test_an_answer(page: Page) -> None:
    in_all_lights(page, "answer")
    press(page, page.get_by_role("button", name="New conversation"))
    expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
    in_all_lights(page, "first-screen")


@pytest.mark.parametrize("view", VIEWS)
def test_a_view(view: str, page: Page, up: Up) -> None:
    conversation = page.url.partition("conversation=")[2].partition("&")[0]
    page.goto(f"{up.addresses['page']}/?conversation={conversation}&view={view}")
    expect(page.locator("h1")).to_be_visible()
    settled(page)
    in_all_lights(page, view)
