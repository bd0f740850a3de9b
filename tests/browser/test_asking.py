"""A run that asks back, in a real browser: a question with choices, answered by a button, by words, or not at all."""

import re
from collections.abc import Generator

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.authors import AMBIGUOUS
from tests.browser.everything import Up
from tests.browser.visits import PATIENCE, asks, chooses, ended, presses, registers, story, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
QUESTION = "Which place do you mean?"
CHOICES = ("Meghalpet", "Velmora", "Oskvik")


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def asked(page: Page) -> None:
    """Ask what leaves something open, and wait for the question."""
    chooses(page, "Decided by", "A language model")
    asks(page, AMBIGUOUS)
    expect(page.get_by_text("The run needs to know")).to_be_visible(timeout=3 * PATIENCE)


def test_a_question_is_answered_by_one_of_its_choices(page: Page) -> None:
    registers(page, "tess")
    asked(page)
    page.reload()
    for choice in CHOICES:
        expect(page.get_by_role("button", name=choice, exact=True)).to_be_visible()
    presses(page, "Velmora")
    ended(page, "Answered")
    for _ in range(2):
        expect(page.get_by_text(re.compile("^Velmora has [0-9]+ inhabitants"))).to_be_visible()
        expect(page.get_by_text(QUESTION, exact=True)).to_have_count(1)
        expect(page.get_by_text("Velmora", exact=True)).to_have_count(1)
        page.reload()
    told = story(page, re.compile("^Answered in"))
    expect(told.locator(".fp-done")).to_have_count(1)
    expect(page.get_by_text("The plan asks:")).to_have_count(0)


def test_a_question_is_answered_in_ones_own_words(page: Page) -> None:
    registers(page, "uma")
    asked(page)
    page.get_by_label("Or in your own words").fill("Kesterburg")
    presses(page, "Answer")
    ended(page, "Answered")
    expect(page.get_by_text(re.compile("^Kesterburg has [0-9]+ inhabitants"))).to_be_visible()


def test_who_does_not_want_to_say_is_not_asked_again(page: Page) -> None:
    registers(page, "vera")
    asked(page)
    presses(page, "I do not want to say")
    ended(page, "Found no way to answer")
    expect(page.get_by_text(QUESTION, exact=True)).to_have_count(1)
