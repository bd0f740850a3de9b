"""The chat page in a real browser: chromium on all of Footpath."""

import os
import re
import signal
from collections.abc import Generator
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import BrowserContext, Cookie, Locator, Page, expect

from tests.browser.everything import Up, children_of, without_a_store
from tests.browser.test_leave import task
from tests.browser.visits import (
    asks,
    chooses,
    ended,
    enter,
    goes,
    logs_in,
    press,
    presses,
    registers,
    sidebar,
    story,
    visit,
)
from ui.login_tickets import COOKIE, HANDOVER_TYPE, TICKET_PATH

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
QUESTION = "Which public holidays does Caldera have in 2026?"
ANSWERED = "Thu 1 Jan 2026"  # only the answer puts it so: the response beside it is JSON

_SHRUNK = """chart => {
    const drawn = chart.querySelector('svg');
    return Math.round(10 * drawn.getBoundingClientRect().width / (drawn.viewBox.baseVal.width * 96 / 72)) / 10;
}"""
"""How large a graph is, of how large it was drawn, which is in points."""


_FILL = "one => getComputedStyle(one).fill"
_TOP = "one => one.getBoundingClientRect().top"


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """Somebody who is not logged in."""
    with visit(browser_program, up.addresses["page"]) as page:
        yield page


def test_register_ask_see_the_walk_reload_and_ask_again(page: Page) -> None:
    name = registers(page, "ada")
    asks(page, QUESTION)
    ended(page, "Answered")
    expect(page.get_by_text(ANSWERED)).to_be_visible()
    row = [page.get_by_role("button", name=name, exact=True).evaluate(_TOP) for name in ("Run again", "Forget")]
    assert row[0] == row[1]
    story(page, re.compile("^Answered in"))
    expect(page.locator(".node", has_text="get_public_holidays").first).to_be_visible()
    box = page.locator(".node", has_text="get_public_holidays").locator("path, polygon").first
    by_day = box.evaluate(_FILL)
    page.emulate_media(color_scheme="dark")
    expect(box).not_to_have_css("fill", by_day)
    page.emulate_media(color_scheme="light")
    expect(box).to_have_css("fill", by_day)

    page.reload()
    expect(page.get_by_text(ANSWERED)).to_be_visible()
    expect(page.get_by_text(f"Logged in as {name}")).to_be_visible()

    asks(page, "Which public holidays does Norvania have in 2025?")
    ended(page, "Answered", times=2)
    presses(page, "Log out")
    expect(page.get_by_role("tab", name="Log in")).to_be_visible()
    page.reload()
    expect(page.get_by_role("tab", name="Log in")).to_be_visible()


def test_no_script_reads_what_keeps_somebody_logged_in(page: Page, up: Up) -> None:
    name = registers(page, "dora")
    ticket = _await_ticket(page)
    assert (ticket.get("httpOnly"), ticket.get("sameSite"), ticket.get("path")) == (True, "Strict", "/")
    value = ticket.get("value", "")
    assert len(value) >= 43
    assert value not in page.evaluate(
        "document.cookie + document.documentElement.outerHTML + JSON.stringify(localStorage)"
    )
    page.reload()
    expect(page.get_by_text(f"Logged in as {name}")).to_be_visible()
    assert _await_ticket(page).get("value") == value, "a reload gives no other one"
    presses(page, "Log out")
    expect(page.get_by_role("tab", name="Log in")).to_be_visible()
    for _ in range(100):
        if not _tickets(page):
            break
        page.wait_for_timeout(100)
    assert _tickets(page) == [], "the browser forgets it with the log-out"
    there = f"{up.addresses['page']}{TICKET_PATH}"
    sent = httpx.post(there, content="guessed", headers={"content-type": HANDOVER_TYPE}, trust_env=False)
    assert (sent.status_code, sent.headers.get("set-cookie")) == (403, None)
    plain = httpx.post(there, content="guessed", headers={"content-type": "text/plain"}, trust_env=False)
    assert plain.status_code == 415, "as a form or a script of another site could send it"
    long = httpx.post(there, content="x" * 500, headers={"content-type": HANDOVER_TYPE}, trust_env=False)
    assert long.status_code == 413


def _tickets(page: Page) -> list[Cookie]:
    return [one for one in page.context.cookies() if one.get("name") == COOKIE]


def _await_ticket(page: Page) -> Cookie:
    for _ in range(100):
        if found := _tickets(page):
            return found[0]
        page.wait_for_timeout(100)
    raise AssertionError("the browser was given no ticket")


def test_a_wrong_password_is_told_and_the_right_one_lets_in(page: Page) -> None:
    name = registers(page, "bert")
    presses(page, "Log out")
    logs_in(page, name, "not it at all")
    expect(page.get_by_text("name and password do not belong together")).to_be_visible()
    logs_in(page, name)
    expect(page.get_by_text(f"Logged in as {name}")).to_be_visible()


def test_the_first_page_offers_questions(page: Page) -> None:
    registers(page, "cleo")
    press(page, page.get_by_role("button", name=QUESTION))
    ended(page, "Answered")


def test_a_conversation_is_renamed_found_and_deleted(page: Page) -> None:
    registers(page, "dora")
    asks(page, QUESTION)
    ended(page, "Answered")
    press(page, sidebar(page).get_by_role("button", name="Rename or delete"))
    page.get_by_label("Title").fill("Feasts of Caldera")
    page.get_by_label("Title").press("Enter")
    presses(page, "Rename")
    expect(sidebar(page).get_by_role("button", name="Feasts of Caldera")).to_be_visible()
    enter(page, sidebar(page).get_by_placeholder("Search"), "norvania")
    expect(sidebar(page).get_by_text("Nothing was found.")).to_be_visible()
    enter(page, sidebar(page).get_by_placeholder("Search"), "feasts")
    expect(sidebar(page).get_by_role("button", name="Feasts of Caldera")).to_be_visible()
    press(page, sidebar(page).get_by_role("button", name="Rename or delete"))
    press(page, page.get_by_role("button", name="Delete with all its runs"))
    expect(page.get_by_text("What would you like to know?")).to_be_visible()
    expect(sidebar(page).get_by_role("button", name="Feasts of Caldera")).to_have_count(0)


def test_the_planner_is_chosen(page: Page) -> None:
    registers(page, "emil")
    chooses(page, "Planner", "Most alike")
    asks(page, QUESTION)
    expect(page.get_by_text("planner: Most alike")).to_be_visible()
    page.reload()
    expect(page.get_by_text("planner: Most alike")).to_be_visible()


def test_a_run_whose_tool_does_not_answer_is_stopped(page: Page, up: Up) -> None:
    registers(page, "fred")
    playground = children_of(up.process)[0]
    os.kill(playground, signal.SIGSTOP)
    try:
        asks(page, QUESTION)
        page.get_by_text("(under way)").wait_for()
        presses(page, "Stop")
        ended(page, "Stopped")
    finally:
        os.kill(playground, signal.SIGCONT)


def test_a_server_without_tools_says_so(browser_program: BrowserContext, tmp_path: Path) -> None:
    with without_a_store(tmp_path) as up, visit(browser_program, up.addresses["page"]) as page:
        registers(page, "gina")
        for times in (1, 2, 3):
            asks(page, QUESTION)
            ended(page, "Failed", times)
        expect(page.get_by_text("holds no Footpath store").first).to_be_visible()


def test_a_narrow_screen_can_do_all_of_it(browser_program: BrowserContext, up: Up) -> None:
    with visit(browser_program, up.addresses["page"], width=390) as page:
        registers(page, "hugo")
        asks(page, QUESTION)
        ended(page, "Answered")
        story(page, re.compile("^Answered in"))
        graph = page.get_by_test_id("stGraphVizChart")
        expect(graph).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= 390
        assert graph.evaluate(_SHRUNK) == 1
        page.set_viewport_size({"width": 160, "height": 800})
        expect(graph).to_be_visible()
        whole, seen = graph.evaluate("chart => [chart.scrollWidth, chart.clientWidth]")
        assert whole > seen  # it is scrolled, not shrunk until nobody can read it
        assert graph.evaluate(_SHRUNK) == 1


def test_what_is_new_comes_into_sight_and_the_reader_is_left_alone(page: Page) -> None:
    page.set_viewport_size({"width": 1280, "height": 560})
    registers(page, "ilse")
    asks(page, QUESTION)
    ended(page, "Answered")
    asked = "Which public holidays does Norvania have in 2025?"
    asks(page, asked)
    ended(page, "Answered", times=2)
    for _ in range(2):
        seen_at_the_top(page, asked)
        page.reload()
    asks(page, task("Oil the gate"))
    expect(page.get_by_role("button", name="Allow once")).to_be_in_viewport(ratio=1)
    assert below(page.get_by_role("button", name="Allow once")) <= page.get_by_test_id("stBottom").evaluate(_TOP)

    page.mouse.move(700, 200)
    page.mouse.wheel(0, -5_000)
    first = page.get_by_test_id("stText").get_by_text(QUESTION, exact=True)
    expect(first).to_be_in_viewport()
    page.wait_for_timeout(2_500)  # a run that waits is drawn anew all the time
    expect(first).to_be_in_viewport()
    presses(page, "Do not allow")
    expect(page.get_by_role("button", name="Stop", exact=True)).to_have_count(0)

    press(page, page.get_by_role("button", name="Run again", exact=True).first)
    ended(page, "Answered", times=3)
    again = page.get_by_test_id("stText").get_by_text(QUESTION, exact=True).last
    expect(again).to_be_in_viewport(ratio=1)
    goes(page, "History")
    expect(page.get_by_role("heading", name="History")).to_be_visible()
    press(page, sidebar(page).get_by_role("button", name=QUESTION[:30]))
    expect(again).to_be_in_viewport(ratio=1)


def seen_at_the_top(page: Page, question: str) -> None:
    """In the upper third of the view, once the page stands still."""
    bubble = page.get_by_test_id("stText").get_by_text(question, exact=True)
    expect(bubble).to_be_in_viewport(ratio=1)
    page.wait_for_timeout(1_000)
    assert 0 < bubble.evaluate(_TOP) < 190


def below(one: Locator) -> float:
    """Where it ends."""
    return one.evaluate("one => one.getBoundingClientRect().bottom")
