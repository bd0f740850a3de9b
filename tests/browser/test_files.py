"""A file that is given with a question, in a real browser: refused where it is broken, seen before it is asked about, a name of the program."""

import re
from collections.abc import Generator
from contextlib import suppress

import pytest
from playwright.sync_api import BrowserContext, FilePayload, Page, expect

from tests.browser.authors import INHABITANTS
from tests.browser.everything import Up
from tests.browser.visits import PATIENCE, asks, chooses, drawn, ended, press, presses, registers, story, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"], width=390) as page:
        yield page


def gives(page: Page, name: str, content: bytes) -> None:
    """By the clip in the line, without a question yet."""
    given = FilePayload(name=name, mimeType="text/csv", buffer=content)
    shown = page.get_by_test_id("stChatInput").get_by_text(name)
    for _ in range(4):  # a line that is drawn anew meanwhile drops the file
        drawn(page)
        page.locator('[data-testid="stChatInput"] input[type="file"]').set_input_files(given)
        with suppress(AssertionError):
            expect(shown).to_be_visible(timeout=PATIENCE / 4)
            break
    expect(shown).to_be_visible()
    press(page, page.get_by_test_id("stChatInputSubmitButton"))


def test_a_csv_is_given_seen_taken_back_and_asked_about(page: Page) -> None:
    registers(page, "iris")
    gives(page, "towns.csv", b"city,nights\nOskvik,2\nVelmora,3,4\n")
    expect(page.get_by_text("towns.csv: line 3 has 3 values, and there are 2 columns")).to_be_visible()
    gives(page, "towns.csv", b"city,nights\nOskvik,2\nVelmora,3\n")
    expect(page.get_by_text("choose it in the side bar")).to_be_visible()
    presses(page, "towns.csv, 2 rows")
    expect(page.get_by_role("cell", name="Velmora")).to_be_visible()
    page.keyboard.press("Escape")
    presses(page, "Remove towns.csv")
    expect(page.get_by_role("button", name="towns.csv, 2 rows")).to_have_count(0)

    page.set_viewport_size({"width": 1280, "height": 900})
    chooses(page, "Decided by", "A language model")
    gives(page, "towns.csv", b"city,nights\nOskvik,2\nVelmora,3\n")
    expect(page.get_by_role("button", name="towns.csv, 2 rows")).to_be_visible()
    asks(page, INHABITANTS)
    ended(page, "Answered")
    expect(page.get_by_role("row", name=re.compile("^Velmora [0-9][0-9,]+"))).to_be_visible()
    expect(page.get_by_role("button", name="towns.csv, 2 rows")).to_have_count(1)
    told = story(page, re.compile("^Answered in"))
    expect(told.locator(".fp-done")).not_to_have_count(0)
    page.reload()
    presses(page, "towns.csv, 2 rows")
    expect(page.get_by_role("cell", name="nights")).to_be_visible()
