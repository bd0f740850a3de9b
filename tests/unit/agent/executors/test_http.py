"""The HTTP executor against real sockets on loopback: slow, huge, broken, redirecting, refusing and lying servers."""

import asyncio
import gzip
import time

import pytest

from domain.tool import Parameter
from tests.unit.agent.executors.calling import WAITS, call, executor, tool
from tests.unit.agent.executors.serving import Answer, reply, reset, serving, silence


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


@pytest.mark.parametrize(
    ("status", "keyed", "outcome"),
    [("400 Bad Request", False, "caller_fault"), ("404 Not Found", False, "gone"), ("410 Gone", False, "gone"),
     ("401 Unauthorized", False, "caller_fault"), ("401 Unauthorized", True, "gone"), ("403 Forbidden", True, "gone"),
     ("422 Unprocessable", False, "caller_fault")],
)  # fmt: skip
async def test_classes_of_refusals(status: str, keyed: bool, outcome: str) -> None:
    async with serving(reply(status, b"{}")) as served, executor(served) as made:
        key = Parameter(name="X-Api-Key", location="header")
        result = await made.call(tool(served.url, "GET", key), {"X-Api-Key": "k"} if keyed else {})
    assert (result.outcome, result.attempts) == (outcome, 1)


@pytest.mark.parametrize(
    ("answer", "body", "note"),
    [
        (reply(body=b"<html>", content_type="text/html"), "<html>", "an HTML page"),
        (reply(body=b"not json"), "not json", "declared as JSON, but is not"),
        (reply(body="é".encode("latin-1"), content_type="text/plain; charset=latin-1"), "é", ""),
        (reply(body=b"\xfe\xfd", content_type="text/plain; charset=nonsense"), "��", ""),
        (reply(body="naïve".encode("cp1252"), content_type="text/plain"), "naïve",
         "not UTF-8, and no charset is declared: read as Windows-1252"),
        (reply(body=b'{"a": "\xc3\xa9"}', content_type="text/html"), '{"a": "é"}', ""),
        (reply(body=b"[1]", content_type="image/png"), "[1]", "declared as image/png, but is JSON"),
        (reply(body=b'\xef\xbb\xbf{"a": 1}'), '{"a": 1}', ""),
        (reply(body='{"a": "\u4e2d"}'.encode("utf-16"), content_type="application/json; charset=utf-16"), '{"a": "\u4e2d"}',
         "declared as JSON, but is not"),
        (reply(body=b"a", content_type="text/plain; charset=idna"), "a", ""),
        (reply(body=gzip.compress(b"[2]"), content_encoding="gzip"), "[2]", ""),
        (reply("204 No Content", b"", content_length=""), "", ""),
        (reply("205 Reset Content", b""), "", ""),
    ],
)  # fmt: skip
async def test_kinds_of_content(answer: Answer, body: str, note: str) -> None:
    result, _ = await call(answer)
    assert (result.outcome, result.body, result.note) == ("ok", body, note)


@pytest.mark.parametrize(
    ("answer", "note"),
    [
        (reply(body=b"\x89PNG", content_type="image/png"), "binary response (image/png, 4 bytes), not kept"),
        (reply(body=b"\x00\x01", content_type=""), "binary response (no content type), not kept"),
        (reply(body=b"xx", content_encoding="br"), "the response is compressed as 'br', which was not asked for"),
        (reply(body=gzip.compress(b"x" * 999)[:-20], content_encoding="gzip"), "and cannot be decompressed"),
        (reply(body=b"not gzip", content_encoding="gzip"), "and cannot be decompressed"),
    ],
)
async def test_what_cannot_be_read_is_no_answer_but_a_write_took_effect(answer: Answer, note: str) -> None:
    result, _ = await call(answer)
    assert (result.outcome, result.body, result.attempts) == ("caller_fault", "", 1)
    assert note in result.note
    written, served = await call(answer, method="POST")
    assert (written.outcome, len(served.requests)) == ("ok", 1)
    assert note in written.note


@pytest.mark.parametrize(
    ("body", "outcome", "says"),
    [
        (b'{"error": "city not found"}', "caller_fault", "city not found"),
        (b'{"status": "error", "message": "upstream timed out"}', "transient", "upstream timed out"),
        (b'{"message": "You are not subscribed to this API."}', "transient", "You are not subscribed"),
        (
            b'{"success": false, "errors": [{"detail": "days must be a number"}]}',
            "caller_fault",
            "days must be a number",
        ),
    ],
)
async def test_an_error_in_the_body_of_a_success_is_no_answer(body: bytes, outcome: str, says: str) -> None:
    result, served = await call(reply(body=body))
    assert (result.outcome, result.http_status, len(served.requests)) == (outcome, 200, 1)
    assert f"HTTP 200, but the answer is an error: {says}" in result.note


async def test_the_error_that_a_body_tells_is_passed_on() -> None:
    result, _ = await call(reply("404 Not Found", b'{"detail": "no city is called Atlantis"}'))
    assert (result.outcome, result.note) == ("gone", 'HTTP 404; it says "no city is called Atlantis"')


@pytest.mark.parametrize(
    "head",
    [
        b"garbage\r\n\r\n",
        b"HTTP/1.1 banana OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\ncontent-length: 5\r\n\r\nabc",
        b"HTTP/1.1 200 OK\r\nx-long: " + b"y" * 300_000 + b"\r\n\r\n",
        b"HTTP/1.1 200 OK\r\n" + b"x: y\r\n" * 40_000 + b"\r\n",
    ],
)
async def test_what_is_no_http_is_no_answer(head: bytes) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(head)

    result, served = await call(answer)
    assert (result.outcome, result.attempts, len(served.requests)) == ("transient", 3, 3)
    assert "no answer (" in result.note


async def test_early_hints_are_passed_over_and_a_switch_of_protocols_is_none() -> None:
    async def hints(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n[]")

    async def switch(writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nxyz")

    result, _ = await call(hints)
    assert (result.outcome, result.body) == ("ok", "[]")
    switched, _ = await call(switch)
    assert (switched.outcome, switched.body) == ("transient", "")


async def test_not_modified_is_no_answer_and_a_head_has_no_body() -> None:
    result, _ = await call(reply("304 Not Modified", b""))
    assert (result.outcome, result.body, result.note) == ("caller_fault", "", "HTTP 304")
    head, _ = await call(reply(body=b"", content_length="500"), method="HEAD")
    assert (head.outcome, head.body, head.attempts) == ("ok", "", 1)
