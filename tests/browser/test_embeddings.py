"""A change of encoder in a real browser: prepared, looked at, switched to, and back."""

import shutil
from collections.abc import Generator
from itertools import count

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from tests.browser.everything import Up
from tests.browser.visits import goes, logs_in, pops, presses, visit
from tests.support.source_tree import ROOT

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
_NUMBERS = count(1)


@pytest.fixture
def page(browser_program: BrowserContext, up: Up) -> Generator[Page]:
    """An administrator, whose server has a second encoder: the same weights in files of their own."""
    own = up.folder / ".footpath" / "encoders" / "apart"
    shutil.copytree(ROOT / "retriever" / "embedders" / "minilm_int8", own, dirs_exist_ok=True)
    tokens = own / "tokenizer.json"
    tokens.write_text(tokens.read_text() + " ")
    name = f"embedder{next(_NUMBERS)}"
    up.account(name, "admin")
    with visit(browser_program, up.addresses["page"]) as page:
        logs_in(page, name)
        expect(page.get_by_placeholder("Ask something")).to_be_visible()
        yield page


def test_another_encoder_is_prepared_compared_switched_to_and_back(page: Page) -> None:
    goes(page, "Embeddings")
    expect(page.get_by_text("The encoder that comes along, since the store was made")).to_be_visible()
    presses(page, "Prepare")
    expect(page.get_by_role("heading", name="Prepared: apart")).to_be_visible(timeout=120_000)
    expect(page.get_by_role("cell", name="Needed tools among the first 16")).to_be_visible()
    presses(page, "Switch")
    expect(page.get_by_text("Switched. The former vectors are kept: you can switch back.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("heading", name="The former encoder is kept")).to_be_visible()
    presses(page, "Switch back")
    expect(page.get_by_text("The encoder that comes along, since")).to_be_visible()
    pops(page, "Delete its vectors", "Delete them")
    expect(page.get_by_role("heading", name="Another encoder")).to_be_visible()
