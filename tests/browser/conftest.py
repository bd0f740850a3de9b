"""One of everything for as many tests as like: starting takes its time. A browser for each: it starts at once."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.browser.authors import author
from tests.browser.everything import Up, everything
from tests.browser.visits import browsing, chromium
from tests.models.openai_server import model_server_in_thread


def pytest_collection_modifyitems(items: Sequence[pytest.Item]) -> None:
    """A browser on a busy machine draws late: a test here that fails is run once more, and counted as ``rerun`` at the end."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.fixture
def browser_program(request: pytest.FixtureRequest) -> Iterator[Browser]:
    """Chromium; each visit has cookies of its own."""
    with browsing(chromium(request)) as browser:
        yield browser


@pytest.fixture(scope="package")
def up(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """Playground, server and page, with a scripted model for who chooses it. APIs on loopback may be added."""
    chromium(request)
    folder = tmp_path_factory.mktemp("everything")
    with (
        model_server_in_thread(author) as model,
        everything(
            folder, FOOTPATH_MODEL_URL=model.url, FOOTPATH_MODEL_NAME=model.model, FOOTPATH_ALLOW_HOSTS="127.0.0.1"
        ) as running,
    ):
        yield running
