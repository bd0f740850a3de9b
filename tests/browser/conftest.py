"""One of everything for as many tests as like: starting takes its time. A browser for each: it starts at once."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.everything import Up, everything
from tests.browser.visits import browsing, chromium


@pytest.fixture
def browser_program(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium; each visit has cookies of its own."""
    with browsing(chromium(request)) as browser:
        yield browser


@pytest.fixture(scope="package")
def up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Playground, server and page."""
    chromium(request)
    with everything(tmp_path_factory.mktemp("everything")) as running:
        yield running
