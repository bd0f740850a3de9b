"""Model services of administrators: tried before they are kept, asked by runs while they are on line, their keys told to nobody else."""

import asyncio
import logging
from pathlib import Path
from typing import Any

import httpx
import pytest

from domain.model_service import NewModelService, ServiceTest
from server.models.following import ModelFollower
from server.storage.storage import Storage
from tests.models.openai_replies import WEB_PAGE, ChatRequest, Hangs, Reply
from tests.models.openai_server import ModelServer, model_server
from tests.models.rule_based import RuleBasedModel
from tests.support.indexed_store import indexed_store
from tests.support.server_world import World, copied, serving
from tests.support.small_world import TOOLS
from wiring.container import open_container
from wiring.served_models import ServedModels

KEY = "sk-of-the-large-one"


def body_of(server: ModelServer, **others: object) -> dict[str, Any]:
    usual = {"name": "large", "address": server.url, "model": server.model, "own_network": True, "key": KEY}
    return usual | {"price_prompt": 1.0, "price_completion": 2.0} | others


async def sent(world: World, method: str, path: str, body: object = None) -> httpx.Response:
    return await world.client.request(method, f"/api/v1{path}", json=body, headers=await world.headers_of("admin"))


async def ended(world: World, request: str, **choices: str) -> dict[str, Any]:
    """A run that was asked for, as it is when it has ended, with its events."""
    talk = (await sent(world, "POST", "/conversations", {})).json()["id"]
    asked = {"request": request, "policy": "llm", "planner": "dfs", **choices}
    answer = await sent(world, "POST", f"/conversations/{talk}/runs", asked)
    assert answer.status_code == 202, answer.text
    run = answer.json()
    while run["status"] != "finished":
        await asyncio.sleep(0.02)
        run = (await sent(world, "GET", f"/runs/{run['id']}")).json()
    events = await world.services.storage.events.list_after(run["id"])
    return run | {"events": [one.body for one in events]}


async def test_one_that_works_is_kept_and_its_key_is_told_to_nobody(
    world: World, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with model_server(RuleBasedModel(), api_key=KEY) as server:
        tried = (await sent(world, "POST", "/models/test", body_of(server))).json()
        assert tried["works"], tried
        assert tried["listed"]
        assert tried["seconds"] > 0
        assert tried["decision_cost"] > 0
        asked = len(server.requests)
        made = await sent(world, "POST", "/models", body_of(server))
        assert made.status_code == 201, made.text
        assert len(server.requests) == asked, "what was just tried is not tried again"
        one = made.json()
        assert (one["has_key"], one["online"], one["tested"]["works"]) == (True, True, True)
        elsewhere = body_of(server, key=None, version=1, address="http://127.0.0.1:1/v1", online=False)
        refused = await sent(world, "PUT", f"/models/{one['id']}", elsewhere)
        assert refused.status_code == 400, "a kept key is sent to the host that it was given for, and no other"
        changed = await sent(world, "PUT", f"/models/{one['id']}", body_of(server, key=None, version=1, name="larger"))
        assert (changed.status_code, changed.json()["has_key"], changed.json()["version"]) == (200, True, 2)
        late = await sent(world, "PUT", f"/models/{one['id']}", body_of(server, key=None, version=1))
        assert late.status_code == 409, "somebody has changed it meanwhile"
        told = (await sent(world, "GET", "/models")).text + (await sent(world, "GET", "/audit")).text
    assert "larger" in told
    assert KEY not in told + caplog.text + made.text
    assert await asyncio.to_thread(files_with, tmp_path, KEY) == []


def files_with(folder: Path, key: str) -> list[Path]:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return [path for path in files if key.encode() in path.read_bytes()]


def hangs(_: ChatRequest) -> Reply:
    return Hangs()


def web_page(_: ChatRequest) -> Reply:
    return WEB_PAGE


@pytest.mark.parametrize(
    ("respond", "others", "failure", "said"),
    [
        (RuleBasedModel(), {"key": "sk-wrong"}, "key", "another key"),
        (RuleBasedModel(), {"model": "unknown"}, "model", "no model is called"),
        (RuleBasedModel(), {"own_network": False}, "forbidden", "tick “It is on this machine or in our own network”"),
        (RuleBasedModel(), {"address": "http://169.254.169.254/v1"}, "forbidden", "no setting allows a call to it"),
        (RuleBasedModel(), {"address": "http://127.0.0.1:9/v1"}, "connection", "nothing answers"),
        (hangs, {"parameters": {"timeout": 0.3}}, "timeout", "no answer in time"),
        (web_page, {}, "protocol", "OpenAI"),
    ],
    ids=["wrong key", "unknown model", "own network", "metadata", "dead", "slow", "nonsense"],
)
async def test_one_that_fails_is_kept_off_line_only(
    world: World, respond: Any, others: dict[str, object], failure: str, said: str
) -> None:
    async with model_server(respond, api_key=KEY) as server:
        body = body_of(server, **others)
        refused = await sent(world, "POST", "/models", body)
        assert (refused.status_code, said in refused.json()["detail"]) == (409, True), refused.text
        made = (await sent(world, "POST", "/models", body | {"online": False})).json()
        assert (made["online"], made["tested"]["works"], made["tested"]["failure"]) == (False, False, failure)
        assert KEY not in refused.text + str(made)
        online = await sent(world, "PUT", f"/models/{made['id']}/online", {"online": True})
        assert online.status_code == 409, "it is tried again, and fails again"


async def test_an_embedding_service_is_asked_at_its_own_addresses_and_its_error_names_the_field(world: World) -> None:
    async with model_server(RuleBasedModel(), api_key=KEY) as server:
        body = body_of(
            server, kind="embedding", address=f"{server.url}/nowhere", price_prompt=None, price_completion=None
        )
        tried = (await sent(world, "POST", "/models/test", body)).json()
        assert tried["failure"] == "address", tried
        assert "set its field Address to the whole address" in tried["error"]
        assert "FOOTPATH" not in str(tried)


async def test_runs_ask_what_is_on_line_when_they_begin(home: Path, tmp_path: Path) -> None:
    store = await indexed_store(tmp_path / "store", TOOLS)
    async with (
        serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as world,
        model_server(RuleBasedModel(), api_key=KEY) as first,
        model_server(RuleBasedModel()) as second,
    ):
        one = (await sent(world, "POST", "/models", body_of(first))).json()
        two = (await sent(world, "POST", "/models", body_of(second, name="small", key=None, price_prompt=None))).json()
        choices = (await sent(world, "GET", "/choices")).json()
        assert (choices["models"], choices["default_model"]) == (["large", "small"], "large")

        async def asked(**choices: str) -> tuple[int, int, dict[str, Any]]:
            """How often each was asked by a run, and the run."""
            before = len(first.requests), len(second.requests)
            run = await ended(world, "What is the weather in Oslo?", **choices)
            return len(first.requests) - before[0], len(second.requests) - before[1], run

        to_first, to_second, run = await asked()
        assert (to_first > 0, to_second) == (True, 0)
        usage = run["usage"]
        paid = (usage["prompt_tokens"] + 2 * usage["completion_tokens"]) / 1_000_000
        assert usage["cost"] == pytest.approx(paid)
        assert (await sent(world, "GET", "/me/usage")).json()["cost"]["used"] == pytest.approx(paid)
        assert KEY not in "".join(run["events"])

        await sent(world, "PUT", "/models/purposes/default", {"service_id": two["id"]})
        to_first, to_second, run = await asked()
        assert (to_first, to_second > 0, run["usage"]["cost"]) == (0, True, None)
        to_first, to_second, _ = await asked(model="large")
        assert (to_first > 0, to_second) == (True, 0)

        await sent(world, "PUT", "/models/purposes/answers", {"service_id": one["id"]})
        shown = (await sent(world, "GET", "/models")).json()
        used = {line["purpose"]: line["used"] for line in shown["purposes"]}
        assert (used["default"], used["answers"], used["programs"]) == ("small", "large", "small")
        assert (await asked())[1] > 0

        await sent(world, "PUT", f"/models/{two['id']}/online", {"online": False})
        to_first, to_second, _ = await asked()
        assert (to_first > 0, to_second) == (True, 0), "what is off line is asked no more"
        gone = await sent(world, "DELETE", f"/models/{one['id']}")
        assert gone.status_code == 204
        assert (await sent(world, "GET", "/choices")).json()["models"] == []


async def test_a_service_that_breaks_is_stood_in_for(home: Path, tmp_path: Path) -> None:
    store = await indexed_store(tmp_path / "store", TOOLS)
    async with serving(await asyncio.to_thread(copied, home, tmp_path / "home"), store=store) as world:
        async with model_server(RuleBasedModel(), api_key=KEY) as server:
            made = await sent(world, "POST", "/models", body_of(server))
            assert made.status_code == 201
        run = await ended(world, "What is the weather in Oslo?")
        events = "".join(run["events"])
        assert "policy.fell_back" in events
        assert "nothing answers" in events
        assert KEY not in events


async def test_two_servers_on_the_same_rows_follow(world: World, tmp_path: Path) -> None:
    """Each has followers of its own; what one keeps, the other asks from its next run on, and what was chosen and is gone nobody stands in for."""
    settings, storage = world.services.settings, world.services.storage
    async with open_container(settings, tmp_path / "other", create=True) as container:
        served = [ServedModels(settings, container.shared_model) for _ in range(2)]
        followers = [ModelFollower(storage, one) for one in served]
        made = await kept(storage)
        for follower in followers:
            await follower.follow()
        assert [one.create_policy("local").name for one in served] == ["llm", "llm"]
        assert [one.is_current(made) for one in served] == [True, True]
        found = served[0].get_chat_model("gate")
        assert found is not None
        assert (found[0].name, found[1]) == ("any", 60.0)
        running = served[1].create_policy()
        await storage.model_services.set_online(made.id, "admin", online=False)
        for follower in followers:
            await follower.follow()
        assert [one.get_chat_model("gate") for one in served] == [None, None]
        assert running.name == "llm", "a run that asks it goes on"
        for one in served:
            await one.close()


async def kept(storage: Storage) -> Any:
    new = NewModelService(
        kind="chat", name="local", provider="other", address="http://127.0.0.1:9/v1", own_network=True, model="any", online=True
    )  # fmt: skip
    return await storage.model_services.add(new, KEY, ServiceTest(works=True), "admin")
