"""The server, store, export and backup of the version before plans were programs (tests/data/before_programs), to be opened by this one."""

import asyncio
import json
import sqlite3
import tarfile
from base64 import b64encode
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graph.backends.sqlite import SqliteGraph
from tests.archives import unpack
from tests.flows.served import ROOT
from wiring.store_folder import StoreFolder

DATA = ROOT / "tests" / "data" / "before_programs"
EXPORT = DATA / "store.jsonl.gz"
MADE: dict[str, Any] = json.loads((DATA / "made.json").read_text(encoding="utf-8"))
RUNS: dict[str, str] = MADE["runs"]
TEMPLATES: dict[str, str] = MADE["templates"]
VAULT = "1:" + b64encode(b"kept for the tests of old rows!!").decode()
KEPT_FOR_EVER = {"FOOTPATH_VAULT_KEYS": VAULT, "FOOTPATH_EVENT_DAYS": "0"}
_ADDRESS = "http://127.0.0.1:8765"


@dataclass(frozen=True)
class Unpacked:
    """``home``: of the server; ``store``: without vectors and words."""

    home: Path
    store: Path
    backup: Path


def unpacked(folder: Path, address: str = _ADDRESS) -> Unpacked:
    """A copy in a folder; its tools are called at ``address``, and its questions are about calls there."""
    folder.mkdir(parents=True, exist_ok=True)
    with tarfile.open(DATA / "server.tar.xz") as packed:
        unpack(packed, folder)
    made = Unpacked(folder / "home", folder / "store", folder / "backup")
    if address != _ADDRESS:
        asyncio.run(_call_at(made.store, address))
        _asked_of(made.home / "rows.db", address)
    return made


async def _call_at(store: Path, address: str) -> None:
    """Let a store's tools be called at another address."""
    graph = SqliteGraph(StoreFolder(store).graph)
    await graph.setup()
    docs = [doc async for doc in graph.documents()]
    await graph.put_tools([doc.model_copy(update={"url": doc.url.replace(_ADDRESS, address)}) for doc in docs])
    await graph.close()


def _asked_of(rows: Path, address: str) -> None:
    """Questions say where a call goes: it is not made where that has changed since."""
    with closing(sqlite3.connect(rows)) as database, database:
        for table, column in (("run_inputs", "question"), ("run_events", "body")):
            database.execute(f"UPDATE {table} SET {column} = replace({column}, ?, ?)", (_ADDRESS, address))
