"""The faults by name: what the proxy does to a request, and in which words the table tells it."""

import asyncio
from collections.abc import Mapping

from tests.support.fault_proxy import FIFTY_MB, Exchange, Fault, flood, parts, passing

OK_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


async def _late(exchange: Exchange) -> None:
    response = await exchange.forward()
    await asyncio.sleep(0.1)
    await exchange.send(response)


async def _silent(exchange: Exchange) -> None:
    await exchange.forward()
    await asyncio.sleep(60)


async def _reset_before(exchange: Exchange) -> None:
    exchange.reset()


async def _reset_after(exchange: Exchange) -> None:
    await exchange.forward()
    exchange.reset()


async def _reset_once(exchange: Exchange) -> None:
    if exchange.number > 1:
        await passing(exchange)
    else:
        await _reset_after(exchange)


async def _reset_in_body(exchange: Exchange) -> None:
    head, body = parts(await exchange.forward())
    await exchange.send(head + body[:5], pause=0.2)
    exchange.reset()


async def _truncated(exchange: Exchange) -> None:
    response = await exchange.forward()
    await exchange.send(response[:-4])


async def _half_closed(exchange: Exchange) -> None:
    head, _ = parts(await exchange.forward())
    await exchange.send(head)
    exchange.client.write_eof()
    await asyncio.sleep(0.5)


async def _too_long(exchange: Exchange) -> None:
    _, body = parts(await exchange.forward())
    await exchange.send(OK_HEAD + f"content-length: {len(body) - 5}\r\nconnection: close\r\n\r\n".encode() + body)


async def _busy_once(exchange: Exchange) -> None:
    if exchange.number > 1:
        await passing(exchange)
    else:
        await exchange.answer("429 Too Many Requests", retry_after="2")


async def _busy(exchange: Exchange) -> None:
    await exchange.answer("429 Too Many Requests", retry_after="600")


async def _failing_once(exchange: Exchange) -> None:
    if exchange.number > 1:
        await passing(exchange)
    else:
        await exchange.answer("500 Internal Server Error")


async def _failing_after(exchange: Exchange) -> None:
    await exchange.forward()
    await exchange.answer("500 Internal Server Error")


async def _bad_gateway(exchange: Exchange) -> None:
    await exchange.forward()
    await exchange.answer("502 Bad Gateway")


async def _unavailable(exchange: Exchange) -> None:
    await exchange.answer("503 Service Unavailable")


async def _dripping(exchange: Exchange) -> None:
    head, body = parts(await exchange.forward())
    await exchange.send(head)
    for byte in body:
        await exchange.send(bytes((byte,)), pause=0.2)


async def _huge(exchange: Exchange) -> None:
    await exchange.forward()
    await flood(exchange, OK_HEAD + f"content-length: {FIFTY_MB}\r\nconnection: close\r\n\r\n".encode(), FIFTY_MB)


async def _garbage(exchange: Exchange) -> None:
    await exchange.forward()
    await exchange.send(b"ICY 200 hello\r\n\r\n")


async def _error_in_success(exchange: Exchange) -> None:
    await exchange.answer("200 OK", b'{"status": "error", "message": "the storage is read-only"}')


FAULTS: Mapping[str, Fault] = {
    "none": passing,
    "delay of 0.1 s": _late,
    "no answer, after it was done": _silent,
    "reset, before it was done": _reset_before,
    "reset, after it was done": _reset_after,
    "reset after it was done, then none": _reset_once,
    "reset in the middle of the body": _reset_in_body,
    "body truncated by four bytes": _truncated,
    "half-closed after the headers": _half_closed,
    "content-length five bytes short": _too_long,
    "429 with Retry-After: 2, then none": _busy_once,
    "429 with Retry-After: 600": _busy,
    "500, then none": _failing_once,
    "500, after it was done": _failing_after,
    "502, after it was done": _bad_gateway,
    "503": _unavailable,
    "a byte every 0.2 s": _dripping,
    "body of 50 MB": _huge,
    "garbage for a status line": _garbage,
    "an error in the body of a 200": _error_in_success,
}
