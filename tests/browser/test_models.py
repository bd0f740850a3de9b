"""A language model is set up on the page: tried, put on line, made the default, and asked by the next run."""

import re
from collections.abc import Iterator
from itertools import count

import httpx
import pytest
from playwright.sync_api import BrowserContext, expect

from tests.browser.authors import GIVE_UP, WARMEST, author
from tests.browser.everything import PASSWORD, Up
from tests.browser.looks import in_all_lights
from tests.browser.visits import asks, chooses, drawn, ended, fills, goes, logs_in, picks, pops, presses, visit
from tests.models.openai_replies import ChatRequest, Says
from tests.models.openai_server import ModelServer, model_server_in_thread
from tests.models.rule_based import RuleBasedModel

_NUMBERS = count(1)
pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
KEY = "sk-of-the-large-one"


@pytest.fixture
def model() -> Iterator[ModelServer]:
    """Writes the programs of its author, and does by rules whatever else a model is asked for."""
    rules = RuleBasedModel()

    def answers(request: ChatRequest) -> Says | str:
        written = author(request)
        return rules(request) if written == GIVE_UP else written

    with model_server_in_thread(answers, api_key=KEY) as server:
        yield server


@pytest.fixture
def boss(up: Up) -> Iterator[str]:
    """An administrator. What is set up here is taken away for the tests that come after."""
    name = up.account(f"modeler{next(_NUMBERS)}", "admin")
    yield name
    with httpx.Client(base_url=f"{up.addresses['server']}/api/v1", trust_env=False, timeout=30) as client:
        token = client.post("/auth/login", json={"name": name, "password": PASSWORD}).json()["access_token"]
        headers = {"Authorization": f"Bearer {token}"}
        for one in client.get("/models", headers=headers).raise_for_status().json()["services"]:
            client.delete(f"/models/{one['id']}", headers=headers).raise_for_status()


def test_a_model_is_added_tried_and_asked(
    browser_program: BrowserContext, up: Up, model: ModelServer, boss: str
) -> None:
    with visit(browser_program, up.addresses["page"]) as page:
        logs_in(page, boss)
        expect(page.get_by_placeholder("Ask something")).to_be_visible()
        goes(page, "Models")
        presses(page, "Add a model")
        picks(page, "Provider", "Another that speaks OpenAI's protocol")
        fills(page, "Address", model.url)
        fills(page, "Model", model.model)
        fills(page, "Name", "Large")
        fills(page, "Key, where it wants one", "sk-wrong")
        presses(page, "Test")
        expect(page.get_by_text("the endpoint wants another key")).to_be_visible()
        fills(page, "Key, where it wants one", KEY)
        presses(page, "Test")
        expect(page.get_by_text("It works.")).to_be_visible()
        in_all_lights(page, "model-tested")
        presses(page, "Save")
        expect(page.get_by_role("heading", name="Large")).to_be_visible()
        chooses(page, "Whatever no other is chosen for", re.compile("^Large$"))
        expect(page.get_by_text("Chosen for: Whatever no other is chosen for")).to_be_visible()
        in_all_lights(page, "models")
        assert KEY not in page.content()
        asked = len(model.requests)
        page.goto(up.addresses["page"])
        chooses(page, "Decided by", "A language model")
        drawn(page)
        asks(page, WARMEST)
        ended(page, "Answered")
        assert len(model.requests) > asked
        goes(page, "Models")
        pops(page, "Remove", "Remove Large and its key")
        expect(page.get_by_role("heading", name="Large")).to_have_count(0)
