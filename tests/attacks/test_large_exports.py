"""Who asks for a long conversation as one document gets all of it, and the server holds little of it at a time."""

import asyncio
import json
import time
from pathlib import Path

import httpx

from server.storage.run_records import StoredEvent
from server.storage.storage import open_storage
from tests.support.row_samples import CHOICES
from tests.support.scripted_runs import end, record
from tests.support.server_load import resident
from tests.support.server_process import started
from wiring.settings import Settings

RUNS, EVENTS, SIZE = 12, 10, 500_000
"""60 MB in all."""


async def long_conversation(home: Path) -> tuple[str, str]:
    """The access token of a new user, and the id of the conversation."""
    async with open_storage(Settings(server_home=home)) as storage:
        ada = await storage.users.add("ada", "no password")
        talk = await storage.conversations.add(ada.id, "long")
        for _ in range(RUNS):
            made = await storage.runs.add(ada.id, talk.id, "a question", CHOICES, add_message=True)
            for seq in range(1, EVENTS + 1):
                body = record(made.id, seq, end(answer="x" * SIZE)).model_dump_json()
                await storage.events.append([StoredEvent(run_id=made.id, seq=seq, kind="answer.delta", body=body)])
            await storage.runs.cancel(made.id, ada.id)
        return (await storage.tokens.open_session(ada.id)).access_token, talk.id


def wait_until_ended(url: str, headers: dict[str, str]) -> None:
    """Until no run of a conversation is to be made any more."""
    for _ in range(600):
        runs = httpx.get(url, headers=headers, trust_env=False).json()
        if len(runs) == RUNS and all(run["status"] == "finished" for run in runs):
            return
        time.sleep(0.1)
    raise AssertionError("the runs did not end")


def test_a_long_conversation_is_sent_as_it_is_read(tmp_path: Path) -> None:
    token, talk = asyncio.run(long_conversation(tmp_path / "home"))
    headers = {"Authorization": f"Bearer {token}"}
    with started({"FOOTPATH_SERVER_HOME": str(tmp_path / "home")}, tmp_path) as (address, process):
        url = f"{address}/api/v1/conversations/{talk}"
        # Workers read all of a run to end it; what they hold meanwhile is not the export's.
        wait_until_ended(f"{url}/runs", headers)
        before = resident(process.pid)
        answer = httpx.get(f"{url}/export", headers=headers, trust_env=False, timeout=120)
        grown = resident(process.pid, "VmHWM") - before
    document = answer.json()
    assert document["conversation"]["id"] == talk
    assert [one["text"] for one in document["messages"]][:RUNS] == ["a question"] * RUNS
    assert [run["id"] for run in document["runs"]] == sorted(run["id"] for run in document["runs"])
    for run in document["runs"]:
        assert [event["seq"] for event in run["events"]][:EVENTS] == list(range(1, EVENTS + 1))
    assert len(json.dumps(document)) > RUNS * EVENTS * SIZE
    assert grown < 45, "MiB; all of it would be several times its 60 MB"
