"""One browser, one of everything, for as many tests as like: starting takes its time."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.everything import Up, everything
from tests.browser.visits import chromium


@pytest.fixture(scope="package")
def browser_program(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium; each visit has cookies of its own."""
    with chromium(request) as browser:
        yield browser


@pytest.fixture(scope="package")
def up(browser_program: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Playground, server and page."""
    with everything(tmp_path_factory.mktemp("everything")) as running:
        yield running
