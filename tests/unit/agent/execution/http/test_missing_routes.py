"""404s judged against paths that cannot exist, on hosts of nine styles over real sockets."""

import json
import threading
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager

import pytest
import uvicorn
from fastapi import FastAPI, HTTPException

from agent.execution.executor import CallResult
from agent.execution.host_memory import HostAnswer, HostMemory
from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http.answer_comparison import Likeness, compare_answers
from agent.execution.secret_store import EnvironmentSecrets
from domain.tool import Credential, Parameter, ToolDoc, make_tool_id
from tests.support.route_styles import KEY, KINDS, STYLES, Reply, RouteHost, Style, route_host
from tests.support.scripted_http_server import reply, serving
from tests.unit.agent.execution.http.calling import call

GONE = {"express", "express that falls through", "catch-all page"}
"""Styles whose answer to a wrong path shows by itself that there is no such path."""
ABSENT = {"fastapi", "express", "express that falls through", "nginx", "json with codes", "spring", "catch-all page"}
"""Styles whose answer to a wrong value can be told from that to a wrong path."""


@asynccontextmanager
async def calling(memory: HostMemory | None = None, key: str = KEY, owner: str = "") -> AsyncGenerator[HttpExecutor]:
    secrets = EnvironmentSecrets({"FOOTPATH_SECRET_HARBOUR": key, "FOOTPATH_SECRET_HARBOUR_HOSTS": "127.0.0.1"})
    parameters = HttpParameters(allow_hosts=frozenset({"127.0.0.1"}), attempts=1)
    executor = HttpExecutor(parameters, secrets=secrets, memory=memory, owner=owner)
    try:
        yield executor
    finally:
        await executor.close()


async def asked(host: RouteHost, *names: str, wrong: bool = False) -> list[CallResult]:
    async with calling() as executor:
        return [await executor.call(host.tool(wrong=wrong), {"name": name}) for name in names]


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
async def test_a_wrong_path_is_gone_or_undecided_and_never_absent(style: Style) -> None:
    with route_host(style) as host:
        found = await asked(host, "anna", "zeta", wrong=True)
    assert {one.outcome for one in found} == {"gone" if style.name in GONE else "undecided"}
    assert all("path" in one.note for one in found)


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
async def test_a_wrong_value_is_absent_or_undecided_and_never_gone(style: Style) -> None:
    with route_host(style) as host:
        found = await asked(host, "zeta", "omega")
    assert {one.outcome for one in found} == {"absent" if style.name in ABSENT else "undecided"}


@pytest.mark.parametrize("style", STYLES, ids=lambda style: style.name)
async def test_a_tool_that_has_answered_has_its_path(style: Style) -> None:
    with route_host(style) as host:
        good, missed = await asked(host, "anna", "zeta")
    assert (good.outcome, missed.outcome) == ("ok", "absent")


async def test_a_host_is_asked_without_keys_and_once_for_many_calls_and_users() -> None:
    style = next(one for one in STYLES if one.name == "guarded")
    memory = HostMemory()
    with route_host(style) as host:
        for _ in range(3):
            async with calling(memory) as executor:
                for kind in KINDS:
                    for name in ("x1", "x2", "x3"):
                        await executor.call(host.tool(kind, wrong=True), {"name": name})
        ours = [request for request in host.asked if not request[2]]
        theirs = [request for request in host.asked if request[2]]
    assert len(theirs) == 36
    assert len(ours) == 1 + len(KINDS)  # the path that cannot exist, and OPTIONS of each tool's own
    assert not any(name in path for method, path, _ in ours for name in ("x1", "x2", "x3") if method != "OPTIONS")


async def test_what_a_tool_answered_before_is_not_known_to_the_gate_and_what_hosts_answer_is() -> None:
    memory = HostMemory()
    with route_host(STYLES[-1]) as host:
        async with calling(memory) as executor:
            assert (await executor.call(host.tool(), {"name": "anna"})).outcome == "ok"
            assert (await executor.call(host.tool(), {"name": "zeta"})).outcome == "absent"
        before = len(host.asked)
        async with calling(memory.copy_without_history()) as executor:
            assert (await executor.call(host.tool(), {"name": "zeta"})).outcome == "undecided"
        assert len(host.asked) == before + 1


async def test_an_answer_that_a_host_does_not_give_leaves_it_undecided_and_is_not_asked_for_again_at_once() -> None:
    memory, calls = HostMemory(now=lambda: clock[0]), 0
    clock = [0.0]

    async def silent() -> HostAnswer | None:
        nonlocal calls
        calls += 1
        return None

    for _ in range(5):
        assert await memory.get_or_fetch_answer(("GET", "here"), silent) is None
    assert calls == 1
    clock[0] = 61.0
    await memory.get_or_fetch_answer(("GET", "here"), silent)
    assert calls == 2


@pytest.mark.parametrize(
    ("first", "second", "likeness"),
    [
        ('{"error": "not found"}', '{"error": "not found"}', "same"),
        ('{"error": "not found", "id": "a8f0-1"}', '{"id": "b7c1-9", "error": "not found"}', "same"),
        ('{"error": "not found"}', '{"error": "no such ship"}', "different"),
        ('{"error": "not found"}', '{"message": "not found"}', "different"),
        ('{"error": "not found", "code": 7}', '{"error": "not found", "code": 9}', "unclear"),
        ('{"error": "not found", "at": 1764354000}', '{"error": "not found", "at": 1764354999}', "same"),
        ("No route for /v1/ships/anna", "No route for /v1/qwertz/asdfgh", "same"),
        ("ships not found", "ships not found", "same"),
        ("", "", "same"),
        ("", "not found", "different"),
        ("<p>not found</p>", "not found", "different"),
        ('<a href="/v1/ships/anna">x</a><i nonce="Ab3">Not found here, sorry</i>', '<a href="/v1/qwertz/asdfgh">x</a><i nonce="Xy9">Not found here, sorry</i>', "same"),
    ],
)  # fmt: skip
def test_answers_are_compared_by_what_they_say(first: str, second: str, likeness: Likeness) -> None:
    own = HostAnswer(404, first, "GET", "/v1/ships/anna", ("ships", "anna"))
    assert compare_answers(own, HostAnswer(404, second, "GET", "/v1/qwertz/asdfgh", ("qwertz", "asdfgh"))) == likeness


@contextmanager
def fastapi_host() -> Generator[str]:
    """A real application of FastAPI that says of a missing ship what FastAPI says of a missing path."""
    app = FastAPI()

    @app.get("/ships/{name}")
    def ship(name: str) -> dict[str, str]:
        raise HTTPException(404)

    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


async def test_fastapi_itself_shows_by_options_that_a_path_exists() -> None:
    def tool(address: str, path: str) -> ToolDoc:
        name = Parameter(name="name", location="path", required=True)
        return ToolDoc(id=make_tool_id("c", "t", path), category="c", toolset="t", api=path, function="f", url=f"{address}/{path}/{{name}}",
                       parameters=(name,))  # fmt: skip

    with fastapi_host() as address:
        async with calling() as executor:
            right = await executor.call(tool(address, "ships"), {"name": "anna"})
            wrong = await executor.call(tool(address, "boats"), {"name": "anna"})
    assert (right.body, right.outcome) == ('{"detail":"Not Found"}', "absent")
    assert (wrong.body, wrong.outcome) == ('{"detail":"Not Found"}', "undecided")


async def test_a_408_counts_and_a_read_is_tried_again_before_it_does() -> None:
    result, served = await call(reply("408 Request Timeout", b"{}"))
    assert (result.outcome, result.attempts, len(served.requests)) == ("transient", 3, 3)


async def refused(memory: HostMemory, key: str, owner: str, url: str) -> str:
    tool = RouteHost("http://unused", next(one for one in STYLES if one.needs_key)).tool()
    async with calling(memory, key, owner) as executor:
        return (await executor.call(tool.model_copy(update={"url": url + "/{name}"}), {"name": "anna"})).outcome


async def test_a_403_counts_only_once_independent_owners_were_refused() -> None:
    async with serving(reply("403 Forbidden", b"{}")) as served:
        shared = HostMemory()
        assert [await refused(shared, "one key", f"user {n}", served.url) for n in range(9)] == ["refused"] * 9
        one_owner = HostMemory()
        assert [await refused(one_owner, f"key {n}", "eve", served.url) for n in range(9)] == ["refused"] * 9
        unknown = HostMemory()
        assert [await refused(unknown, f"key {n}", "", served.url) for n in range(9)] == ["refused"] * 9
        independent = HostMemory()
        outcomes = [await refused(independent, f"key {n}", f"user {n}", served.url) for n in range(4)]
    assert outcomes == ["refused", "refused", "transient", "transient"]


async def test_a_key_that_is_let_in_takes_the_refusals_before_it_back() -> None:
    memory = HostMemory()
    no, yes = reply("403 Forbidden", b"{}"), reply()
    async with serving(no, no, yes, no) as served:
        outcomes = [await refused(memory, f"key {n}", f"user {n}", served.url) for n in range(5)]
    assert outcomes == ["refused", "refused", "ok", "refused", "refused"]


def _gateway(_: str, path: str) -> Reply:
    """A gateway with a service below it, which has words of its own for the paths that it lacks."""
    if path.startswith("/v1/old-ships/"):
        return 404, "application/json", '{"fault": "the fleet service has no such operation"}'
    return 404, "text/plain", "no upstream"


async def test_words_of_a_service_below_a_gateway_do_not_show_that_its_path_exists() -> None:
    with route_host(Style("gateway", _gateway, _gateway)) as host:
        (found,) = await asked(host, "anna", wrong=True)
    assert found.outcome == "undecided"


def _router(method: str, path: str) -> Reply:
    return 404, "application/json", json.dumps({"message": f"Route {method}:{path} not found", "statusCode": 404})


async def test_a_key_in_the_query_that_a_router_repeats_is_no_difference_and_is_not_shown() -> None:
    with route_host(Style("router", _router, _router)) as host:
        key = Credential(secret="harbour", place="query", name="api_key")
        tool = host.tool(wrong=True).model_copy(update={"credentials": (key,)})
        async with calling() as executor:
            found = await executor.call(tool, {"name": "anna"})
        assert [KEY in path for _, path, _ in host.asked] == [True, False, False]
    assert (found.outcome, KEY in found.body + found.note) == ("gone", False)


async def test_a_write_is_judged_by_reads_alone() -> None:
    with route_host(STYLES[1]) as host:
        tool = host.tool(wrong=True).model_copy(update={"method": "POST"})
        async with calling() as executor:
            found = await executor.call(tool, {"name": "anna"})
        assert [method for method, _, _ in host.asked] == ["POST", "GET", "OPTIONS"]
    assert found.outcome == "gone"
