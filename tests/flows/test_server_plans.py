"""Developer mode over HTTP: a run stops at its plan, which is edited, refused while it has problems, approved, denied, kept over a restart."""

from pathlib import Path
from typing import Any

import pytest

from domain.event import CallFinished, CallStarted, EventRecord, InputNeeded, PlanReady
from tests.flows.test_server_approvals import ASKED, end, fresh, stands
from tests.flows.test_server_runs import place
from tests.support.server_process import WRITE, Client, Place, effects, registered, serving, to_its_end

__all__ = ["fresh", "place"]
WEATHER = "What is the weather in Meghalpet today?"
SEARCH = "Location/Atlas%20Places/search_places"
NOW = "Weather/Skyline%20Weather/get_current_weather"
DAILY = "Weather/Skyline%20Weather/get_daily_forecast"
CREATE = "Productivity/Doable/create_task"

pytestmark = pytest.mark.timeout(240)


def stopped(client: Client, request: str) -> tuple[str, list[EventRecord], dict[str, Any]]:
    """A run that waits with its plan: its id, its events so far, the plan."""
    _, run = client.ask(request, stop_at_plan=True)
    records = client.follow(run, until=ASKED)
    answer = client.call("GET", f"/runs/{run}/plan")
    assert answer.status_code == 200, answer.text
    return run, records, answer.json()


def put(client: Client, run: str, version: int, *steps: dict[str, Any]) -> dict[str, Any]:
    answer = client.call("PUT", f"/runs/{run}/plan", {"version": version, "document": {"steps": steps}})
    assert answer.status_code == 200, answer.text
    return answer.json()


def decide(client: Client, run: str, decision: str = "allow") -> int:
    return client.call("POST", f"/runs/{run}/inputs/plan-1", {"decision": decision}).status_code


def calls(records: list[EventRecord]) -> list[tuple[str, dict[str, Any]]]:
    return [(r.event.tool, r.event.arguments) for r in records if isinstance(r.event, CallStarted)]


def test_a_plan_is_edited_and_carried_out_as_it_then_stands(fresh: Place, tmp_path: Path) -> None:
    with serving(fresh, tmp_path / "home") as (address, _):
        ada, eve = registered(address), registered(address, "eve")
        run, before, shown = stopped(ada, WEATHER)
        question = before[-1].event
        assert isinstance(question, InputNeeded)
        assert question.plan is not None
        assert (question.asks, question.input, before[-1].subtask) == ("plan", "plan-1", 1)
        assert shown["document"] == question.plan.model_dump(mode="json")
        assert (shown["version"], shown["input"], shown["problems"]) == (0, "plan-1", [])
        assert {tool["id"]: tool["changes"] for tool in shown["tools"]}[SEARCH] is False
        assert any(one["after"] == 1 and one["weight"] and one["fills"] for one in shown["suggestions"])
        assert eve.call("GET", f"/runs/{run}/plan").status_code == 404
        assert eve.call("PUT", f"/runs/{run}/plan", {"version": 0, "document": {"steps": []}}).status_code == 404
        stands(ada, run, "waiting")
        assert calls(before) == []
        search, now = shown["document"]["steps"]
        # The place is another one, a step is put in place of another, one is added, and they are in another order.
        search["arguments"] = {"city": "Zzyzx"}
        daily = {
            "tool": DAILY,
            "takes": {name: {"step": 2, "field": f"results[0].{name}"} for name in ("latitude", "longitude")},
        }
        other = {"tool": SEARCH, "arguments": {"city": "Meghalpet"}}
        assert put(ada, run, 0, now, search)["problems"][0]["message"] == "Step 1 is not made before this one."
        assert decide(ada, run) == 400
        assert ada.call("POST", f"/runs/{run}/plan/dry-run").status_code == 400
        assert ada.call("PUT", f"/runs/{run}/plan", {"version": 0, "document": {"steps": []}}).status_code == 409
        assert put(ada, run, 1, search, other, daily)["problems"] == []
        assert eve.call("POST", f"/runs/{run}/plan/dry-run").status_code == 404
        dry = ada.call("POST", f"/runs/{run}/plan/dry-run").json()
        assert [call["arguments"].get("city") for call in dry["calls"]] == ["Zzyzx", "Meghalpet", None]
        assert {call["status"] for call in dry["calls"]} == {"answered"}
        assert dry["calls"][2]["arguments"].keys() == {"latitude", "longitude"}
        assert (dry["changes"], dry["model_calls"], dry["tokens"], dry["cost"]) == ([], 0, 0, None)
        assert decide(ada, run) == 200
        after = ada.follow(run, after=before[-1].seq)
        assert ada.call("GET", f"/runs/{run}/plan").status_code == 404
        late = ada.call("PUT", f"/runs/{run}/plan", {"version": 2, "document": {"steps": []}})
        assert late.status_code == 404
    assert [tool for tool, _ in calls(after)] == [SEARCH, SEARCH, DAILY]
    assert [arguments.get("city") for _, arguments in calls(after)][:2] == ["Zzyzx", "Meghalpet"]
    assert [r.event.plan.path for r in after if isinstance(r.event, PlanReady)] == [(SEARCH, SEARCH, DAILY)]
    assert end(after).outcome == "answered"


WRONG: list[tuple[list[dict[str, Any]], str]] = [
    ([], "at least one step"),
    ([{"tool": "no/such/tool"}], "no tool no/such/tool"),
    ([{"tool": SEARCH, "arguments": {"city": "a", "planet": "x"}}], "no parameter planet"),
    ([{"tool": SEARCH, "arguments": {"city": ["a"]}}], "city must be of type string"),
    ([{"tool": SEARCH, "named": {"city": "where"}}], "no parameter where"),
    ([{"tool": SEARCH, "arguments": {"city": "a"}}] * 9, "at most 8 steps"),
    (
        [
            {"tool": SEARCH, "arguments": {"city": "a"}},
            {"tool": NOW, "takes": {"latitude": {"step": 1, "field": "no.where"}}},
        ],
        "has no no.where",
    ),
]


def test_a_plan_with_problems_is_kept_told_and_not_carried_out(place: Place, tmp_path: Path) -> None:
    with serving(place, tmp_path / "home") as (address, _):
        ada = registered(address)
        run, _, _ = stopped(ada, WEATHER)
        for version, (steps, words) in enumerate(WRONG):
            told = put(ada, run, version, *steps)
            assert told["version"] == version + 1
            assert ada.call("GET", f"/runs/{run}/plan").json()["problems"] == told["problems"]
            assert words in " ".join(one["message"] for one in told["problems"])
            refused = ada.call("POST", f"/runs/{run}/inputs/plan-1", {"decision": "allow"})
            assert (refused.status_code, refused.json()["code"]) == (400, "usage")
            assert told["problems"][0]["message"] in refused.json()["detail"]
        named: dict[str, Any] = {
            "steps": [{"tool": SEARCH, "named": {"city": "town"}}],
            "parameters": {"town": {}, "day": {}},
        }
        body: dict[str, Any] = {"version": len(WRONG), "document": named}
        told = ada.call("PUT", f"/runs/{run}/plan", body).json()["problems"]
        assert [(one["step"], one["parameter"]) for one in told] == [(None, "town"), (None, "day")]
        refused = ada.call("POST", f"/runs/{run}/inputs/plan-1", {"decision": "allow"}).json()
        assert refused["errors"] == [
            {"place": f"document.parameters.{one['parameter']}", "message": one["message"]} for one in told
        ]
        always = ada.call("POST", f"/runs/{run}/inputs/plan-1", {"decision": "allow", "always": True})
        assert always.status_code == 400
        stands(ada, run, "waiting")
        conversation = ada.call("POST", "/conversations", {}).json()["id"]
        body = {"request": WEATHER, "planner": "react", "stop_at_plan": True}
        answer = ada.call("POST", f"/conversations/{conversation}/runs", body)
        assert (answer.status_code, answer.json()["code"]) == (400, "usage")


def test_approving_a_plan_is_the_leave_for_exactly_its_calls_and_denying_it_calls_nothing(
    fresh: Place, tmp_path: Path
) -> None:
    with serving(fresh, tmp_path / "home") as (address, _):
        ada = registered(address)
        run, before, _ = stopped(ada, WRITE)
        assert decide(ada, run, "deny") == 200
        after = ada.follow(run, after=before[-1].seq)
        assert not any(isinstance(record.event, (CallStarted, CallFinished)) for record in after)
        assert end(after).outcome == "gave_up"
        assert "its plan was not allowed" in end(after).answer
        assert effects(fresh) == []
        run, before, shown = stopped(ada, WRITE)
        (step,) = shown["document"]["steps"]
        assert {tool["id"]: tool["changes"] for tool in shown["tools"]}[CREATE] is True
        put(ada, run, 0, step | {"arguments": step["arguments"] | {"title": "Water the fig"}})
        assert decide(ada, run) == 200
        after = ada.follow(run, after=before[-1].seq)
        assert not any(isinstance(record.event, InputNeeded) for record in after)
        assert len(effects(fresh)) == 1
        assert effects(fresh)[0]["arguments"]["title"] == "Water the fig"
        open_run, _, shown = stopped(ada, WRITE)
        (step,) = shown["document"]["steps"]
        put(ada, open_run, 0, step | {"arguments": {n: v for n, v in step["arguments"].items() if n != "title"}})
        assert decide(ada, open_run) == 200
        asked = [r.event for r in ada.follow(open_run, after=len(before), until=ASKED)][-1]
        assert isinstance(asked, InputNeeded)
        assert (asked.asks, asked.tool) == ("call", CREATE)  # its title was found on the way, so nobody has seen it
    assert len(effects(fresh)) == 1


def test_a_plan_outlives_the_server_as_it_was_edited(fresh: Place, tmp_path: Path) -> None:
    """Killed while it waits with its plan, and again during the call that was approved."""
    home = tmp_path / "home"
    with serving(fresh, home) as (address, process):
        ada = registered(address)
        run, before, shown = stopped(ada, WRITE)
        stands(ada, run, "waiting")
        (step,) = shown["document"]["steps"]
        put(ada, run, 0, step | {"arguments": step["arguments"] | {"title": "Water the fig"}})
        process.kill()
        process.wait()
    with serving(fresh, home) as (address, process):
        ada.address = address
        stands(ada, run, "waiting")
        assert ada.call("GET", f"/runs/{run}/plan").json()["version"] == 1
        assert decide(ada, run) == 200
        ada.follow(run, after=before[-1].seq, until="call.started")
        process.kill()
        process.wait()
    with serving(fresh, home) as (address, _):
        ada.address = address
        everything = to_its_end(ada, fresh, run)
    assert everything[: len(before)] == before
    assert [record.seq for record in everything] == list(range(1, len(everything) + 1))
    asked = [record.event.asks for record in everything if isinstance(record.event, InputNeeded)]
    assert asked in (["plan"], ["plan", "unknown_outcome"])
    assert [one["arguments"]["title"] for one in effects(fresh)] == ["Water the fig"]
    assert sum(isinstance(record.event, CallStarted) for record in everything) == 1
