"""The HTTP executor against real sockets on loopback: slow, huge, broken, redirecting, refusing and lying servers."""

import asyncio
import gzip
import time

import pytest

from domain.tool import Parameter
from tests.support.scripted_http_server import reply, reset, serving, silence
from tests.unit.agent.execution.http.calling import WAITS, call, executor, tool


async def test_an_answer_is_text_with_its_status() -> None:
    result, served = await call(reply(body=b'{"a": 1}'), arguments={"q": "a b&c=d", "n": [1, 2], "flag": True})
    assert (result.outcome, result.body, result.http_status, result.attempts, result.note) == (
        "ok",
        '{"a": 1}',
        200,
        1,
        "",
    )
    assert served.requests[0].startswith(b"GET /x?q=a%20b%26c%3Dd&n=1&n=2&flag=true HTTP/1.1")
    assert f"host: 127.0.0.1:{served.port}".encode() in served.requests[0].lower()


async def test_a_huge_body_is_cut_and_not_read_on() -> None:
    async def endless(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 52428800\r\n\r\n")
        for _ in range(800):
            writer.write(b"x" * 65_536)
            await writer.drain()
            seen.append(65_536)

    seen: list[int] = []
    result, _ = await call(endless, response_limit=20_000)
    assert (result.outcome, len(result.body), result.note) == ("ok", 20_000, "cut at 20000 bytes")
    assert sum(seen) < 20_000_000


async def test_a_compression_bomb_is_cut() -> None:
    bomb = gzip.compress(b"0" * 30_000_000)
    result, _ = await call(reply(body=bomb, content_encoding="gzip"), response_limit=50_000)
    assert (result.outcome, len(result.body)) == ("ok", 50_000)
    assert "cut" in result.note


async def test_a_slow_server_is_left_in_time() -> None:
    started = time.perf_counter()
    result, served = await call(silence, timeout=0.4)
    assert (result.outcome, result.body) == ("transient", "")
    assert "no answer in time" in result.note
    assert time.perf_counter() - started < 2.5
    assert served.requests


async def test_a_dripping_server_is_left_in_time() -> None:
    async def drip(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 1000\r\n\r\n")
        for _ in range(1000):
            writer.write(b"x")
            await writer.drain()
            await asyncio.sleep(0.05)

    result, _ = await call(drip, timeout=0.5)
    assert result.outcome == "transient"


async def test_a_truncated_answer_is_asked_again() -> None:
    result, served = await call(reply(body=b'{"a":', content_length="500"), reply(body=b'{"a": 2}'))
    assert (result.outcome, result.body, result.attempts, len(served.requests)) == ("ok", '{"a": 2}', 2, 2)


async def test_a_truncated_answer_of_a_write_is_kept_and_its_effect_unknown() -> None:
    result, served = await call(reply(body=b'{"a":', content_length="500"), method="POST")
    assert (result.outcome, result.body, len(served.requests)) == ("unknown", '{"a":', 1)
    assert "HTTP 200; the response broke off" in result.note
    assert "it was not repeated" in result.note


async def test_a_redirect_is_not_followed() -> None:
    result, served = await call(reply("302 Found", b"", location="http://169.254.169.254/latest"))
    assert (result.outcome, result.http_status, len(served.requests)) == ("caller_fault", 302, 1)
    assert "redirects to http://169.254.169.254/latest, which is not followed" in result.note


async def test_too_many_requests_waits_as_long_as_it_is_told() -> None:
    result, served = await call(reply("429 Too Many Requests", b"{}", retry_after="3"), reply())
    assert (result.outcome, result.attempts, len(served.requests)) == ("ok", 2, 2)
    assert WAITS == [3.0]


async def test_a_server_that_asks_for_too_long_is_not_waited_for() -> None:
    result, served = await call(reply("429 Too Many Requests", b"{}", retry_after="3600"))
    assert (result.outcome, result.attempts, len(served.requests)) == ("transient", 1, 1)
    assert "asks to wait: 3600" in result.note


async def test_an_error_then_an_answer() -> None:
    result, served = await call(reply("500 Internal Server Error", b"{}"), reply(body=b"[1]"))
    assert (result.outcome, result.body, result.attempts, len(served.requests)) == ("ok", "[1]", 2, 2)
    assert len(WAITS) == 1
    assert 0 <= WAITS[0] <= 8


async def test_three_attempts_and_no_more() -> None:
    result, served = await call(reply("503 Service Unavailable", b"{}"))
    assert (result.outcome, result.attempts, len(served.requests)) == ("transient", 3, 3)
    assert "given up after 3 attempts" in result.note


@pytest.mark.parametrize(("method", "times", "outcome"), [("GET", 3, "transient"), ("PUT", 3, "unknown"), ("DELETE", 3, "unknown"),
                                                          ("POST", 1, "unknown"), ("PATCH", 1, "unknown")])  # fmt: skip
async def test_a_lost_answer_is_repeated_only_where_that_is_safe(method: str, times: int, outcome: str) -> None:
    result, served = await call(reset, method=method)
    assert (result.outcome, len(served.requests), result.attempts) == (outcome, times, times)
    assert ("not known whether it took effect" in result.note) == (outcome == "unknown")


@pytest.mark.parametrize(
    ("status", "outcome"),
    [("500 Internal Server Error", "unknown"), ("502 Bad Gateway", "unknown"), ("504 Gateway Timeout", "unknown"),
     ("503 Service Unavailable", "transient"), ("501 Not Implemented", "transient"), ("429 Too Many Requests", "transient")],
)  # fmt: skip
async def test_a_write_that_the_server_did_not_finish_is_not_repeated(status: str, outcome: str) -> None:
    result, served = await call(reply(status, b"{}"), method="POST")
    assert (result.outcome, len(served.requests)) == (outcome, 1)


async def test_a_write_that_a_first_attempt_may_have_done_is_not_said_to_have_failed() -> None:
    result, served = await call(reset, reply("404 Not Found", b'{"error": "no such booking"}'), method="DELETE")
    assert (result.outcome, result.http_status, len(served.requests)) == ("unknown", 404, 2)
    assert "an earlier attempt may have taken effect" in result.note


async def test_a_repeatable_write_that_succeeds_in_the_end_has_succeeded() -> None:
    result, served = await call(reset, reply(), method="PUT")
    assert (result.outcome, result.attempts, len(served.requests)) == ("ok", 2, 2)


async def test_a_refused_connection_sent_nothing_so_a_write_may_be_tried_again() -> None:
    async with serving(reply()) as served, executor(served) as made:
        url = served.url
    closed = tool(url + "/x", "POST")
    result = await made.call(closed, {})
    await made.close()
    assert (result.outcome, result.attempts) == ("transient", 3)


async def test_a_404_that_every_path_gets_is_gone_only_without_values_of_the_calls_own() -> None:
    fixed = Parameter(name="format", default="json")
    for arguments, outcome in (({"q": "Atlantis"}, "undecided"), ({"format": "json"}, "gone"), ({}, "gone")):
        async with serving(reply("404 Not Found", b"{}")) as served, executor(served) as made:
            result = await made.call(tool(served.url, "GET", Parameter(name="q"), fixed), {**arguments})
        assert result.outcome == outcome
    async with serving(reply("410 Gone", b"{}")) as served, executor(served) as made:
        assert (await made.call(tool(served.url, "GET", Parameter(name="q")), {"q": "x"})).outcome == "gone"


@pytest.mark.parametrize(
    ("status", "keyed", "outcome"),
    [("400 Bad Request", False, "caller_fault"), ("404 Not Found", False, "gone"), ("410 Gone", False, "gone"),
     ("401 Unauthorized", False, "caller_fault"), ("401 Unauthorized", True, "refused"), ("403 Forbidden", True, "refused"),
     ("422 Unprocessable", False, "caller_fault")],
)  # fmt: skip
async def test_classes_of_refusals(status: str, keyed: bool, outcome: str) -> None:
    async with serving(reply(status, b"{}")) as served, executor(served) as made:
        key = Parameter(name="X-Api-Key", location="header")
        result = await made.call(tool(served.url, "GET", key), {"X-Api-Key": "k"} if keyed else {})
    assert (result.outcome, result.attempts) == (outcome, 1)
