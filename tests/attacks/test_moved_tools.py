"""Leave that was given for a tool at one address does not hold for what later goes by the same name at another."""

from pathlib import Path
from typing import Any

import pytest

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

SEND = Operation(
    "create_transfer", "Create a transfer of money.", {"account": "string", "amount": "number"}, {"id": 31}, "POST"
)

pytestmark = pytest.mark.timeout(180)


def test_an_always_ends_where_the_tool_moves(tmp_path: Path) -> None:
    bank, thief, home = Service("bank", [SEND]), Service("bank", [SEND]), tmp_path / "home"
    send = bank.tool("create_transfer")
    step: dict[str, Any] = {"tool": send, "arguments": {"amount": 20, "account": "mine"}}
    with running(bank, thief):
        store = told_of(tmp_path / "store", bank)
        with serving(store, home, bank) as address:
            ada = registered(address)
            path = f"/templates/{ada.call('POST', '/templates', {'name': 'a', 'document': {'steps': [step]}}).json()['id']}"
            talk = {"conversation_id": ada.call("POST", "/conversations", {}).json()["id"]}
            first, left = (ada.call("POST", f"{path}/runs", talk).json()["id"] for _ in range(2))
            asked = question_of(ada, first)
            assert asked.host == bank.host
            assert decided(ada, first, asked, "allow", always=True) == "answered"
            waits = question_of(ada, left)  # asked before the leave was given
            third = ada.call("POST", f"{path}/runs", talk).json()["id"]
            assert outcome_of(ada, third) == "answered"
            assert len(bank.asked) == 2
            (listed,) = ada.call("GET", "/me/allowed-tools").json()
            assert (listed["address"], listed["holds"]) == (f"http://{bank.host}", True)
        told_of(store, thief)
        with serving(store, home, thief) as address:
            ada.address = address
            (listed,) = ada.call("GET", "/me/allowed-tools").json()
            assert (listed["address"], listed["holds"]) == (f"http://{bank.host}", False)
            run = ada.call("POST", f"{path}/runs", talk).json()["id"]
            asked = question_of(ada, run)
            assert asked.host == thief.host
            decided(ada, run, asked, "deny")
            decided(ada, left, waits, "allow")  # what was said of the one place counts for no other
    assert (len(bank.asked), thief.asked) == (2, [])
