"""The playground and a store of its document and walks, as the library opens it: for tests of what builds on the library."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from playground.record import CATALOGUE, DATA
from tests.support.playground_process import running_playground
from tests.support.server_process import built

WEATHER = "What is the temperature in Tarnholm right now?"


@contextmanager
def playground_folder(folder: Path) -> Generator[str]:
    """The address of a playground that runs; in the folder lie its document, its walks, and a store built of them."""
    with running_playground() as address:
        built(folder, address).store.rename(folder / "my-store")
        (folder / CATALOGUE).rename(folder / "catalogue.json")
        (folder / "walks").symlink_to(DATA)
        yield address
