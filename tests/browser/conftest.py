"""One of everything for all tests of the page: starting takes its time, and each test is a visitor of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext

from tests.browser.authors import author
from tests.browser.everything import Up, everything
from tests.browser.visits import browsing, chromium
from tests.models.openai_server import model_server_in_thread


@pytest.fixture(scope="session")
def profile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where Chromium keeps what it fetched: the page's scripts."""
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="module")
def browser_program(request: pytest.FixtureRequest, profile: Path) -> Iterator[BrowserContext]:
    """Chromium; each visit begins with nothing but what was fetched before. No test of the file may need an event loop of its own: while it
    is there, Playwright's runs.
    """
    with browsing(chromium(request), profile) as browser:
        yield browser


@pytest.fixture(scope="session")
def up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Playground, server and page, with a scripted model for who chooses it; rules decide for all others. APIs on loopback may be added."""
    chromium(request)
    folder = tmp_path_factory.mktemp("everything")
    with (
        model_server_in_thread(author) as model,
        everything(
            folder,
            FOOTPATH_MODEL_URL=model.url,
            FOOTPATH_MODEL_NAME=model.model,
            FOOTPATH_POLICY="offline",
            FOOTPATH_ALLOW_HOSTS="127.0.0.1",
            FOOTPATH_REGISTRATIONS="1000",
        ) as running,
    ):
        yield running
