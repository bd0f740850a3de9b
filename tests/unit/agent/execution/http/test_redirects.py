"""Redirects of calls: a read follows those within its origin, a write none, and the note says what to correct."""

import httpx
import pytest

from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http.guard import AddressGuard
from agent.execution.http.redirects import describe_redirect, find_next_url
from agent.execution.http.request import OutgoingRequest
from agent.execution.secret_store import EnvironmentSecrets
from domain.tool import Credential, Parameter
from tests.support.scripted_http_server import Answer, reply, serving
from tests.unit.agent.execution.http.calling import call, executor, tool


def redirect(status: str, location: str) -> Answer:
    return reply(status, b"", location=location)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "303 See Other", "307 Temporary", "308 Permanent"])
@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_a_read_follows_a_redirect_within_its_origin(status: str, method: str) -> None:
    result, served = await call(
        redirect(status, "/x/?a=1#f"), reply(body=b"" if method == "HEAD" else b"[1]"), method=method
    )
    assert (result.outcome, result.http_status, result.attempts, result.note) == ("ok", 200, 1, "")
    assert [request.split(b" HTTP")[0] for request in served.requests] == [
        f"{method} /x".encode(),
        f"{method} /x/?a=1".encode(),
    ]


async def test_keys_and_headers_go_along_within_the_origin() -> None:
    async with serving(reply("307 Temporary", b"", location="/y"), reply()) as served:
        host = f"127.0.0.1:{served.port}"
        secrets = EnvironmentSecrets({"FOOTPATH_SECRET_K": "hush", "FOOTPATH_SECRET_K_HOSTS": host})
        doc = tool(served.url + "/x", "GET", Parameter(name="X-Mode", location="header"))
        async with executor(served, secrets) as made:
            result = await made.call(
                doc.model_copy(update={"credentials": (Credential(secret="K", prefix="Bearer "),)}), {"X-Mode": "fast"}
            )
    assert result.outcome == "ok"
    for request in served.requests:
        assert b"authorization: bearer hush" in request.lower()
        assert b"x-mode: fast" in request.lower()


@pytest.mark.parametrize(
    "location",
    [
        "http://169.254.169.254/latest", "http://localhost:{port}/x/", "https://127.0.0.1:{port}/x/", "http://127.0.0.1:1/x/",
        "http://u@127.0.0.1:{port}/x/", "ftp://127.0.0.1:{port}/x/", "https://127.0.0.1/x",
    ],
)  # fmt: skip
async def test_another_origin_is_not_followed(location: str) -> None:
    async with serving(reply()) as elsewhere, executor(elsewhere) as made:
        there = location.replace("{port}", str(elsewhere.port))
        async with serving(redirect("302 Found", there)) as served:
            allowed = frozenset({f"127.0.0.1:{served.port}", f"127.0.0.1:{elsewhere.port}"})
            made = HttpExecutor(HttpParameters(timeout=5, allow_hosts=allowed))
            result = await made.call(tool(served.url + "/x"), {})
            await made.close()
    assert (result.outcome, result.http_status, len(served.requests)) == ("caller_fault", 302, 1)
    assert elsewhere.requests == []
    assert f"redirects to {there}, which is not followed" in result.note


async def test_a_circle_of_redirects_ends() -> None:
    result, served = await call(redirect("302 Found", "/x"))
    assert (result.outcome, result.attempts, len(served.requests)) == ("caller_fault", 1, 4)
    assert "redirects to /x, which is not followed" in result.note


@pytest.mark.parametrize(
    ("location", "advice"),
    [
        ("/x/", ": add a slash at the end of the path in the tool's document"),
        ("/y/", ""),
        ("/x", ""),
        ("http://elsewhere.example/x/", ""),
    ],
)
@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_a_write_is_not_followed_and_the_note_says_what_to_correct(
    method: str, location: str, advice: str
) -> None:
    result, served = await call(redirect("307 Temporary Redirect", location), reply(), method=method)
    assert (result.outcome, len(served.requests)) == ("caller_fault", 1)
    assert result.note == f"HTTP 307: redirects to {location}, which is not followed{advice}"


async def test_a_get_that_may_change_something_is_not_followed() -> None:
    async with serving(redirect("307 Temporary Redirect", "/x/"), reply()) as served, executor(served) as made:
        doc = tool(served.url + "/x").model_copy(update={"marked": "changes"})
        result = await made.call(doc, {})
    assert (result.outcome, len(served.requests)) == ("caller_fault", 1)
    assert "add a slash" in result.note


@pytest.mark.parametrize(
    ("url", "location", "keyed", "followed"),
    [
        ("http://api.example/x", "https://api.example/x", False, True),
        ("http://api.example:80/x", "https://API.example:443/y", False, True),
        ("http://api.example/x", "https://api.example/x", True, False),
        ("http://api.example/x", "https://api.example:8443/x", False, False),
        ("http://api.example/x", "https://www.api.example/x", False, False),
        ("http://inside.example/x", "https://inside.example/x", False, False),
        ("https://api.example/x", "http://api.example/x", False, False),
        ("https://api.example/x", "https://api.example:443/x/", True, True),
    ],
)
async def test_https_in_place_of_http_is_followed_without_keys(
    url: str, location: str, keyed: bool, followed: bool
) -> None:
    async def resolver(host: str, _port: int) -> list[str]:
        return ["10.0.0.1" if host == "inside.example" else "93.184.216.34"]

    response = httpx.Response(301, headers={"location": location})
    found = await find_next_url(
        response, tool(url), OutgoingRequest("GET", url, keyed=keyed), AddressGuard((), resolver)
    )
    assert (found is not None) is followed


def test_the_note_of_a_server_that_wants_https_says_so() -> None:
    note = describe_redirect("https://api.example/x", "http://api.example/x")
    assert note.endswith("which is not followed: write https in the server's address in the tool's document")
