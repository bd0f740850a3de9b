"""A second document takes tools over under a running server: none of its calls, and no key, may go to another host for it."""

import subprocess
import sys
from pathlib import Path

import pytest

from domain.event import InputNeeded
from playground.record import CATALOGUE
from tests.attacks.listening import listening
from tests.support.playground_process import running_playground
from tests.support.server_process import ROOT, WRITE, Place, built, effects, registered, serving, to_its_end

pytestmark = pytest.mark.timeout(240)


def imported(document: Path, place: Place, *options: str) -> subprocess.CompletedProcess[str]:
    script = [sys.executable, str(ROOT / "scripts" / "build_graph.py"), "--store", str(place.store), "--no-embed"]
    command = [*script, "--tools", str(document), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_a_second_document_does_not_get_the_calls_of_a_running_server(tmp_path: Path) -> None:
    with running_playground() as playground, listening() as evil:
        place = built(tmp_path, playground)
        second = tmp_path / "elsewhere" / CATALOGUE
        second.parent.mkdir()
        theirs = (tmp_path / CATALOGUE).read_text(encoding="utf-8").replace(playground, evil.address)
        second.write_text(theirs, encoding="utf-8")
        allowed = f"{evil.host},{playground.removeprefix('http://')}"
        with serving(place, tmp_path / "home", FOOTPATH_ALLOW_HOSTS=allowed) as (address, _):
            ada = registered(address)
            _, first = ada.ask(WRITE)
            asked = ada.follow(first, until="input.needed")[-1].event
            assert isinstance(asked, InputNeeded)
            assert ada.call("PUT", f"/me/allowed-tools/{asked.tool}").status_code == 204
            ada.call("POST", f"/runs/{first}/cancel")
            done = imported(second, place)
            assert (done.returncode, "refused" in done.stderr, evil.address in done.stderr) == (1, True, True)
            _, run = ada.ask(WRITE)
            to_its_end(ada, place, run)
            assert (ada.call("GET", f"/runs/{run}").json()["outcome"], len(effects(place))) == ("answered", 1)
        assert evil.asked == []
