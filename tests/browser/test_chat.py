"""The chat page in a real browser: chromium on all of Footpath."""

import shutil
from collections.abc import Generator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from tests.browser.everything import everything

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_PATIENCE = 40_000
QUESTION = "Which public holidays does Caldera have in 2026?"
ANSWERED = "holiday: New Year's Day"  # only the answer puts it so: the response beside it is JSON


@pytest.fixture
def chromium_page(request: pytest.FixtureRequest, tmp_path: Path) -> Generator[Page]:
    """The page, opened by somebody whom nobody knows."""
    if not (program := shutil.which("chromium")):
        why = "chromium is not on the PATH: apt-get install chromium"
        if "chromium" in (request.config.getoption("require") or []):
            pytest.fail(f"--require=chromium: {why}", pytrace=False)
        pytest.skip(f"chromium not tested in a real browser: {why}")
    with everything(tmp_path) as up, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(_PATIENCE)
        expect.set_options(timeout=_PATIENCE)
        page.goto(up.addresses["page"])
        yield page
        browser.close()


def test_register_ask_see_the_walk_reload_and_ask_again(chromium_page: Page) -> None:
    page = chromium_page
    _register(page, "ada")
    _ask(page, QUESTION)
    expect(page.get_by_text(ANSWERED)).to_be_visible()
    expect(page.locator("svg title", has_text="chosen").or_(page.locator(".node")).first).to_be_visible()
    assert page.locator(".node", has_text="get_public_holidays").count() >= 1

    page.reload()
    expect(page.get_by_text(ANSWERED)).to_be_visible()
    expect(page.get_by_text("Logged in as ada")).to_be_visible()

    _ask(page, "Which public holidays does Norvania have in 2025?")
    expect(page.get_by_text("Answered in")).to_have_count(2)
    page.get_by_role("button", name="Log out").click()
    expect(page.get_by_role("tab", name="Log in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name="Log in")).to_be_visible()


def _register(page: Page, name: str) -> None:
    page.get_by_role("tab", name="Register").click()
    form = page.get_by_role("tabpanel", name="Register")
    form.get_by_label("Name").fill(name)
    form.get_by_label("Password", exact=True).fill("correct horse battery")
    form.get_by_role("button", name="Make an account").click()


def _ask(page: Page, request: str) -> None:
    box = page.get_by_placeholder("Ask something")
    box.fill(request)
    box.press("Enter")
