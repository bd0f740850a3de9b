"""Stores whose tools have paths that do not exist, and honest misses of many users, on hosts of nine styles. ``-s`` shows the figures."""

import json
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from admission.probe import ToolProbe
from agent.execution.approval import AllowChangesApprover
from agent.execution.host_memory import HostMemory
from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.secret_store import EnvironmentSecrets
from agent.learning.learner import learn_from_run
from domain.event import CallFinished
from domain.model import JsonObject
from domain.plan import StepResult
from domain.tool import ToolDoc
from graph.backends.in_memory import InMemoryGraph
from graph.weights import compute_availability
from tests.support.route_styles import KEY, KINDS, STYLES, RouteHost, Style, route_host
from tests.unit.agent.learning.test_lesson import executed, finished, records
from wiring.container import open_container
from wiring.runs import build_budget, build_run_deps, run_and_learn
from wiring.settings import Settings
from wiring.store_build import BuildOptions, build

SECRETS = {"FOOTPATH_SECRET_HARBOUR_KEY": KEY, "FOOTPATH_SECRET_HARBOUR_KEY_HOSTS": "127.0.0.1"}
DECIDED_BY_FORM = {"fastapi", "express", "express that falls through", "nginx", "json with codes", "spring", "catch-all page"}  # fmt: skip
each_style = pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)


def executor(memory: HostMemory | None = None) -> HttpExecutor:
    secrets = EnvironmentSecrets(
        SECRETS | {"FOOTPATH_SECRET_HARBOUR": KEY, "FOOTPATH_SECRET_HARBOUR_HOSTS": "127.0.0.1"}
    )
    return HttpExecutor(
        HttpParameters(allow_hosts=frozenset({"127.0.0.1"}), attempts=1), secrets=secrets, memory=memory
    )


def with_example(tool: ToolDoc, name: str) -> ToolDoc:
    (parameter,) = tool.parameters
    return tool.model_copy(update={"parameters": (parameter.model_copy(update={"example": name}),)})


@each_style
async def test_a_wrong_path_never_passes_the_gate(style: Style) -> None:
    verdicts: dict[str, str] = {}
    with route_host(style) as host:
        tries: list[tuple[str, ToolDoc, JsonObject | None]] = [
            ("wrong path, example", with_example(host.tool(wrong=True), "anna"), None),
            ("wrong path, given", host.tool(wrong=True), {"name": "anna"}),
            ("right path, no such thing", with_example(host.tool(), "zeta"), None),
            ("right path", with_example(host.tool(), "anna"), None),
        ]
        for what, tool, given in tries:
            calls = executor()
            found = await ToolProbe(calls).call_tool(tool, given)
            await calls.close()
            verdicts[what] = found.findings[-1].verdict
            if what.startswith("wrong"):
                assert "path" in found.findings[-1].told + found.findings[-1].advice
    print(f"gate | {style.name} | {verdicts}")
    assert (verdicts["wrong path, example"], verdicts["wrong path, given"], verdicts["right path"]) == ("failed", "failed", "passed")  # fmt: skip
    assert verdicts["right path, no such thing"] == ("warned" if style.name in DECIDED_BY_FORM else "failed")


def catalogue(host: RouteHost) -> dict[str, Any]:
    """A document of four operations whose paths the host does not have."""
    key: dict[str, Any] = {"security": [{"key": []}]} if host.style.needs_key else {}
    schemes = {"key": {"type": "apiKey", "in": "header", "name": "X-Api-Key"}}
    paths = {
        f"/v1/old-{kind}/{{name}}": {
            "get": {
                "operationId": f"get_{kind}",
                "summary": f"Details of one of the {kind} of the harbour by its name",
                "tags": ["Harbour"],
                "parameters": [{"name": "name", "in": "path", "required": True, "description": f"Name of one of the {kind}", "schema": {"type": "string"}}],
                "responses": {"200": {"description": "ok", "content": {"application/json": {"schema": {"type": "object", "properties": {"name": {"type": "string"}, "length": {"type": "integer"}}}}}}},
                **key,
            }
        }
        for kind in KINDS
    }  # fmt: skip
    return {"openapi": "3.0.3", "info": {"title": "Harbour", "version": "1"}, "servers": [{"url": host.address}], "paths": paths,
            "components": {"securitySchemes": schemes}}  # fmt: skip


@each_style
async def test_a_dead_store_is_recognised_within_five_runs(
    style: Style, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Five requests over a real store by the walk, each in a process of its own as far as hosts are remembered."""
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)
    store = tmp_path / "store"
    with route_host(style) as host:
        (tmp_path / "harbour.json").write_text(json.dumps(catalogue(host)), encoding="utf-8")
        settings = Settings(store=store, allow_hosts=frozenset({host.address.removeprefix("http://")}))
        await build(
            BuildOptions(tools=(tmp_path / "harbour.json",), store=store), lambda stage, done, total: None, settings
        )
        course: list[dict[str, str]] = []
        for at, (kind, name) in enumerate(
            zip((*KINDS, "ships"), ("Anna", "Oslo", "Bertha", "Clara", "Dora"), strict=True)
        ):
            async with open_container(settings, store) as container:
                deps = await build_run_deps(container, "offline", "http", "dfs", approver=AllowChangesApprover())
                request = f'Give me the details of one of the {kind} of the harbour with the name "{name}"'
                made = [
                    one.event async for one in run_and_learn(request, deps, build_budget(container), name=f"run {at}")
                ]
                nodes = {tool.rpartition("_")[2]: facts async for tool, facts in container.graph.stream_nodes()}
                calls = [one.result for one in made if isinstance(one, CallFinished) and one.result.attempts]
                course.append({kind: f"{compute_availability(facts) or -1:.2f}" for kind, facts in nodes.items() if compute_availability(facts) is not None})  # fmt: skip
                print(f"dead | {style.name} | run {at + 1} | {[(c.tool.rpartition('_')[2], c.outcome) for c in calls]} | {course[-1]}")  # fmt: skip
    assert course[-1].keys() == set(KINDS)
    assert all(float(value) < 0.1 for value in course[-1].values())


@each_style
async def test_five_hundred_honest_misses_of_twenty_users_change_nothing(style: Style) -> None:
    graph, memory = InMemoryGraph(), HostMemory()
    with route_host(style) as host:
        tools = [host.tool(kind) for kind in KINDS]
        await graph.put_tools(tools)
        async with AsyncExitStack() as stack:
            users = [executor(memory) for _ in range(20)]
            for one in users:
                stack.push_async_callback(one.close)
            seen: dict[str, int] = {}

            async def ask(tool: ToolDoc, name: str, user: int, run: str) -> None:
                answer = await users[user].call(tool, {"name": name})
                seen[answer.outcome] = seen.get(answer.outcome, 0) + 1
                status = "ok" if answer.outcome == "ok" else "failed"
                result = StepResult(tool=tool.id, arguments={"name": name}, status=status, outcome=answer.outcome, attempts=1,
                                    http_status=answer.http_status, response=answer.body)  # fmt: skip
                told = records(*executed([result]), finished("answered" if status == "ok" else "gave_up"))
                await learn_from_run([one.model_copy(update={"run": run}) for one in told], graph, user=f"user {user}")

            if (
                style.name not in DECIDED_BY_FORM
            ):  # what the host says decides nothing: what the tools answered before does
                for tool in tools:
                    await ask(tool, "anna", 0, f"good {tool.id}")
            before = {tool: facts async for tool, facts in graph.stream_nodes()}
            edges = [edge async for edge in graph.stream_edges()]
            for at in range(500):
                await ask(tools[at % 4], f"missing {at}", at % 20, f"miss {at}")
            after = {tool: facts async for tool, facts in graph.stream_nodes()}
            extra = len(host.asked) - sum(seen.values())
    print(f"honest | {style.name} | {seen} | requests besides the calls: {extra} | changed: {after != before}")
    assert after == before
    assert [edge async for edge in graph.stream_edges()] == edges
    assert extra < 20
