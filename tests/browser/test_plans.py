"""Developer mode in a real browser: a run stops at its plan, which is changed, tried out and approved."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.everything import Up
from tests.browser.test_leave import made, task
from tests.browser.visits import asks, ended, picks, presses, registers, story, unfolds, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
QUESTION = "Which public holidays does Caldera have in 2026?"


@pytest.fixture
def page(browser_program: Browser, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def planned(page: Page, request: str) -> None:
    """Ask, and wait for the plan."""
    page.get_by_text("Stop at the plan").click()
    asks(page, request)
    expect(page.get_by_text("This is the plan.")).to_be_visible()


def test_a_plan_is_changed_tried_and_carried_out_as_it_was_changed(page: Page) -> None:
    registers(page, "nora")
    planned(page, QUESTION)
    year, approve = page.get_by_label("Value of year"), page.get_by_role("button", name="Approve")
    expect(year).to_have_value("2026")
    year.fill("twenty")
    year.press("Enter")
    expect(approve).to_be_disabled()
    year.fill("2025")
    year.press("Enter")
    expect(approve).to_be_enabled()
    presses(page, "Try it without calling")
    expect(page.get_by_text("What it would do.")).to_be_visible()
    page.reload()
    expect(page.get_by_label("Value of year")).to_have_value("2025")
    presses(page, "Approve")
    ended(page, "Answered")
    expect(page.get_by_text("date: 2025-01-01; holiday")).to_be_visible()
    expect(page.get_by_text("date: 2026-01-01; holiday")).to_have_count(0)


def test_a_plan_that_is_denied_changes_nothing(page: Page, up: Up) -> None:
    registers(page, "pia")
    planned(page, task("Sell the car"))
    expect(page.get_by_text("changes something")).to_be_visible()
    presses(page, "Deny")
    ended(page, "Found no way to answer")
    assert made(up, "Sell the car") == 0


def test_steps_are_added_moved_and_removed(page: Page) -> None:
    registers(page, "otto")
    planned(page, QUESTION)
    unfolds(page, "Add a step")
    picks(page, "Any tool that was considered", "Day Count / get_weekday")
    expect(page.get_by_text("3. Day Count / get_weekday")).to_be_visible()
    presses(page, "Remove: step 3")
    expect(page.get_by_text("3. Day Count / get_weekday")).to_have_count(0)
    unfolds(page, "Add a step")
    picks(page, "Where", "After step 1")
    expect(page.get_by_role("button", name="Lingua / list_languages: often called after find_country")).to_be_visible()
    picks(page, "Any tool that was considered", "Festa / get_next_holiday")
    expect(page.get_by_text("2. Festa / get_next_holiday")).to_be_visible()
    presses(page, "Later: step 2")
    expect(page.get_by_text("3. Festa / get_next_holiday")).to_be_visible()
    presses(page, "Remove: step 2")
    expect(page.get_by_text("2. Festa / get_next_holiday")).to_be_visible()
    presses(page, "Try it without calling")
    expect(page.get_by_text("2 calls, 0 that change something")).to_be_visible()
    presses(page, "Approve")
    ended(page, "Answered")
    story(page, re.compile("^Answered in"))
    called = page.get_by_text(re.compile(r"^✓ [0-9]\. "))
    expect(called).to_contain_text(["World Facts / find_country (ok", "Festa / get_next_holiday (ok"])
    expect(page.locator(".node", has_text="get_next_holiday").first).to_be_visible()
