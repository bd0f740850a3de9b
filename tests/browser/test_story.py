"""The story of a run by program, in a real browser: live line by line, folded when it has ended, told again after a reload."""

import os
import re
import signal
from collections.abc import Generator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.authors import HOLIDAY, STRANGE, WARMEST
from tests.browser.everything import Up, children_of
from tests.browser.visits import asks, chooses, ended, registers, story, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def lines(page: Page, state: str) -> list[str]:
    """The numbers of the lines that are in this state, as it is read out."""
    found = page.locator(".fp-code li", has=page.locator(".fp-said", has_text=re.compile(f"^{state}$")))
    return found.locator("> .fp-number").all_inner_texts()


def test_a_program_is_followed_line_by_line_and_folded_at_its_end(page: Page, up: Up) -> None:
    registers(page, "wilma")
    chooses(page, "Decided by", "A language model")
    playground = children_of(up.process)[0]
    os.kill(playground, signal.SIGSTOP)
    try:
        asks(page, WARMEST)
        for _ in range(2):
            expect(page.locator(".fp-running")).to_contain_text("search_places")
            assert (lines(page, "running"), lines(page, "not reached")) == (["3"], ["4", "6", "7"])
            page.reload()
        expect(page.get_by_text("Under way: 1 call, 1 not answered yet …")).to_be_visible()
    finally:
        os.kill(playground, signal.SIGCONT)
    ended(page, "Answered")
    for _ in range(2):
        expect(page.get_by_text(re.compile("^Kesterburg, with"))).to_be_visible()
        expect(page.locator(".fp-code")).to_have_count(0)
        page.reload()
    told = story(page, re.compile(r"^Answered in [0-9.]+ s: 6 calls, 975 tokens$"))
    expect(told.locator(".fp-done")).to_have_count(2)
    expect(told.locator(".fp-note").first).to_have_text(re.compile("^3 calls, "))
    expect(told.locator(".node", has_text="get_current_weather")).to_be_visible()
    loop = story(page, re.compile(r"^✓ line 3: .*search_places ×3 \(3 ok"))
    first = story(page, re.compile(r"^✓ 1\. city=Oskvik"))
    expect(first.get_by_text("only reads")).to_be_visible()
    expect(first.get_by_text(re.compile("^Answer, [0-9,]+ characters$"))).to_be_visible()
    expect(loop.get_by_text(re.compile("^✓ 5"))).to_be_visible()


def test_repairs_a_failed_call_and_what_is_missing_are_told_on_a_narrow_screen(
    browser_program: BrowserContext, up: Up
) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        registers(page, "xaver")
        chooses(page, "Decided by", "A language model")
        asks(page, HOLIDAY)
        page.set_viewport_size({"width": 390, "height": 900})
        ended(page, "Answered in part")
        expect(page.get_by_text("Not all of it is answered: the height of a mountain.")).to_be_visible()
        told = page.get_by_test_id("stExpander").filter(has_text=re.compile("2 repairs"))
        told.locator("summary").first.focus()
        page.keyboard.press("Enter")
        expect(told.get_by_text("Program 3: answered in part, 2 calls")).to_be_visible()
        expect(told.get_by_text("Program, part 4: answered in part")).to_be_visible()
        assert lines(page, "failed") == ["4"]
        assert lines(page, "not reached") == ["9"]
        expect(told.get_by_text("1 call, 1 failed", exact=False)).to_be_visible()
        expect(told.get_by_text("Missing: the height of a mountain")).to_be_visible()
        refused = story(page, "✗ Program 1: refused before anything was called")
        expect(refused.get_by_text(re.compile("There is no function `holidays_of`"))).to_be_visible()
        broken = story(page, "✗ Program 2: broke off on line 2, 1 call")
        expect(broken.get_by_text(re.compile("^IndexError"))).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_nothing_that_a_stranger_says_is_more_than_text(page: Page) -> None:
    registers(page, "yara")
    chooses(page, "Decided by", "A language model")
    asks(page, STRANGE)
    ended(page, "Answered")
    story(page, re.compile("^Answered in"))
    expect(page.locator(".fp-code")).to_contain_text(
        "<img src=x onerror=alert(1)> **loud** [here](http://evil.example)"
    )
    expect(page.locator(".fp-code")).to_contain_text(r"\u202e")
    main = page.get_by_test_id("stMain")
    expect(main.locator("img[src='x'], a[href*='evil']")).to_have_count(0)
    expect(main.locator("strong", has_text="loud")).to_have_count(0)
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
