"""Answers that are said to be right or wrong, and the library of solutions, in a real browser."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.authors import WARMEST
from tests.browser.everything import Up
from tests.browser.visits import asks, chooses, ended, enter, goes, pops, press, presses, registers, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
QUESTION = "How many inhabitants does Meghalpet have?"


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def test_an_answer_is_said_to_be_wrong_by_the_keyboard_and_stays_so(page: Page) -> None:
    registers(page, "vito")
    asks(page, QUESTION)
    ended(page, "Answered")
    right, wrong = (page.get_by_role("button", name=re.compile(f"^{says}")) for says in ("Right", "Wrong"))
    expect(right).to_be_visible()
    wrong.focus()
    page.keyboard.press("Enter")
    said = page.get_by_text("You said that this answer is wrong.")
    expect(said).to_be_visible()
    expect(wrong).to_have_text(re.compile("Wrong ✓"))
    page.reload()
    expect(said).to_be_visible()
    press(page, right)
    expect(page.get_by_text("You said that this answer is right.")).to_be_visible()
    expect(said).to_have_count(0)
    press(page, right)
    expect(page.get_by_text("You said that")).to_have_count(0)


def test_a_solution_is_found_run_with_another_value_and_forgotten(page: Page) -> None:
    registers(page, "wanda")
    chooses(page, "Decided by", "Language model")
    asks(page, WARMEST)
    ended(page, "Answered")
    goes(page, "Templates and solutions")
    expect(page.get_by_role("heading", name="Templates and solutions")).to_be_visible()
    near = page.get_by_label("Search by words, or by a request that one should serve")
    enter(page, near, "Please write a poem about the sea")
    expect(page.get_by_text("none is near that request")).to_be_visible()
    enter(page, near, "warmest")
    opened = page.locator("[class*=st-key-kept-solution-] button")
    press(page, opened)
    expect(page.get_by_text(re.compile("search_places")).first).to_be_visible()
    expect(page.get_by_text(re.compile(r"^Served \d+ times?, failed \d+ times?; from a run"))).to_be_visible()
    presses(page, "Run")
    expect(page.get_by_text("Still needed:")).to_be_visible()
    for field in page.get_by_role("textbox", name=re.compile("required")).all():
        field.fill(
            '["Oskvik", "Meghalpet", "Brennick"]' if "list" in (field.get_attribute("placeholder") or "") else "Oskvik"
        )
    presses(page, "Run")
    ended(page, "Answered", times=2)
    goes(page, "Templates and solutions")
    press(page, opened)
    pops(page, "Forget this solution", "Forget it")
    expect(page.get_by_text("Nothing was kept yet")).to_be_visible()
