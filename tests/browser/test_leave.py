"""Calls that change something, in a real browser: asked about, allowed, denied, allowed for good. The playground's ledger tells what was done."""

import json
import re
from collections.abc import Generator

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.authors import SHOPPING
from tests.browser.everything import Up
from tests.browser.visits import PATIENCE, asks, chooses, ended, presses, registers, story, unfolds, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
HOSTILE = "<img src=x onerror=alert(1)> **loud** [here](http://evil.example) :red[red]"


def tasks(up: Up) -> list[tuple[str, str, str]]:
    """What was put on the list."""
    effects = httpx.get(up.addresses["playground"] + "/_ledger", trust_env=False, timeout=30).json()
    given = [one["arguments"] for one in effects]
    return [(one["title"], one["due_date"], one["priority"]) for one in given]


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def task(title: str) -> str:
    return f'Put "{title}" on my to-do list, please: it has to be done by 2026-07-23. Which id does the task get?'


def made(up: Up, title: str) -> int:
    """How often a task of this title was made."""
    effects = httpx.get(up.addresses["playground"] + "/_ledger", trust_env=False, timeout=30).json()
    return sum(json.dumps(title) in json.dumps(one["arguments"]) for one in effects)


def asked(page: Page) -> None:
    """Wait until a run asks for leave."""
    expect(page.get_by_text(re.compile(r"^Allow this\?"))).to_be_visible()


def test_what_is_allowed_is_done_once(page: Page, up: Up) -> None:
    registers(page, "ines")
    asks(page, task("Water the plum tree"))
    asked(page)
    assert made(up, "Water the plum tree") == 0
    page.reload()
    asked(page)
    presses(page, "Allow once")
    ended(page, "Answered")
    assert made(up, "Water the plum tree") == 1
    page.reload()
    ended(page, "Answered")
    assert made(up, "Water the plum tree") == 1


def test_what_is_not_allowed_is_not_done(page: Page, up: Up) -> None:
    registers(page, "jack")
    asks(page, task("Sell the house"))
    asked(page)
    presses(page, "Do not allow")
    expect(page.get_by_text("You did not allow this call").first).to_be_visible()
    ended(page, "Not done, as you did not allow it,")
    assert made(up, "Sell the house") == 0


def test_a_run_that_waits_is_stopped(page: Page, up: Up) -> None:
    registers(page, "kate")
    asks(page, task("Sell the boat"))
    asked(page)
    presses(page, "Stop")
    ended(page, "Stopped")
    assert made(up, "Sell the boat") == 0


def test_what_is_always_allowed_is_not_asked_about_again(page: Page, up: Up) -> None:
    registers(page, "lena")
    asks(page, task("Feed the cat"))
    asked(page)
    presses(page, "Always allow")
    ended(page, "Answered")
    asks(page, task("Feed the dog"))
    ended(page, "Answered", times=2)
    assert (made(up, "Feed the cat"), made(up, "Feed the dog")) == (1, 1)


def test_what_a_tool_says_is_text(page: Page, up: Up) -> None:
    registers(page, "mona")
    asks(page, task(HOSTILE))
    asked(page)
    presses(page, "Allow once")
    ended(page, "Answered")
    assert made(up, HOSTILE) == 1
    story(page, re.compile("^Answered in"))
    expect(page.get_by_text(re.compile("you allowed it$"))).to_be_visible()
    story(page, re.compile("create_task \\(ok"))
    expect(page.get_by_text(re.compile("^Answer, [0-9]+ characters$"))).to_be_visible()
    assert page.get_by_text("onerror=alert(1)").count() >= 3  # the question, the answer, the response
    for markup in ("img[src='x']", "main strong >> text=loud", "a[href*='evil']"):
        expect(page.locator(markup)).to_have_count(0)


def test_of_a_batch_one_is_corrected_one_left_out_and_one_answer_is_for_all(
    browser_program: BrowserContext, up: Up
) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        before = tasks(up)
        registers(page, "nora")
        chooses(page, "Decided by", "A language model")
        asks(page, SHOPPING)
        expect(page.get_by_text(re.compile(r"^Allow this\?"))).to_be_visible(
            timeout=3 * PATIENCE
        )  # the first program of a server
        expect(page.get_by_text("Create task, 5 times")).to_be_visible()
        expect(page.get_by_text("This cannot be taken back, as far as is known.")).to_be_visible()
        expect(page.get_by_text("Create task: title Rice, due date Thu 23 Jul 2026, priority normal")).to_be_visible()
        unfolds(page, "Where the values come from")
        expect(page.get_by_text(re.compile("due_date of each call: you said it"))).to_be_visible()
        chooses(page, "priority of call 5", "high")
        title = page.get_by_label("title of call 3", exact=True)
        title.fill("Basmati rice")
        day = page.get_by_test_id("stDateInput").nth(1).locator("input").first
        day.fill("2026-07-30")
        day.press("Tab")
        page.keyboard.press("Escape")
        page.get_by_label("Make call 4", exact=True).focus()
        page.keyboard.press("Space")
        assert tasks(up) == before
        page.get_by_role("button", name="Allow what is ticked", exact=True).press("Enter")
        ended(page, "Answered in part")
        assert tasks(up)[len(before) :] == [
            ("Oil", "2026-07-23", "normal"),
            ("Salt", "2026-07-30", "normal"),
            ("Basmati rice", "2026-07-23", "normal"),
            ("Soap", "2026-07-23", "high"),
        ]
        story(page, re.compile("^Answered in part"))
        story(page, re.compile("create_task ×5"))
        story(page, re.compile("title=Tea"))
        expect(page.get_by_text(re.compile("as you corrected it")).first).to_be_visible()
        expect(page.get_by_text(re.compile("You left this call out")).first).to_be_visible()


def test_one_value_of_one_call_is_corrected_and_what_does_not_fit_is_said(page: Page, up: Up) -> None:
    registers(page, "olga")
    asks(page, task("Paint the fence"))
    asked(page)
    expect(page.get_by_text("you said it").first).to_be_visible()
    field = page.get_by_label("title", exact=True)
    field.fill("")
    presses(page, "Allow once")
    expect(page.get_by_text("This does not fit: title must be at least 2 characters long")).to_be_visible()
    field.fill("Paint the gate")
    presses(page, "Allow once")
    ended(page, "Answered")
    assert (made(up, "Paint the fence"), made(up, "Paint the gate")) == (0, 1)
