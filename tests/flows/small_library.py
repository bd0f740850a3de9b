"""The playground and a store of its document and walks, as the library opens it: for tests of what builds on the library."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import httpx

from footpath import Footpath
from playground.child import running_playground
from playground.record import DATA

WEATHER = "What is the temperature in Tarnholm right now?"


@contextmanager
def playground_folder(folder: Path) -> Generator[str]:
    """The address of a playground that runs; in the folder lie its document, its walks, and a store built of them."""
    with running_playground() as address:
        (folder / "catalogue.json").write_bytes(httpx.get(f"{address}/openapi.json", trust_env=False).content)
        (folder / "walks").symlink_to(DATA)
        Footpath.build(folder / "my-store", [folder / "catalogue.json"], [folder / "walks"])
        yield address
