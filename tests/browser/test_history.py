"""The history in a real browser: runs are found, looked at, gone through step by step, compared and saved."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.visits import asks, drawn, ended, enter, goes, press, presses, registers, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
CALDERA, NORVANIA = (
    "Which public holidays does Caldera have in 2026?",
    "Which public holidays does Norvania have in 2025?",
)


def row(page: Page, request: str) -> None:
    press(page, page.locator(".st-key-past-runs").get_by_role("button", name=request, exact=True))


def test_runs_are_found_replayed_compared_and_saved(browser_program: BrowserContext, up: Up) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "iris")
        asks(page, CALDERA)
        ended(page, "Answered")
        old_address = page.url + "&view=history"
        presses(page, "New conversation")
        expect(page.get_by_role("heading", name="What would you like to know?")).to_be_visible()
        asks(page, NORVANIA)
        ended(page, "Answered")

        goes(page, "History")
        expect(page.get_by_text(re.compile("^2 runs, "))).to_be_visible()
        words = page.get_by_label("Words in what was asked or answered")
        enter(page, words, "NORVANIA")
        expect(page.get_by_text(re.compile("^1 run, "))).to_be_visible()
        _saved(page)
        row(page, NORVANIA)
        expect(page.get_by_text(re.compile("^✓ Program( [0-9])?: answered"))).to_be_visible()
        _step_by_step(page)
        _compared(page)
        page.set_viewport_size({"width": 390, "height": 900})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

        page.goto(old_address)
        expect(page.get_by_text(re.compile("^1 run, "))).to_be_visible()
        row(page, CALDERA)
        presses(page, "Open its conversation")
        ended(page, "Answered")
        page.goto(re.sub("run=[^&]*", "", old_address) + "&run=00000000-0000-0000-0000-000000000000")
        expect(page.get_by_text("You have no such run")).to_be_visible()


def _saved(page: Page) -> None:
    presses(page, "Save the list")
    with page.expect_download() as download:
        page.get_by_role("button", name="A line of JSON for each").click()
    (line,) = Path(download.value.path()).read_text().splitlines()
    assert (json.loads(line)["request"], json.loads(line)["outcome"]) == (NORVANIA, "answered")
    page.keyboard.press("Escape")


def _step_by_step(page: Page) -> None:
    drawn(page)
    page.get_by_role("radio", name="Step by step").click()
    expect(page.get_by_text(re.compile("^Event 1 of .*: The run began$"))).to_be_visible()
    slider = page.get_by_role("slider", name="Event")
    slider.press("ArrowRight")
    expect(page.get_by_text(re.compile("^Event 2 of "))).to_be_visible()
    slider.press("End")
    expect(page.get_by_text(re.compile("^Event .*: The run has ended: Answered$"))).to_be_visible()


def _compared(page: Page) -> None:
    presses(page, "Compare with …")
    words = page.get_by_label("Words in what was asked or answered")
    enter(page, words, "")
    row(page, CALDERA)
    expect(page.get_by_role("heading", name="Two runs compared")).to_be_visible()
    expect(page.get_by_text(re.compile("given other values"))).to_be_visible()
    assert "with=" in page.url
