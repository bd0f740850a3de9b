"""What deletes by GET is asked about like any other change, until somebody who may says that it reads."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from orjson import dumps

from domain.event import InputNeeded
from tests.attacks.listening import Listener, listening
from tests.support.server_process import ROOT, Client, Place, registered, serving
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

pytestmark = pytest.mark.timeout(240)
REMOVE, ASKED = "garden/Compost/remove_all_compost", "Remove all the compost from my garden, please."


def garden(folder: Path, listener: Listener) -> Place:
    """A store of one API with a GET that deletes."""
    operation = {
        "operationId": "remove_all_compost",
        "tags": ["garden"],
        "summary": "Remove all compost of the garden.",
    }
    document: dict[str, Any] = {
        "openapi": "3.0.3",
        "info": {"title": "Compost", "version": "1"},
        "servers": [{"url": listener.address}],
        "paths": {"/compost/none": {"get": operation | {"responses": {}}}},
    }
    path, store = folder / "compost.json", folder / "store"
    path.write_bytes(dumps(document))
    asyncio.run(build(BuildOptions(tools=(path,), store=store), lambda stage, done, total: None, Settings(store=store)))
    return Place(listener.address, listener.address, store)


def mark(place: Place, word: str) -> None:
    script = [sys.executable, str(ROOT / "scripts" / "mark_tool.py")]
    subprocess.run([*script, REMOVE, word, "--store", str(place.store)], check=True, timeout=60)


def asked_about(user: Client, run: str) -> str:
    """Why the run waits; empty where it came to its end without asking."""
    last = user.follow(run, until="input.needed")[-1].event
    return last.reason if isinstance(last, InputNeeded) else ""


def test_a_delete_by_get_waits_for_leave(tmp_path: Path) -> None:
    with listening() as compost:
        place = garden(tmp_path, compost)
        with serving(place, tmp_path / "home") as (address, _):
            ada = registered(address)
            _, run = ada.ask(ASKED)
            assert "its name begins with “remove”, though it is called by GET" in asked_about(ada, run)
            assert compost.asked == []
            ada.call("POST", f"/runs/{run}/cancel")
            mark(place, "reads")
            _, run = ada.ask(ASKED)
            assert (asked_about(ada, run), compost.asked) == ("", ["GET /compost/none"])
            mark(place, "changes")
            _, run = ada.ask(ASKED)
            assert "an administrator said so" in asked_about(ada, run)
            assert len(compost.asked) == 1
