"""The server's figures: what is counted, under which labels, and who may read them."""

from datetime import UTC, datetime
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from domain.errors import UnavailableError
from domain.event import CallFinished, Event, EventRecord, RunFinished
from domain.plan import StepResult
from domain.tool import ToolId
from domain.usage import Usage
from server.storage.runs import RunChoices
from server.watching.metrics import Metrics
from tests.support.server_world import PASSWORD, World, copied, serving

Figures = dict[tuple[str, frozenset[tuple[str, str]]], float]


async def figures(world: World) -> Figures:
    answer = await world.client.get("/metrics")
    assert answer.status_code == 200, answer.text
    return parsed(answer.text)


def parsed(text: str) -> Figures:
    families = text_string_to_metric_families(text)
    return {(one.name, frozenset(one.labels.items())): one.value for family in families for one in family.samples}


def of(found: Figures, name: str, **labels: str) -> float:
    return found.get((name, frozenset(labels.items())), 0.0)


async def test_requests_are_counted_by_route_and_log_ins_that_fail(world: World) -> None:
    headers = await world.headers_of("user")
    for number in range(3):
        await world.client.get(f"/api/v1/runs/00000000-0000-7000-8000-00000000000{number}?secret=1", headers=headers)
    await world.client.get("/no/such/thing")
    await world.client.request("FANCY", "/health")
    await world.client.post("/api/v1/auth/login", json={"name": "user", "password": "wrong wrong wrong"})
    await world.client.post("/api/v1/auth/login", json={"name": "user", "password": PASSWORD})
    found = await figures(world)
    assert of(found, "footpath_http_requests_total", route="/api/v1/runs/{run_id}", method="GET", status="404") == 3
    assert of(found, "footpath_http_requests_total", route="unmatched", method="GET", status="404") == 1
    assert of(found, "footpath_http_request_seconds_count", route="/api/v1/runs/{run_id}", method="GET") == 3
    assert of(found, "footpath_login_failures_total", reason="wrong_password") == 1
    methods = {value for _, labels in found for key, value in labels if key == "method"}
    assert "FANCY" not in methods
    assert "other" in methods


async def test_runs_are_counted_from_their_events(world: World) -> None:
    storage, user = world.services.storage, world.people["user"].id
    conversation = await storage.conversations.add(user)
    run = await storage.runs.add(user, conversation.id, "a request", RunChoices(planner="dfs", policy="llm"))
    usage = Usage(by_purpose={"choose": 3}, tokens_by_purpose={"choose": 50}, prompt_tokens=40, total_seconds=2)
    called = StepResult(tool=ToolId("a/b/c"), status="ok", attempts=3, outcome="ok", http_status=204)
    told: list[Event] = [CallFinished(step=1, result=called), RunFinished(outcome="answered", answer="", usage=usage)]
    for seq, event in enumerate(told, 1):
        record = EventRecord(run=run.id, seq=seq, at=datetime.now(UTC), event=event)
        world.services.metrics.stored(run, record)
    found = await figures(world)
    assert of(found, "footpath_runs_total", outcome="answered", planner="dfs", policy="llm") == 1
    assert of(found, "footpath_tool_calls_total", outcome="ok", http_class="2xx") == 1
    assert of(found, "footpath_tool_call_retries_total") == 2
    assert of(found, "footpath_model_calls_total", purpose="choose") == 3
    assert of(found, "footpath_model_tokens_total", purpose="choose") == 50
    assert of(found, "footpath_tokens_total", direction="prompt") == 40
    assert of(found, "footpath_run_seconds_sum", stage="total", policy="llm") == 2
    assert of(found, "footpath_events_stored_total") >= 2
    assert not [labels for _, labels in found if "a/b/c" in str(labels) or run.id in str(labels)]


async def test_a_run_is_watched_to_its_end(world: World) -> None:
    """Without a store it fails; the worker tells of it all the same."""
    headers = await world.headers_of("user")
    conversation = (await world.client.post("/api/v1/conversations", json={}, headers=headers)).json()["id"]
    place = f"/api/v1/conversations/{conversation}/runs"
    run = (await world.client.post(place, json={"request": "anything", "planner": "dfs"}, headers=headers)).json()["id"]
    await world.client.get(f"/api/v1/runs/{run}/events", headers=headers)
    found = await figures(world)
    assert of(found, "footpath_runs_total", outcome="failed", planner="dfs", policy="offline") == 1
    assert of(found, "footpath_followers") == 0
    assert ("footpath_runs_open", frozenset({("status", "waiting")})) in found


async def test_a_database_that_fails_is_counted_and_the_rest_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def failing() -> dict[str, int]:
        raise UnavailableError("no database")

    monkeypatch.setattr(world.services.storage.runs, "count_open_by_status", failing)
    world.services.storage.database.on_error(UnavailableError("no database"))
    found = await figures(world)
    assert of(found, "footpath_database_errors_total", code="unavailable") == 1
    assert not [name for name, _ in found if name == "footpath_runs_open"]


@pytest.mark.parametrize(
    ("setting", "client", "headers", "status"),
    [
        ("off", "127.0.0.1", {}, 404),
        ("local", "127.0.0.1", {}, 200),
        ("local", "::1", {}, 200),
        ("local", "203.0.113.9", {}, 403),
        ("local", "not an address", {}, 403),
        ("local", "127.0.0.1", {"X-Forwarded-For": "127.0.0.1"}, 403),
        ("open", "203.0.113.9", {"Via": "a proxy"}, 200),
    ],
)
async def test_who_may_read_them(
    home: Path, tmp_path: Path, setting: str, client: str, headers: dict[str, str], status: int
) -> None:
    async with serving(copied(home, tmp_path / "home"), metrics=setting) as world:
        transport = httpx.ASGITransport(world.app, client=(client, 1))
        async with httpx.AsyncClient(transport=transport, base_url="http://server") as asking:
            assert (await asking.get("/metrics", headers=headers)).status_code == status


def test_two_servers_in_one_process_count_for_themselves() -> None:
    one, other = Metrics(), Metrics()
    one.answered("/health", "GET", 200, 0.1)
    assert b'route="/health"' in one.text({}, 0)
    assert b'route="/health"' not in other.text({}, 0)
