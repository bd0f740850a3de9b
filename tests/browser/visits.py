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
from tests.browser.script_runs import follow_runs

PATIENCE = 80_000
"""Milliseconds: for a machine whose cores are all taken by others."""
_TRIES = 8
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
    follow_runs(page)
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
    """Make an account; one is logged in afterwards. Gives its whole name, a new one each time, as tests share the server."""
    name = f"{name}{next(_NUMBERS)}"
    drawn(page)
    page.get_by_role("tab", name="Register").click()
    form = page.get_by_role("tabpanel", name="Register")
    fill_in(page, form.get_by_label("Name"), name)
    fill_in(page, form.get_by_label("Password", exact=True), PASSWORD)
    press(page, form.get_by_role("button", name="Make an account"))
    expect(page.get_by_placeholder("Ask something")).to_be_visible()
    return name


def logs_in(page: Page, name: str, password: str = PASSWORD) -> None:
    """Try to."""
    form = page.get_by_role("tabpanel", name="Log in")
    fill_in(page, form.get_by_label("Name"), name)
    fill_in(page, form.get_by_label("Password", exact=True), password)
    press(page, form.get_by_role("button", name="Log in"))


def asks(page: Page, request: str) -> None:
    """Send a question."""
    enter(page, page.get_by_placeholder("Ask something"), request)


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
    assert follow_runs(page).wait_until_ended(PATIENCE / 1000), (
        "the run of the page that an action asked for has not ended"
    )
    expect(page.get_by_test_id("stApp")).to_have_attribute("data-test-script-state", "notRunning")


def press(page: Page, button: Locator) -> None:
    """Press a button when the page is drawn, until the page has sent the press, or has opened or closed what hangs at the button.

    A page that is drawn anew between the mouse's going down and up loses the press. What was sent is never pressed again.
    """
    for _ in range(_TRIES):
        if _try_to_press(page, button):
            return
    raise AssertionError(f"{button} was not pressed: the page sent nothing")


def _try_to_press(page: Page, button: Locator) -> bool:
    drawn(page)
    runs = follow_runs(page)
    sent, was_open = runs.actions, _expansions(button)
    with suppress(TooLate):
        button.click(timeout=PATIENCE / _TRIES)
    return runs.wait_for(lambda: runs.actions > sent or _expansions(button) != was_open, PATIENCE / 1000 / _TRIES)


def _expansions(button: Locator) -> list[str]:
    """Whether what hangs at a button is open, if anything does; does not wait for the button."""
    script = "all => all.map(one => one.getAttribute('aria-expanded')).filter(one => one !== null)"
    return button.evaluate_all(script)


def fill_in(page: Page, field: Locator, text: str) -> None:
    """Type into a field and leave it, until the page is drawn anew with what was typed."""
    for _ in range(_TRIES):
        drawn(page)
        field.fill(text)
        field.press("Tab")
        drawn(page)
        if field.input_value() == text:
            return
    raise AssertionError(f"{field} does not keep what is typed")


def enter(page: Page, field: Locator, text: str) -> None:
    """Type into a field and press Enter, until the page has sent it."""
    for _ in range(_TRIES):
        if _try_to_enter(page, field, text):
            return
    raise AssertionError(f"what was typed into {field} was not sent")


def _try_to_enter(page: Page, field: Locator, text: str) -> bool:
    drawn(page)
    runs = follow_runs(page)
    sent = runs.actions
    field.fill(text)
    field.press("Enter")
    return runs.wait_for(lambda: runs.actions > sent, PATIENCE / 1000 / _TRIES)


def presses(page: Page, label: str) -> None:
    """Press the button of that label."""
    press(page, page.get_by_role("button", name=label, exact=True))


def fills(page: Page, label: str, text: str) -> None:
    """Fill in the field of that label."""
    fill_in(page, page.get_by_label(label, exact=True), text)


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
        drawn(page)
    press(page, listed)


def converses(page: Page) -> None:
    """To the conversation."""
    goes(page, "Conversation")
    expect(page.get_by_placeholder("Ask something")).to_be_visible()


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
