"""Somebody who visits the page: what a person does there, in few words."""

import re
import shutil
from collections.abc import Generator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Dialog, Locator, Page, expect, sync_playwright
from playwright.sync_api import TimeoutError as TooLate

from tests.browser.everything import PASSWORD

PATIENCE = 40_000
_NUMBERS = count(1)
_FLAGS = [
    "--no-sandbox",
    # Debian's program asks for drawing by a GPU; where there is none, one is computed, which takes longer than all the page does.
    "--disable-gpu",
    "--disable-gpu-rasterization",
    "--disable-software-rasterizer",
    "--disable-extensions",
    # One process draws what comes from several hosts; there are none here whom the page should be kept from.
    "--disable-site-isolation-trials",
    "--force-prefers-reduced-motion",
]
"""With these the browser computes a third less for the same page."""


def chromium(request: pytest.FixtureRequest) -> str:
    """Where Debian's is; without one a skip, or a failure where it is required."""
    if program := shutil.which("chromium"):
        return program
    why = "chromium is not on the PATH: apt-get install chromium"
    if "chromium" in (request.config.getoption("require") or []):
        pytest.fail(f"--require=chromium: {why}", pytrace=False)
    pytest.skip(f"not tested in a real browser: {why}")


@contextmanager
def browsing(program: str, folder: Path) -> Generator[BrowserContext]:
    """A browser with its files in ``folder``, for one visit after the other. As long as it is open, its driver's event loop runs in this thread, and no
    other can.
    """
    with sync_playwright() as playwright:
        expect.set_options(timeout=PATIENCE)
        browser = playwright.chromium.launch_persistent_context(folder, executable_path=program, args=_FLAGS)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def visit(browser: BrowserContext, address: str, width: int = 1280) -> Generator[Page]:
    """The page, opened by somebody whom nobody knows. A dialog, which only a script of a stranger's would open, fails the test."""
    page = browser.new_page()
    page.set_viewport_size({"width": width, "height": 900})
    page.set_default_timeout(PATIENCE)
    kept = {"origin": address, "storageTypes": "cookies,local_storage,indexeddb"}
    browser.new_cdp_session(page).send("Storage.clearDataForOrigin", kept)  # pyright: ignore[reportUnknownMemberType]
    dialogs: list[str] = []

    def told(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", told)
    page.goto(address)
    try:
        yield page
    finally:
        for one in browser.pages[1:]:  # the first is nobody's: without one the browser would end
            one.close()
    assert not dialogs


def registers(page: Page, name: str) -> str:
    """Make an account; one is logged in afterwards. Gives its whole name, a new one each time: a test may be run once more."""
    name = f"{name}{next(_NUMBERS)}"
    page.get_by_role("tab", name="Register").click()
    form = page.get_by_role("tabpanel", name="Register")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Password", exact=True).fill(PASSWORD)
    form.get_by_role("button", name="Make an account").click()
    expect(page.get_by_placeholder("Ask something")).to_be_visible()
    return name


def logs_in(page: Page, name: str, password: str = PASSWORD) -> None:
    """Try to."""
    form = page.get_by_role("tabpanel", name="Log in")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Password", exact=True).fill(password)
    form.get_by_role("button", name="Log in").click()


def asks(page: Page, request: str) -> None:
    """Send a question."""
    box = page.get_by_placeholder("Ask something")
    box.fill(request)
    box.press("Enter")


def picks(page: Page, label: str, option: str) -> None:
    """Choose from a list. It closes where the page is scrolled under it, as when something has just been unfolded: then once more."""
    wanted = page.get_by_role("option", name=option)
    for _ in range(5):
        page.get_by_label(label, exact=True).click()
        with suppress(TooLate):
            wanted.click(timeout=PATIENCE / 10)
            return
    pytest.fail(f"{label}: {option} is not to be had")


def drawn(page: Page) -> None:
    """Wait until the page is drawn: what has come to stand elsewhere is there twice meanwhile."""
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def presses(page: Page, label: str) -> None:
    """Press a button when the page is drawn."""
    drawn(page)
    page.get_by_role("button", name=label, exact=True).click()


def only(page: Page, label: str) -> Locator:
    """A button as the page has it last: of two that stand there while it is drawn anew, the one that stays. A test looks at it for as long as it must."""
    return (
        page.locator('[data-testid="stElementContainer"][data-stale="false"]')
        .get_by_role("button", name=label, exact=True)
        .last
    )


def ended(page: Page, how: str, times: int = 1) -> None:
    """Wait until that many runs of the conversation have ended so, and no run is drawn that goes on."""
    expect(page.get_by_text(re.compile(rf"^{how} in [0-9.]+ s"))).to_have_count(times)
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)


def sidebar(page: Page) -> Locator:
    """Where conversations are listed."""
    return page.get_by_test_id("stSidebar")


def goes(page: Page, view: str) -> None:
    """To another view, by the side bar: its group is unfolded first where it is not."""
    drawn(page)
    button = page.locator("button").filter(has_text=re.compile(f"{re.escape(view)}$"))
    listed = sidebar(page).locator(".st-key-places").locator(button)
    group = sidebar(page).locator(".st-key-places details").filter(has=button)
    if group.count() and not listed.is_visible():
        group.locator("summary").click()
    listed.click()


def converses(page: Page) -> None:
    """To the conversation. Under a click the side bar may be drawn anew, by what the server tells meanwhile: then it is pressed once more."""
    box = page.get_by_placeholder("Ask something")
    for _ in range(4):
        goes(page, "Conversation")
        with suppress(AssertionError):
            expect(box).to_be_visible(timeout=PATIENCE / 4)
            return
    raise AssertionError("the conversation does not come")


def chooses(page: Page, label: str, option: str | re.Pattern[str]) -> None:
    """Take one of a list. What the server tells meanwhile may draw the page anew, which closes the list: then it is opened again."""
    wanted = page.get_by_role("option", name=option)
    for _ in range(8):
        page.get_by_label(label).click()
        with suppress(TooLate):
            wanted.click(timeout=PATIENCE / 8)
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"{label} offers no {option}")


def pops(page: Page, label: str, inside: str) -> None:
    """Press a button of what another one opens. A page that is drawn anew meanwhile closes it: then it is opened again."""
    for _ in range(8):
        presses(page, label)
        with suppress(TooLate):
            page.get_by_role("button", name=inside, exact=True).click(timeout=PATIENCE / 8)
            return
        page.keyboard.press("Escape")
    raise AssertionError(f"{label} opens nothing that holds {inside}")


def story(page: Page, title: str | re.Pattern[str]) -> Locator:
    """Unfold what has this title, and what it then holds."""
    head = page.get_by_text(title, exact=True) if isinstance(title, str) else page.get_by_text(title)
    unfolded(page, head)
    return page.get_by_test_id("stExpander").filter(has=head).last


def unfolded(page: Page, head: Locator) -> None:
    """Click on it until it is open: a page that is drawn anew meanwhile folds it up again."""
    expect(head).to_have_count(1)
    is_open = page.locator("details[open] > summary").filter(has=head)
    for _ in range(8):
        if not is_open.count():
            head.click()
        with suppress(AssertionError):
            expect(is_open).to_have_count(1, timeout=PATIENCE / 8)
            page.wait_for_timeout(300)  # what draws the page anew does so at once
            if is_open.count():
                return
    raise AssertionError(f"{head} stays folded up")


def unfolds(page: Page, title: str) -> None:
    """Open what is folded up, once the page has drawn it anew and not the old one beside it."""
    unfolded(page, page.get_by_text(title, exact=True))
