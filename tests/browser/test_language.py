"""The page in Chinese, in a real browser: whoever's browser is set to it reads it so, from logging in to an answer."""

import re
from itertools import count

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import PASSWORD, Up
from tests.browser.visits import PATIENCE, drawn, enter, fill_in, press, sidebar, visit

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)
ASKED = "How many inhabitants does Meghalpet have?"
ENGLISH = re.compile(r"[A-Za-z]{3,}")
NAMES = re.compile(
    rf"Footpath|wen\d*|{re.escape(ASKED)}|Population|ReAct|tokens?|Atlas Places|search_places|[a-z_]+=|\[\d+\]"
)
"""Names, what was asked, and what tools call themselves."""


def english(texts: list[str]) -> list[str]:
    """What is left of them in English."""
    return [text for text in texts if ENGLISH.search(NAMES.sub("", text))]


def buttons(page: Page) -> list[str]:
    """What they say; icons are letters of a font of their own."""
    script = """() => [...document.querySelectorAll('button, summary, label, [data-testid="stCaptionContainer"]')].map((one) => {
        const copy = one.cloneNode(true);
        copy.querySelectorAll('[data-testid="stIconMaterial"]').forEach((icon) => icon.remove());
        return copy.innerText.trim();
    })"""
    return [str(one) for one in page.evaluate(script)]


def test_the_page_is_read_in_chinese_from_logging_in_to_an_answer(browser_program: BrowserContext, up: Up) -> None:
    with visit(browser_program, up.addresses["page"], width=390) as page:
        page.add_init_script("Object.defineProperty(navigator, 'language', {get: () => 'zh-CN'})")
        page.reload()
        drawn(page)
        page.get_by_role("tab", name="注册").click()
        form = page.get_by_role("tabpanel", name="注册")
        fill_in(page, form.get_by_label("名称"), f"wen{next(_NUMBERS)}")
        fill_in(page, form.get_by_label("密码", exact=True), PASSWORD)
        assert not english([one for one in buttons(page) if one != "English"]), "where one logs in"
        press(page, form.get_by_role("button", name="创建账户"))
        enter(page, page.get_by_placeholder("请输入问题"), ASKED)
        expect(page.get_by_text(re.compile(r"^已回答，用时 [0-9.]+ 秒："))).to_be_visible(timeout=2 * PATIENCE)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, "nothing goes beyond a narrow screen"
        page.set_viewport_size({"width": 1280, "height": 900})
        expect(sidebar(page).get_by_role("button", name="新会话")).to_be_visible()
        assert not english(buttons(page)), "the side bar and what stands around the answer"
