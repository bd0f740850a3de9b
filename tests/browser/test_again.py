"""Runs once more, in a real browser: the same, with other values, and as a template."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.test_leave import asked, made, task
from tests.browser.visits import asks, ended, fill_in, goes, pops, press, presses, registers, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
QUESTION = "How many inhabitants does Meghalpet have?"
MEGHALPET, VISHALPUR, MONTEQUILLA = "278,640", "313,768", "497,988"


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def fills(page: Page, name: str, value: str) -> None:
    """Type a value into a field of a form."""
    fill_in(page, page.get_by_role("textbox", name=name, exact=True), value)


def test_a_run_is_made_again_and_with_other_values(page: Page) -> None:
    registers(page, "quin")
    asks(page, QUESTION)
    ended(page, "Answered")
    presses(page, "Run again")
    ended(page, "Answered", times=2)
    expect(page.get_by_text(MEGHALPET)).to_have_count(2)
    changes = page.get_by_role("button", name="Run again with changes")
    expect(changes).to_have_count(2)
    press(page, changes.last)
    fills(page, "city", "Vishalpur")
    presses(page, "Run it")
    ended(page, "Answered", times=3)
    expect(page.get_by_text(VISHALPUR)).to_be_visible()
    expect(page.get_by_text("The calls of an earlier run with these values: city: Vishalpur")).to_be_visible()


def test_a_run_is_kept_as_a_template_and_run_with_another_value(page: Page) -> None:
    registers(page, "rosa")
    asks(page, QUESTION)
    ended(page, "Answered")
    presses(page, "Save as template")
    fills(page, "Name of the template", "Inhabitants of a city")
    presses(page, "Save")
    expect(page.get_by_text("Saved; it is under Templates and solutions.")).to_be_visible()
    goes(page, "Templates and solutions")
    presses(page, "Inhabitants of a city")
    expect(page.get_by_role("textbox", name="city", exact=True)).to_have_value("Meghalpet")
    fills(page, "city", "Montequilla")
    presses(page, "Run")
    ended(page, "Answered", times=2)
    expect(page.get_by_text("How many inhabitants does Montequilla have?")).to_be_visible()
    expect(page.get_by_text(MONTEQUILLA)).to_be_visible()
    expect(page.get_by_text("from a template, version 1")).to_be_visible()
    goes(page, "Templates and solutions")
    expect(page.get_by_text(re.compile("^template · yours · served 1 of 1 times · last used"))).to_be_visible()
    presses(page, "Inhabitants of a city")
    pops(page, "Delete this template", "Delete it")
    expect(page.get_by_role("heading", name="Templates and solutions")).to_be_visible()
    expect(page.get_by_role("button", name="Inhabitants of a city", exact=True)).to_have_count(0)


def test_a_template_that_changes_something_asks_for_its_values_and_for_leave(page: Page, up: Up) -> None:
    registers(page, "sven")
    asks(page, task("Prune the roses"))
    asked(page)
    presses(page, "Allow once")
    ended(page, "Answered")
    presses(page, "Save as template")
    fills(page, "Name of the template", "A task")
    presses(page, "Save")
    expect(page.get_by_text("Saved; it is under Templates and solutions.")).to_be_visible()
    goes(page, "Templates and solutions")
    presses(page, "A task")
    presses(page, "Run")
    expect(page.get_by_text("Still needed: ")).to_be_visible()
    fills(page, "title (required)", "Prune the vines")
    fills(page, "due_date (required)", "2026-08-01")
    presses(page, "Run")
    asked(page)
    assert made(up, "Prune the vines") == 0
    presses(page, "Allow once")
    ended(page, "Answered", times=2)
    assert (made(up, "Prune the roses"), made(up, "Prune the vines")) == (1, 1)
