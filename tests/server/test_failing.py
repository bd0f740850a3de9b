"""What nobody foresaw is in the log once, with the request's id and the traceback, whoever serves the application."""

import asyncio
import io
import logging
import socket
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
import uvicorn
from starlette.responses import StreamingResponse

from server.watching.logs import set_up
from tests.support.server_world import World
from wiring.settings import Settings


@pytest.fixture
def written() -> Iterator[io.StringIO]:
    """What is written to the log, in lines of text; by uvicorn as well, whatever a server before this one made of its loggers."""
    logger, stream = logging.getLogger(), io.StringIO()
    before, level = logger.handlers[:], logger.level
    own = [logging.getLogger(name) for name in ("uvicorn", "uvicorn.error")]
    kept = [(one, one.handlers[:], one.propagate) for one in own]
    for one in own:
        one.handlers, one.propagate = [], True
    set_up(Settings(), {}, stream)
    yield stream
    logger.handlers[:] = before
    logger.setLevel(level)
    for one, handlers, propagate in kept:
        one.handlers, one.propagate = handlers, propagate


@pytest.fixture
async def address(world: World) -> AsyncIterator[str]:
    """Of a server with operations that fail: before an answer, and in the middle of one."""

    async def fails() -> None:
        raise ValueError("cannot go on")

    async def breaks() -> StreamingResponse:
        async def parts() -> AsyncIterator[bytes]:
            yield b"a beginning"
            await asyncio.sleep(0)
            raise ValueError("cannot go on")

        return StreamingResponse(parts())

    world.app.add_api_route("/fails", fails)
    world.app.add_api_route("/breaks", breaks)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = uvicorn.Server(uvicorn.Config(world.app, log_config=None, access_log=False, lifespan="off"))
        served = asyncio.create_task(server.serve(sockets=[listener]))
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        server.should_exit = True
        await served


async def test_what_fails_is_told_once(address: str, written: io.StringIO) -> None:
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
        answer = await client.get("/fails", headers={"X-Request-ID": "q-1"})
        assert (answer.status_code, answer.json()["code"]) == (500, "internal")
        assert answer.headers["X-Request-ID"] == "q-1"
        assert (await client.get("/health")).status_code == 200
    text = written.getvalue()
    (line,) = [one for one in text.splitlines() if " error   " in one]
    assert line.endswith("server.problems request=q-1: GET /fails failed")
    assert text.count("ValueError: cannot go on") == 1


async def test_what_breaks_off_is_told_once(address: str, written: io.StringIO) -> None:
    async with httpx.AsyncClient(base_url=address, trust_env=False) as client:
        with pytest.raises(httpx.RemoteProtocolError):
            await client.get("/breaks", headers={"X-Request-ID": "q-2"})
        assert (await client.get("/health")).status_code == 200
    text = written.getvalue()
    told, closed = [one for one in text.splitlines() if " error   " in one]
    assert told.endswith("server.problems request=q-2: GET /breaks failed")
    assert closed.endswith("uvicorn.error: ASGI callable returned without completing response.")
    before, _, after = text.partition(closed)
    assert ("ValueError: cannot go on" in before, "Traceback" in after) == (True, False)
