"""No call reaches an address that is not public, by whatever words a document or an argument asks for it."""

from collections import Counter

import httpcore
import pytest

from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http import guarded_client as transports
from domain.errors import ForbiddenAddressError, InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Parameter
from tests.support.forbidden_addresses import PUBLIC, URLS, asking, name_server, resolve_as_told
from tests.support.scripted_http_server import reply, serving
from tests.unit.agent.execution.http.calling import call, executor, tool


def test_the_corpus_has_every_kind_of_disguise() -> None:
    kinds = Counter(one["why"] for one in URLS)
    assert len(kinds) >= 20
    assert min(kinds.values()) >= 4
    assert len({one["url"] for one in URLS}) == len(URLS)


@pytest.mark.parametrize("url", [one["url"] for one in URLS])
async def test_the_corpus_is_refused(url: str) -> None:
    made = HttpExecutor(HttpParameters(timeout=2, attempts=1), resolver=resolve_as_told)
    try:
        with pytest.raises((ForbiddenAddressError, InvalidArgumentsError)):
            await made.call(tool(url), {})
    finally:
        await made.close()


async def test_what_is_public_would_be_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """The corpus is refused for what it is, not because nothing passes."""
    connected = _recorded(monkeypatch)
    made = HttpExecutor(HttpParameters(timeout=2, attempts=1), resolver=resolve_as_told)
    result = await made.call(tool("http://api.example.com/x"), {})
    await made.close()
    assert (connected, result.outcome) == ([PUBLIC], "transient")


def _recorded(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses that connections are made to; each is refused there."""
    connected: list[str] = []

    class Recording(httpcore.AnyIOBackend):
        async def connect_tcp(self, host: str, *_given: object, **_named: object) -> httpcore.AsyncNetworkStream:
            connected.append(host)
            raise httpcore.ConnectError("refused")

    monkeypatch.setattr(transports, "_create_network_backend", Recording)
    return connected


async def test_rebinding_gains_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name server answers publicly first and with loopback from then on: the connection goes to what was checked."""
    connected = _recorded(monkeypatch)
    async with serving(reply()) as served, name_server({"rebind.example.com": [PUBLIC, "127.0.0.1"]}) as names:
        made = HttpExecutor(HttpParameters(timeout=5, attempts=3, first_wait=0.01), resolver=asking(names))
        with pytest.raises(ForbiddenAddressError, match=r"rebind\.example\.com \(127\.0\.0\.1\) is not a public"):
            await made.call(tool(f"http://rebind.example.com:{served.port}/"), {})
        await made.close()
    assert connected == [PUBLIC]
    assert names.asked == ["rebind.example.com"] * 2
    assert served.requests == []


async def test_each_connection_is_resolved_once_and_goes_there() -> None:
    """Asked twice, this name server would say something else: there is no second question between check and use."""
    async with (
        serving(reply()) as served,
        name_server({"api.example.com": ["127.0.0.1", "10.0.0.1"]}) as names,
    ):
        allowed = frozenset({f"api.example.com:{served.port}"})
        made = HttpExecutor(HttpParameters(timeout=5, allow_hosts=allowed), resolver=asking(names))
        result = await made.call(tool(f"http://api.example.com:{served.port}/x"), {})
        await made.close()
    assert (result.outcome, names.asked, len(served.requests)) == ("ok", ["api.example.com"], 1)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("place", ["inside", "http://169.254.169.254/latest/", "//127.0.0.1/", "file:///etc/passwd"])
async def test_a_redirect_is_told_and_not_followed(status: str, place: str) -> None:
    async with serving(reply()) as inside:
        target = inside.url + "/secret" if place == "inside" else place
        result, served = await call(reply(status, b"", location=target))
        assert inside.requests == []
    assert len(served.requests) == 1
    assert "not followed" in result.note


ARGUMENTS: list[JsonObject] = [
    {"id": "../../etc"}, {"id": "..%2f..%2fadmin"}, {"id": "%2e%2e/%2e%2e"}, {"id": "x/../../y"}, {"id": "//evil.example/"},
    {"id": "@evil.example/"}, {"id": ":80@evil.example"}, {"id": "x?y=1#z"}, {"id": "x\r\nHost: evil.example"}, {"id": "\\\\evil"},
    {"id": "http://evil.example/"}, {"id": "x", "q": "a&admin=1"}, {"id": "x", "q": "a#b"}, {"id": "x", "q": "a\r\nX-Evil: 1"},
    {"id": "x", "q": "a HTTP/1.1\r\nHost: evil.example\r\n\r\n"}, {"id": "x", "X-Mode": "a\r\nHost: evil.example"},
    {"id": "x", "X-Mode": "a\nX-Evil: 1"}, {"id": "x", "X-Mode": "a\u2028b"}, {"id": "x", "Host": "evil.example"},
    {"id": "x", "Content-Length": "0"}, {"id": "x", "Transfer-Encoding": "chunked"}, {"id": "x", "c": "1; admin=1"},
    {"id": "x", "c": "1\r\nX-Evil: 1"}, {"id": ["a", "../b"]}, {"id": {"..": ".."}}, {"id": "x", "b": {"a": "\r\n"}}, {"id": ""},
    {"id": "x", "q": ["a", "&admin=1"]}, {"id": "x", "url": "http://127.0.0.1/"}, {"id": "x", "host": "evil.example"},
]  # fmt: skip
PLACED = (
    Parameter(name="id", location="path"), Parameter(name="q"), Parameter(name="X-Mode", location="header"),
    Parameter(name="Host", location="header"), Parameter(name="Content-Length", location="header"),
    Parameter(name="Transfer-Encoding", location="header"), Parameter(name="c", location="cookie"), Parameter(name="b", location="body"),
)  # fmt: skip


@pytest.mark.parametrize("arguments", ARGUMENTS, ids=repr)
async def test_arguments_stay_where_the_document_puts_them(arguments: JsonObject) -> None:
    """Refused, or one request to the document's host, below the document's path, without a header or parameter more."""
    async with serving(reply()) as served, executor(served) as made:
        try:
            await made.call(tool(served.url + "/a/{id}/b", "POST", *PLACED), arguments)
        except InvalidArgumentsError:
            assert served.requests == []
            return
    (request,) = served.requests
    lines = request.partition(b"\r\n\r\n")[0].decode().split("\r\n")
    method, target, version = lines[0].split(" ")
    path, _, query = target.partition("?")
    assert (method, version) == ("POST", "HTTP/1.1")
    assert path.startswith("/a/")
    assert path.endswith("/b")
    assert path.count("/") == 3
    assert ".." not in path
    assert {pair.partition("=")[0] for pair in query.split("&") if pair} <= set(arguments)
    names = [line.partition(":")[0].lower() for line in lines[1:]]
    assert set(names) <= {"host", "user-agent", "accept", "accept-encoding", "connection", "content-type", "content-length",
                          "x-mode", "cookie"}  # fmt: skip
    assert len(names) == len(set(names))
    assert f"host: 127.0.0.1:{served.port}" in [line.lower() for line in lines]
    cookies = next((line.partition(": ")[2] for line in lines if line.lower().startswith("cookie:")), "")
    assert cookies.count("=") <= 1 or ";" not in cookies
