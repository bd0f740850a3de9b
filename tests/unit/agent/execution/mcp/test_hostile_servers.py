"""Servers that do what they should not: every call ends, in time, with what is known, and the process goes on."""

import asyncio
import logging
from time import monotonic

import pytest

from agent.execution.mcp import McpExecutor
from agent.execution.secret_store import EnvironmentSecrets
from domain.errors import ForbiddenAddressError
from domain.tool import Credential
from tests.support.mcp_servers import served, sessions, tool
from tests.unit.agent.execution.mcp.hostile import Asked, Does, Hostile, drip, flood, half, hang_up, usual


async def elsewhere(one: Asked) -> None:
    await one.status(307, location="http://169.254.169.254/latest/meta-data/")


async def found_elsewhere(one: Asked) -> None:
    await one.status(302, location="http://169.254.169.254/latest/meta-data/")


async def broken(one: Asked) -> None:
    await one.status(500, "no")


async def no_json(one: Asked) -> None:
    await one.begin()
    await one.body(b"<html>")


async def other_id(one: Asked) -> None:
    await one.begin()
    await one.body(b'{"jsonrpc": "2.0", "id": 77, "result": {}}')


async def page(one: Asked) -> None:
    await one.begin(kind="text/html")
    await one.body(b"<html>")


async def accepted(one: Asked) -> None:
    await one.status(202)


async def no_result(one: Asked) -> None:
    await one.answer({"content": "text"})


async def deep(one: Asked) -> None:
    await one.begin()
    await one.body(b'{"jsonrpc": "2.0", "id": %d, "result": ' % one.id + b"[" * 5000 + b"]" * 5000 + b"}")


CASES: list[tuple[Does, str, str, str]] = [
    (
        elsewhere,
        "caller_fault",
        "caller_fault",
        "redirects to http://169.254.169.254/latest/meta-data/, which is not followed",
    ),
    (found_elsewhere, "caller_fault", "caller_fault", "which is not followed"),
    (broken, "transient", "unknown", "HTTP 500"),
    (no_json, "transient", "unknown", "no answer to the question"),
    (other_id, "transient", "unknown", "no answer to the question"),
    (deep, "transient", "unknown", "no answer to the question"),
    (page, "transient", "unknown", "answers with text/html"),
    (accepted, "transient", "unknown", "without an answer"),
    (no_result, "transient", "unknown", "not in the protocol's form"),
    (hang_up, "transient", "unknown", "broke off"),
    (drip, "transient", "unknown", "no answer in time"),
    (flood, "transient", "unknown", "longer than 100000 bytes"),
    (half, "transient", "unknown", ""),
]


@pytest.mark.parametrize(("does", "read", "change", "note"), CASES, ids=lambda case: getattr(case, "__name__", None))
async def test_a_call_ends_with_what_is_known(
    does: Does, read: str, change: str, note: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.CRITICAL, "uvicorn.error")
    server = Hostile({"tools/call": does})
    async with served(server) as at, sessions(seconds=2 if does is drip else 20, limit=100_000) as ours:
        executor = McpExecutor(ours)
        changing = await executor.call(tool(f"{at}/mcp", "any"), {})
        assert (changing.outcome, changing.attempts) == (change, 1), changing.note
        assert note in changing.note
        assert len(server.of("tools/call")) == 1
        reading = await executor.call(tool(f"{at}/mcp", "any", marked="reads"), {})
        assert reading.outcome == read, reading.note
        assert all("169.254" not in one.headers.get("host", "") for one in server.asked)


async def test_one_call_that_fails_takes_no_other_along() -> None:
    begun = asyncio.Event()

    async def does(one: Asked) -> None:
        if one.params["name"] == "bad":
            await one.status(500)
            return
        begun.set()
        await asyncio.sleep(0.2)
        await one.answer({"content": [{"type": "text", "text": "good"}]})

    server = Hostile({"tools/call": does})
    async with served(server) as at, sessions() as ours:
        executor = McpExecutor(ours)
        waiting = asyncio.create_task(executor.call(tool(f"{at}/mcp", "good"), {}))
        await begun.wait()
        assert (await executor.call(tool(f"{at}/mcp", "bad"), {})).outcome == "unknown"
        assert (await waiting).body == "good"
        assert len(server.of("initialize")) == 1


async def test_a_server_that_hangs_up_on_listeners_is_listened_to_no_faster() -> None:
    async def ends(one: Asked) -> None:
        await one.begin(kind="text/event-stream")
        await one.body(b"retry: 0\n\n")

    server = Hostile(listen=ends)
    async with served(server) as at, sessions() as ours:
        began = monotonic()
        await McpExecutor(ours).call(tool(f"{at}/mcp", "any"), {})
        await asyncio.sleep(0.5)
        assert 1 <= server.listened <= 1 + (monotonic() - began), "once a second at most, whatever the server wishes"


async def test_no_key_comes_back_in_an_answer_or_a_log(caplog: pytest.LogCaptureFixture) -> None:
    async def echo(one: Asked) -> None:
        await one.answer({"content": [{"type": "text", "text": f"you sent {one.headers['x-key']}"}]})

    async def garbage(one: Asked) -> None:
        await one.begin(kind="text/event-stream")
        await one.body(f"event: message\ndata: {one.headers['x-key']}\n\n".encode())

    caplog.set_level(logging.DEBUG)
    keyed = {"credentials": (Credential(secret="k", name="X-Key"),)}
    secrets = EnvironmentSecrets({"FOOTPATH_SECRET_K": "s3cret-key", "FOOTPATH_SECRET_K_HOSTS": "127.0.0.1"})
    server = Hostile({"tools/call": echo})
    async with served(server) as at, sessions() as ours:
        executor = McpExecutor(ours, secrets=secrets)
        found = await executor.call(tool(f"{at}/mcp", "any", **keyed), {})
        assert found.body == "you sent [secret]"
        assert [(one.reference, one.origin) for one in found.secrets] == [("k", "secret")]
        assert server.of("tools/call")[0].headers["x-key"] == "s3cret-key"
        server.does["tools/call"] = garbage
        await executor.call(tool(f"{at}/mcp", "any", **keyed), {})
    assert "s3cret-key" not in caplog.text


async def test_a_key_that_is_refused_and_one_that_is_missing_are_told() -> None:
    async def refuses(one: Asked) -> None:
        await one.status(401)

    keyed = {"credentials": (Credential(secret="k", name="X-Key"),)}
    server = Hostile({"initialize": refuses})
    async with served(server) as at, sessions() as ours:
        missing = await McpExecutor(ours).call(tool(f"{at}/mcp", "any", **keyed), {})
        assert (missing.outcome, missing.attempts) == ("caller_fault", 0)
        assert "FOOTPATH_SECRET_K" in missing.note
        assert server.asked == []
        secrets = EnvironmentSecrets({"FOOTPATH_SECRET_K": "s3cret-key", "FOOTPATH_SECRET_K_HOSTS": "127.0.0.1"})
        refused = await McpExecutor(ours, secrets=secrets).call(tool(f"{at}/mcp", "any", **keyed), {})
        assert (refused.outcome, refused.http_status) == ("refused", 401)


async def test_a_name_that_leads_inside_is_refused() -> None:
    async def lies(_host: str, _port: int) -> list[str]:
        return ["169.254.169.254"]

    async with sessions() as ours:
        ours.guard = type(ours.guard)((), lies)
        with pytest.raises(ForbiddenAddressError, match=r"harbour\.example"):
            await McpExecutor(ours).call(tool("https://harbour.example/mcp", "any"), {})


async def test_a_pause_that_is_asked_for_is_kept() -> None:
    async def busy(one: Asked) -> None:
        await one.status(429, retry_after="60")

    server = Hostile({"tools/call": busy})
    async with served(server) as at, sessions() as ours:
        executor = McpExecutor(ours)
        first = await executor.call(tool(f"{at}/mcp", "any"), {})
        assert (first.outcome, first.http_status) == ("transient", 429)
        second = await executor.call(tool(f"{at}/mcp", "any"), {})
        assert "asks not to be called" in second.note
        assert len(server.of("tools/call")) == 1


class Renewed(EnvironmentSecrets):
    """Obtains another value where one was refused."""

    def __init__(self) -> None:
        super().__init__({})
        self.held = "old"

    async def get_value(self, name: str, host: str, port: int, *, encrypted: bool) -> str | None:
        return self.held

    async def replace_refused(self, name: str, value: str) -> bool:
        self.held = "new"
        return value != "new"


@pytest.mark.parametrize(("method", "changed", "made"), [("initialize", "ok", 2), ("tools/call", "refused", 1)])
async def test_a_key_that_is_refused_is_obtained_anew(method: str, changed: str, made: int) -> None:
    async def wants_new(one: Asked) -> None:
        if one.headers["x-key"] != "new":
            await one.status(401)
        else:
            await usual(one)

    keyed = {"credentials": (Credential(secret="k", name="X-Key"),)}
    server = Hostile({method: wants_new})
    async with served(server) as at, sessions() as ours:
        change = await McpExecutor(ours, secrets=Renewed()).call(tool(f"{at}/mcp", "any", **keyed), {})
        assert (change.outcome, change.attempts) == (changed, made), change.note
        read = await McpExecutor(ours, secrets=Renewed()).call(tool(f"{at}/mcp", "any", marked="reads", **keyed), {})
        assert read.outcome == "ok"
