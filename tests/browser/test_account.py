"""One's own account in a real browser: theme and language that stay, an answer that somebody else reads by a link, a token for a script."""

from itertools import count

import httpx
import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.looks import in_all_lights
from tests.browser.visits import asks, converses, drawn, ended, goes, logs_in, presses, registers, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)
QUESTION, ANSWER = "How many inhabitants does Meghalpet have?", "278,640"


def chooses(page: Page, option: str) -> None:
    """One of a row of options."""
    drawn(page)
    page.get_by_test_id("stRadio").get_by_text(option, exact=True).click()


def expect_light(page: Page, scheme: str) -> None:
    """As what the page is drawn."""
    expect(page.get_by_test_id("stApp")).to_have_css("color-scheme", scheme)


def test_theme_and_language_stay_and_an_answer_is_shared(browser_program: BrowserContext, up: Up) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        page.emulate_media(color_scheme="light")
        registers(page, "greta")
        goes(page, "Account")
        expect_light(page, "light")
        chooses(page, "Dark")
        expect_light(page, "dark")
        chooses(page, "中文")
        expect(page.get_by_role("heading", name="账户")).to_be_visible()
        goes(page, "会话")
        expect(page.get_by_placeholder("请输入问题")).to_be_visible()
        goes(page, "我的账户")
        expect(page.get_by_role("heading", name="账户")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="账户")).to_be_visible()
        expect_light(page, "dark")
        chooses(page, "English")
        expect(page.get_by_role("heading", name="Account")).to_be_visible()
        converses(page)
        asks(page, QUESTION)
        ended(page, "Answered")
        presses(page, "Share")
        presses(page, "Make a link")
        link = page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").inner_text().strip()
    with visit(browser_program, link) as page:
        logs_in(page, up.account(f"reader{next(_NUMBERS)}", "user"))
        expect(page.get_by_role("heading", name="A shared answer")).to_be_visible()
        expect(page.get_by_text(QUESTION)).to_be_visible()
        expect(page.get_by_text(ANSWER)).to_be_visible()
        expect(page.get_by_role("button", name="Run again")).to_have_count(0)


def test_a_token_lets_a_script_in_until_it_is_ended(browser_program: BrowserContext, up: Up) -> None:
    me = f"{up.addresses['server']}/api/v1/me"
    with visit(browser_program, up.addresses["page"]) as page, httpx.Client(trust_env=False, timeout=10) as client:
        registers(page, "scripter")
        goes(page, "Account")
        presses(page, "API tokens")
        page.get_by_label("What it is for").fill("the nightly job")
        presses(page, "Make a token")
        sent = page.get_by_test_id("stCode").filter(has_text="Authorization").inner_text().strip()
        headers = {"Authorization": sent.removeprefix("Authorization: ")}
        assert client.get(me, headers=headers).json()["name"].startswith("scripter")
        in_all_lights(page, "api-tokens")
        goes(page, "Conversation")
        goes(page, "Account")
        presses(page, "API tokens")
        expect(page.get_by_text("the nightly job")).to_be_visible()
        expect(page.get_by_test_id("stCode")).to_have_count(0)
        presses(page, "End it")
        expect(page.get_by_text("You have no tokens.")).to_be_visible()
        assert client.get(me, headers=headers).status_code == 401
