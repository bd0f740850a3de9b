"""Bodies of answers: charsets, content types, compression, errors in a success, what is no HTTP at all."""

import asyncio
import gzip

import pytest

from tests.support.scripted_http_server import Answer, reply
from tests.unit.agent.execution.http.calling import call


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
        (b'{"message": "You are not subscribed to this API."}', "caller_fault", "You are not subscribed"),
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


@pytest.mark.parametrize("depth", [300, 1_000, 10_000])
async def test_an_answer_that_is_nested_too_deeply_fails_a_read_and_not_a_write(depth: int) -> None:
    body = b'{"id": "tsk_1", "deep": ' + b"[" * depth + b"]" * depth + b"}"
    result, _ = await call(reply(body=body))
    assert (result.outcome, result.body, result.attempts) == ("caller_fault", "", 1)
    assert "nested deeper than 250 levels" in result.note
    written, served = await call(reply("201 Created", body), method="POST")
    assert (written.outcome, written.body, len(served.requests)) == ("ok", "", 1)
    assert "nested deeper than 250 levels" in written.note


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
