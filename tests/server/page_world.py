"""A server on a socket, in this process, with a store and people; and its page, drawn without a browser."""

import asyncio
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import sleep
from typing import Any

from streamlit.testing.v1 import AppTest

from domain.tool import ToolDoc
from server.app import create_app
from server.auth.passwords import Passwords
from tests.support.indexed_store import indexed_store
from tests.support.loopback import serving
from tests.support.server_world import CHEAP, PASSWORD, copied
from tests.support.small_world import TOOLS
from ui.client import Client, log_in, opened
from ui.sources import source
from wiring.settings import Settings

Enter = Callable[[str], Client]
"""Logs one of the people in."""


@contextmanager
def page_world(home: Path, folder: Path, tools: Sequence[ToolDoc] = TOOLS) -> Generator[Enter]:
    """``home``: with people, to be copied; ``tools``: of the store. Gives the clients of people, by which the page asks."""
    store = asyncio.run(indexed_store(folder / "store", tools))
    chosen = Settings(
        server_home=copied(home, folder / "home"), store=store, hosts="127.0.0.1", allow_hosts=frozenset({"127.0.0.1"})
    )
    with serving(create_app(chosen, passwords=Passwords(CHEAP))) as address, opened(address) as http:
        yield lambda who: log_in(http, who, PASSWORD)


def page(client: "Client", places: dict[str, str]) -> None:
    """Streamlit runs it apart, so it imports for itself."""
    import streamlit as st

    from ui.screens.sources import sources

    for name, value in places.items():
        st.query_params.setdefault(name, value)
    sources(client)


def sources_page(client: Client, **places: str) -> AppTest:
    """The view *Sources* at a place."""
    return AppTest.from_function(page, default_timeout=60, kwargs={"client": client, "places": places}).run()


def press(test: AppTest, label: str) -> None:
    """The button that says so."""
    (button,) = [one for one in test.button if one.label == label]
    button.click().run()


def checked(test: AppTest, client: Client, made: str) -> None:
    """Wait until the gate has looked, and draw the page once more."""
    while source(client, made).checking:
        sleep(0.02)
    test.run()


def read(test: AppTest) -> str:
    """All that is read on the page, without the signs that keep strangers' texts from being Markdown."""
    parts: list[Any] = [*test.markdown, *test.caption, *test.text, *test.error, *test.warning, *test.info, *test.title]
    return "\n".join(one.value for one in parts).replace("\\", "").replace("\u2060", "")
