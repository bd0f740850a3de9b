"""The calls that somebody else's template chooses ask under every "always", also where the template fixes no value."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.attacks.test_words_of_others import make_author
from tests.support.attacked_services import (
    Operation,
    Service,
    decided,
    outcome_of,
    question_of,
    running,
    serving,
    told_of,
)
from tests.support.server_process import registered

EMPTY = Operation("empty_archive", "Remove everything from the archive.", {}, {"removed": 12}, "POST")
FIND = Operation("find_entry", "Find the latest entry.", {}, {"id": 7})
REMOVE = Operation("remove_entry", "Remove an entry.", {"id": "number"}, {"removed": 1}, "POST")

pytestmark = pytest.mark.timeout(180)


def test_a_call_without_fixed_values_is_its_author_s_choice_all_the_same(tmp_path: Path) -> None:
    archive, home = Service("archive", [EMPTY, FIND, REMOVE]), tmp_path / "home"
    wired: dict[str, Any] = {"tool": archive.tool("remove_entry"), "takes": {"id": {"step": 1, "field": "id"}}}
    plans: list[list[dict[str, Any]]] = [
        [{"tool": archive.tool("empty_archive")}],
        [{"tool": archive.tool("find_entry")}, wired],
    ]
    with running(archive):
        store = told_of(tmp_path / "store", archive)
        with serving(store, home, archive) as address:
            mallory, ada = registered(address, "mallory"), registered(address)
            asyncio.run(make_author(home, "mallory"))
            talk = {"conversation_id": ada.call("POST", "/conversations", {}).json()["id"]}
            for number, steps in enumerate(plans):
                changing = steps[-1]["tool"]
                assert ada.call("PUT", f"/me/allowed-tools/{changing}").status_code == 204
                body = {"name": f"Tidy {number}", "document": {"steps": steps}}
                own = f"/templates/{ada.call('POST', '/templates', body).json()['id']}/runs"
                mine = ada.call("POST", own, talk).json()["id"]
                assert outcome_of(ada, mine) == "answered"
                theirs = f"/templates/{mallory.call('POST', '/templates', body).json()['id']}"
                assert mallory.call("PATCH", theirs, {"shared": True}).status_code == 200
                run = ada.call("POST", f"{theirs}/runs", {**talk, "version": 1}).json()["id"]
                asked = question_of(ada, run)
                assert asked.tool == changing
                assert "chosen by the author of the template" in asked.reason
                decided(ada, run, asked, "deny")
    assert [len(archive.asked_of(name)) for name in ("empty_archive", "remove_entry")] == [1, 1]
