"""Developer mode in a real browser: a run stops at its plan, which is changed, tried out and approved."""

import re
from collections.abc import Generator
from contextlib import suppress

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from playwright.sync_api import TimeoutError as TooLate

from tests.browser.everything import Up
from tests.browser.test_leave import made, task
from tests.browser.visits import PATIENCE, asks, chooses, ended, only, picks, presses, registers, story, unfolds, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
WEATHER = "What is the weather in Meghalpet today?"
WARMEST = """temperatures = {}
for city in ("Oskvik", "Brennick", "Kesterburg"):
    place = (await search_places(city=city))["results"][0]
    weather = await get_current_weather(latitude=place["latitude"], longitude=place["longitude"])
    temperatures[city] = weather["temperature"]
warmest = max(temperatures, key=lambda one: temperatures[one])
{"answered": "yes", "answer": f"{warmest} is the warmest of three"}"""
QUESTION = "Which public holidays does Caldera have in 2026?"


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def planned(page: Page, request: str) -> None:
    """Ask, and wait for the plan of the walk, whose steps are one after the other."""
    chooses(page, "Planner", "Search through the tool graph")
    page.get_by_text("Stop at the plan").click()
    asks(page, request)
    expect(page.get_by_text("This is the plan.")).to_be_visible()


def test_what_is_decided_of_a_long_plan_stays_in_sight(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 620})
    registers(page, "lena")
    planned(page, QUESTION)
    approve = page.get_by_role("button", name="Approve")
    page.get_by_text("This is the plan.").evaluate("one => one.scrollIntoView({block: 'start', behavior: 'instant'})")
    expect(approve).to_be_in_viewport(ratio=1)
    assert approve.evaluate(
        """one => {
            const box = one.getBoundingClientRect();
            return one.contains(document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2));
        }"""
    )


def test_a_plan_is_changed_tried_and_carried_out_as_it_was_changed(page: Page) -> None:
    registers(page, "nell")
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
    expect(page.get_by_text("Wed 1 Jan 2025").first).to_be_visible()
    expect(page.get_by_text("Thu 1 Jan 2026")).to_have_count(0)


def test_a_plan_that_is_denied_changes_nothing(page: Page, up: Up) -> None:
    registers(page, "pia")
    planned(page, task("Sell the car"))
    expect(page.get_by_text("changes something")).to_be_visible()
    presses(page, "Deny")
    ended(page, "Not done, as its plan was not allowed,")
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
    called = page.get_by_text(re.compile(r"^✓ line [0-9]: "))
    expect(called).to_contain_text(["World Facts / find_country", "Festa / get_next_holiday"])
    expect(page.locator(".node", has_text="get_next_holiday").first).to_be_visible()


def test_a_plan_with_a_loop_is_code_that_is_mended_tried_and_carried_out(page: Page) -> None:
    registers(page, "quinn")
    planned(page, WEATHER)
    page.get_by_text("Code", exact=True).click()
    text, approve = page.get_by_label("The plan's program"), only(page, "Approve")
    expect(text).to_have_value(re.compile(r"search_places\(city=\"Meghalpet\"\)"))
    text.fill(WARMEST.replace("search_places", "search_place"))
    told = page.get_by_role("button", name=re.compile("^Line 3: .*search_place"))
    expect(told).to_be_visible()
    expect(page.locator(".line.bad")).to_have_text(re.compile("search_place"))
    expect(approve).to_be_disabled()
    told.click()
    expect(text).to_be_focused()
    text.fill(WARMEST)
    expect(told).to_have_count(0)
    expect(approve).to_be_enabled()
    expect(
        page.get_by_text(re.compile("^As code: line 3 of the program calls search_places in a loop"))
    ).to_be_visible()
    page.reload()
    expect(text).to_have_value(WARMEST)
    presses(page, "Try it without calling")
    expect(page.get_by_text("What it would do.")).to_be_visible()
    expect(page.get_by_text("6 calls, 0 that change something")).to_be_visible()
    expect(page.locator(".note", has_text="×3")).not_to_have_count(0)
    presses(page, "Approve")
    ended(page, "Answered")
    expect(page.get_by_text("is the warmest of three").first).to_be_visible()


def test_steps_and_code_are_one_plan_and_values_are_picked_from_responses(page: Page) -> None:
    registers(page, "ruth")
    planned(page, QUESTION)
    page.get_by_text("Code", exact=True).click()
    text = page.get_by_label("The plan's program")
    expect(text).to_have_value(re.compile("year=2026"))
    changed = text.input_value().replace("year=2026", "year=2025")
    text.fill(changed)
    text.blur()
    expect(only(page, "Approve")).to_be_enabled()
    presses(page, "Try it without calling")
    expect(page.get_by_text("What it would do.")).to_be_visible()
    page.get_by_text(re.compile(r"^1\. .*line 1")).click()
    takes_a_value(page, "Take a value of answer 1")
    presses(page, "Put it at the cursor")
    # The text itself names what was picked from: it is the insertion that is waited for, and that the server has seen it.
    expect(text).not_to_have_value(changed)
    told = page.get_by_role("button", name=re.compile("^Line [0-9]: This is no Python"))
    expect(told).to_be_visible()
    text.fill(changed)
    expect(told).to_have_count(0)
    page.get_by_text("Steps", exact=True).click()
    expect(page.get_by_label("Value of year")).to_have_value("2025")


def takes_a_value(page: Page, label: str) -> None:
    """The second of a list, which closes where the page is drawn anew under it: then once more."""
    for _ in range(5):
        page.get_by_label(label, exact=True).click()
        with suppress(TooLate):
            page.get_by_role("option").nth(1).click(timeout=PATIENCE / 10)
            return
    pytest.fail(f"{label}: nothing is to be had")
