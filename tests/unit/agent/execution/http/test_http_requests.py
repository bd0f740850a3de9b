"""What the HTTP executor sends, where to, and what it refuses to send."""

import errno
import socket
from collections.abc import Awaitable, Callable

import pytest

from agent.execution.call_cache import CachingExecutor
from agent.execution.http import HttpExecutor, HttpParameters
from domain.errors import ForbiddenAddressError, InvalidArgumentsError
from domain.tool import Parameter
from tests.support.scripted_http_server import reply, reset, serving
from tests.unit.agent.execution.http.calling import Hurried, call, executor, tool


async def test_values_go_where_the_document_puts_them() -> None:
    parameters = (
        Parameter(name="id", location="path"),
        Parameter(name="q"),
        Parameter(name="X-Mode", location="header"),
        Parameter(name="n", type="integer", location="body"),
    )
    async with serving(reply()) as served, executor(served) as made:
        await made.call(
            tool(served.url + "/a/{id}?v=1#f", "POST", *parameters), {"id": "x/y.z", "q": "1", "X-Mode": "fast", "n": 3}
        )
    head, _, body = served.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /a/x%2Fy.z?v=1&q=1 HTTP/1.1")
    assert b"x-mode: fast" in head.lower()
    assert body == b'{"n": 3}'


async def test_a_place_in_the_url_may_be_spelled_in_other_case() -> None:
    async with serving(reply()) as served, executor(served) as made:
        await made.call(
            tool(served.url + "/a/{newsid}", "GET", Parameter(name="newsID", location="path")), {"newsID": 7}
        )
    assert served.requests[0].startswith(b"GET /a/7 HTTP/1.1")


@pytest.mark.parametrize(
    "value", ["..", ".", "../admin", "a/../../b", "..%2fadmin", "%2e%2e", "..\\x", "..;x", ".. /x", ""]
)
async def test_a_path_value_cannot_climb(value: str) -> None:
    async with serving(reply()) as served, executor(served) as made:
        with pytest.raises(InvalidArgumentsError, match="id stands in the path"):
            await made.call(tool(served.url + "/a/{id}"), {"id": value})
    assert served.requests == []


@pytest.mark.parametrize("value", ["a\r\nX-Evil: 1", "a\nb", "é"])
async def test_a_header_value_cannot_break_out(value: str) -> None:
    async with serving(reply()) as served, executor(served) as made:
        with pytest.raises(InvalidArgumentsError, match="X-Name"):
            await made.call(tool(served.url, "GET", Parameter(name="X-Name", location="header")), {"X-Name": value})
    assert served.requests == []


async def test_an_argument_cannot_choose_the_host() -> None:
    async with serving(reply()) as served, executor(served) as made:
        with pytest.raises(ForbiddenAddressError, match="choose the host"):
            await made.call(tool("http://{host}/x"), {"host": f"127.0.0.1:{served.port}"})
    assert served.requests == []


async def test_loopback_is_refused_unless_it_is_opened() -> None:
    async with serving(reply()) as served:
        made = HttpExecutor(HttpParameters(timeout=2))
        with pytest.raises(ForbiddenAddressError, match=f"add 127.0.0.1:{served.port} to the setting allow_hosts"):
            await made.call(tool(served.url), {})
        await made.close()
    assert served.requests == []


def _rebinding(answers: list[list[str]]) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolver(_host: str, _port: int) -> list[str]:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    return resolver


async def test_a_name_that_resolves_to_loopback_is_never_connected_to() -> None:
    async with serving(reply()) as served:
        made = HttpExecutor(HttpParameters(timeout=2), resolver=_rebinding([["127.0.0.1"]]))
        with pytest.raises(ForbiddenAddressError, match=r"rebind\.example\.com \(127\.0\.0\.1\)"):
            await made.call(tool(f"http://rebind.example.com:{served.port}/"), {})
        await made.close()
    assert served.requests == []


async def test_the_connection_goes_to_the_checked_address_with_the_names_host_header() -> None:
    resolved: list[str] = []

    async def once(host: str, _port: int) -> list[str]:
        resolved.append(host)
        return ["127.0.0.1"]

    async with serving(reply()) as served:
        allowed = frozenset({f"api.example.com:{served.port}"})
        made = HttpExecutor(HttpParameters(timeout=2, allow_hosts=allowed), resolver=once)
        result = await made.call(tool(f"http://api.example.com:{served.port}/x"), {})
        await made.close()
    assert result.outcome == "ok"
    assert resolved == ["api.example.com"]
    assert f"host: api.example.com:{served.port}".encode() in served.requests[0].lower()


async def test_a_name_that_does_not_exist_says_nothing_of_the_tool() -> None:
    made = HttpExecutor(HttpParameters(timeout=2), clock=Hurried())
    result = await made.call(tool("http://nowhere.invalid/"), {})
    await made.close()
    assert (result.outcome, result.attempts) == ("unreached", 1)
    assert "could not be resolved" in result.note
    assert "which says nothing of the tool" in result.note


@pytest.mark.parametrize(
    ("error", "outcome"),
    [
        (OSError(errno.ENETUNREACH, "Network is unreachable"), "unreached"),
        (OSError(errno.EHOSTUNREACH, "No route to host"), "unreached"),
        (socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"), "unreached"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "transient"),
    ],
)
async def test_a_network_that_is_down_at_this_end_is_not_the_tools_fault(error: OSError, outcome: str) -> None:
    async def down(host: str, port: int) -> list[str]:
        raise error

    made = HttpExecutor(HttpParameters(timeout=2), resolver=down, clock=Hurried())
    result = await made.call(tool("http://api.example.com/", "POST"), {})
    await made.close()
    assert (result.outcome, result.reached) == (outcome, False)


async def test_cookies_are_neither_kept_nor_sent() -> None:
    flood = "\r\n".join(f"Set-Cookie: c{n}={'x' * 400}; Domain=example.com; Path=/" for n in range(50))
    answer = reply(set_cookie=f"session=planted; Domain=example.com; Path=/\r\n{flood}")

    async def local(host: str, port: int) -> list[str]:
        return ["127.0.0.1"]

    async with serving(answer, reply(), reply()) as served:
        hosts = [f"{name}.example.com:{served.port}" for name in ("evil", "api")]
        made = HttpExecutor(HttpParameters(timeout=2, allow_hosts=frozenset(hosts)), resolver=local)
        for host in (hosts[0], hosts[0], hosts[1]):
            await made.call(tool(f"http://{host}/x"), {})
        await made.close()
    assert len(served.requests) == 3
    assert not any(b"cookie" in request.lower() for request in served.requests)


async def test_the_environments_proxy_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    result, served = await call(reply())
    assert (result.outcome, len(served.requests)) == ("ok", 1)


async def test_a_tool_without_a_url_says_what_to_do() -> None:
    made = HttpExecutor()
    with pytest.raises(InvalidArgumentsError, match="use the replay executor"):
        await made.call(tool(""), {})
    await made.close()


async def test_every_attempt_of_a_repeatable_write_carries_the_same_key_and_the_next_call_another() -> None:
    async with serving(reset, reply()) as served, executor(served) as made:
        keyed = tool(served.url + "/x", "POST").model_copy(update={"idempotency_header": "Idempotency-Key"})
        first = await made.call(keyed, {})
        await made.call(keyed, {})
    keys = [
        line.partition(": ")[2]
        for request in served.requests
        for line in request.decode().split("\r\n")
        if line.lower().startswith("idempotency-key:")
    ]
    assert (first.outcome, first.attempts, len(keys)) == ("ok", 2, 3)
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) == 36


async def test_a_pause_that_one_call_is_told_holds_for_the_next() -> None:
    async with (
        serving(reply("503 Service Unavailable", b"{}", retry_after="60"), reply()) as served,
        executor(served) as made,
    ):
        first = await made.call(tool(served.url + "/x"), {})
        second = await made.call(tool(served.url + "/y"), {})
    assert (first.outcome, first.attempts, len(served.requests)) == ("transient", 1, 1)
    assert (second.outcome, second.attempts) == ("transient", 0)
    assert "not called: the host asks not to be called for another" in second.note


@pytest.mark.parametrize(
    "url",
    ["http://[::1/x", "http://a:99999999/x", "//x", "http:///x", "http://exa mple/x", "http://xn--a/", f"http://{'a' * 300}.com/",
     "http://a..b/x", "http://.invalid/"],
)  # fmt: skip
async def test_a_url_that_is_none_is_refused_in_words(url: str) -> None:
    made = CachingExecutor(HttpExecutor(HttpParameters(timeout=2), clock=Hurried()))
    with pytest.raises((ForbiddenAddressError, InvalidArgumentsError), match="URL"):
        await made.call(tool(url), {})
    await made.close()
