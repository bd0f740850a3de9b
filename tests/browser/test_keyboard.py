"""Somebody who has no mouse: logs in, asks, allows a change, reads how it came about, says that it was right, goes elsewhere and leaves."""

from itertools import count

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import PASSWORD, Up
from tests.browser.visits import drawn, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)
_FARTHEST = 80
_LINES = 3
"""Of one button: the names of its icons, and its own."""
_NAMED = """() => {
    const at = document.activeElement;
    const labelled = at.getAttribute('aria-label') ?? at.labels?.[0]?.innerText ?? at.placeholder;
    return (labelled || at.innerText || '').trim();
}"""


def test_everything_by_keys(browser_program: BrowserContext, up: Up) -> None:
    name = up.account(f"keys{next(_NUMBERS)}", "user")
    with visit(browser_program, up.addresses["page"]) as page:
        expect(page.get_by_role("button", name="Log in")).to_be_visible()
        _to(page, "Name")
        page.keyboard.type(name)
        _to(page, "Password")
        page.keyboard.type(PASSWORD)
        page.keyboard.press("Enter")
        expect(page.get_by_placeholder("Ask something")).to_be_visible()

        _pressed(page, 'Put "Water the lemon tree"')
        _pressed(page, "Allow once")
        expect(page.get_by_role("button", name="Right", exact=True)).to_be_visible()
        _pressed(page, "Right")
        expect(page.get_by_role("button", name="Right ✓")).to_be_visible()

        _pressed(page, "Tools")
        expect(page.get_by_role("heading", name="Tools", level=1)).to_be_visible()
        _pressed(page, "Log out")
        expect(page.get_by_role("button", name="Log in")).to_be_visible()


def _pressed(page: Page, name: str) -> None:
    expect(page.get_by_role("button", name=name).last).to_be_visible()
    _to(page, name)
    page.keyboard.press("Enter")


def _to(page: Page, name: str) -> None:
    """By Tab to what is called so; what is in focus can be seen to be."""
    drawn(page)
    passed: list[str] = []
    for _ in range(_FARTHEST):
        page.keyboard.press("Tab")
        passed.append(page.evaluate(_NAMED))
        lines = [line for line in passed[-1].splitlines() if line]
        if len(lines) <= _LINES and any(line.startswith(name) for line in lines):
            return
    pytest.fail(f"no {name} by Tab, but {passed}")
