"""Programs before a server's users: a loop that is approved asks no more, and what is sent with a run is carried out or told what is wrong with it."""

from pathlib import Path
from typing import Any

import pytest

from domain.event import InputNeeded, ProgramStarted
from tests.flows.test_server_approvals import end, fresh
from tests.flows.test_server_plans import CREATE, DAILY, SEARCH, WEATHER, calls, decide, stopped
from tests.flows.test_server_runs import place
from tests.support.server_process import WRITE, Place, effects, registered, serving

__all__ = ["fresh", "place"]
pytestmark = pytest.mark.timeout(240)
LOOP = """
for title in ["Water the fig", "Feed the cat"]:
    await create_task(title=title)
"""

FROM_ANSWER = """import asyncio
found = await search_places(city="Meghalpet")
name = found["results"][0]["city"]
await asyncio.gather(create_task(title=name), create_task(title=f"Visit {name}"))
"""


def test_a_loop_that_its_user_approved_is_leave_for_its_changes(fresh: Place, tmp_path: Path) -> None:
    with serving(fresh, tmp_path / "home") as (address, _):
        ada = registered(address)
        run, before, _ = stopped(ada, WRITE)
        question = before[-1].event
        assert isinstance(question, InputNeeded)
        assert question.program is not None
        wrong = ada.call("PUT", f"/runs/{run}/plan", {"version": 0, "program": {"text": "await nothing()"}})
        assert wrong.status_code == 200, wrong.text
        assert decide(ada, run) == 400, "a text with complaints is not carried out"
        put = ada.call("PUT", f"/runs/{run}/plan", {"version": 1, "program": {"text": LOOP}})
        assert put.status_code == 200, put.text
        assert decide(ada, run) == 200
        after = ada.follow(run, after=before[-1].seq)
        assert not any(isinstance(record.event, InputNeeded) for record in after)
        (started,) = [record.event for record in after if isinstance(record.event, ProgramStarted)]
        assert "Feed the cat" in started.program.text
        assert [one["arguments"]["title"] for one in effects(fresh)] == ["Water the fig", "Feed the cat"]
        assert end(after).outcome == "answered"
        # The same as a plan that is sent with the run: nobody has approved it, so its changes ask.
        conversation = ada.call("POST", "/conversations", {}).json()["id"]
        sent: dict[str, Any] = {"text": LOOP, "tools": {"create_task": CREATE}}
        answer = ada.call("POST", f"/conversations/{conversation}/runs", {"request": WRITE, "program": sent})
        assert answer.status_code == 202, answer.text
        asked = ada.follow(answer.json()["id"], until="input.needed")[-1].event
        assert isinstance(asked, InputNeeded)
        assert (asked.asks, asked.tool) == ("call", CREATE)
    assert len(effects(fresh)) == 2


def test_what_a_response_holds_asks_when_the_call_of_an_approved_text_is_reached(fresh: Place, tmp_path: Path) -> None:
    """Its user approved the text, and never saw what answers: both changes are one question then, in words."""
    with serving(fresh, tmp_path / "home") as (address, _):
        ada = registered(address)
        run, before, _ = stopped(ada, WRITE)
        text: dict[str, Any] = {"text": FROM_ANSWER, "tools": {"create_task": CREATE, "search_places": SEARCH}}
        put = ada.call("PUT", f"/runs/{run}/plan", {"version": 0, "program": text})
        assert put.status_code == 200, put.text
        assert ada.call("GET", f"/runs/{run}/plan").json()["program"]["complaints"] == []
        assert decide(ada, run) == 200
        records = ada.follow(run, after=before[-1].seq, until="input.needed")
        asked = records[-1].event
        assert isinstance(asked, InputNeeded)
        assert (asked.asks, asked.tool) == ("call", CREATE)
        assert [one.arguments["title"] for one in asked.calls] == ["Meghalpet", "Visit Meghalpet"]
        assert all(one.summary and one.origins for one in asked.calls)
        assert effects(fresh) == []
        assert ada.call("POST", f"/runs/{run}/inputs/{asked.input}", {"decision": "allow"}).status_code == 200
        after = ada.follow(run, after=records[-1].seq)
        assert not any(isinstance(record.event, InputNeeded) for record in after)
        assert end(after).outcome == "answered"
    assert len(effects(fresh)) == 2


def test_a_plan_is_sent_with_a_run(fresh: Place, tmp_path: Path) -> None:
    steps: list[dict[str, Any]] = [
        {"tool": SEARCH, "arguments": {"city": "Meghalpet"}},
        {
            "tool": DAILY,
            "takes": {name: {"step": 1, "field": f"results[0].{name}"} for name in ("latitude", "longitude")},
        },
    ]
    with serving(fresh, tmp_path / "home") as (address, _):
        ada = registered(address)
        conversation = ada.call("POST", "/conversations", {}).json()["id"]
        where = f"/conversations/{conversation}/runs"
        answer = ada.call("POST", where, {"request": WEATHER, "document": {"steps": steps}})
        assert answer.status_code == 202, answer.text
        records = ada.follow(answer.json()["id"])
        assert [tool for tool, _ in calls(records)] == [SEARCH, DAILY]
        assert end(records).outcome == "answered"
        bad: tuple[dict[str, Any], ...] = (
            {"document": {"steps": [{"tool": "no/such/tool"}]}},
            {"program": {"text": "await nowhere()", "tools": {}}},
            {
                "program": {
                    "text": "await search_places(city=town)",
                    "tools": {"search_places": SEARCH},
                    "inputs": {"town": {"type": "string"}},
                }
            },
            {"document": {"steps": steps}, "stop_at_plan": True},
        )
        for body in bad:
            refused = ada.call("POST", where, {"request": WEATHER, **body})
            assert (refused.status_code, refused.json()["code"]) == (400, "usage"), refused.text
