"""The official client of the protocol, joined to our server in this process; and a store of a harbour's few tools over a small API."""

import asyncio
import atexit
import shutil
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

from mcp import ClientSession
from mcp.shared.context import RequestContext
from mcp.shared.memory import create_connected_server_and_client_session
from mcp.types import (
    CallToolResult,
    CancelledNotification,
    CancelledNotificationParams,
    ClientNotification,
    ElicitRequestParams,
    ElicitResult,
    TextContent,
)

from domain.tool import Parameter, ToolDoc, make_tool_id
from server.gateway.answers import RESULT
from server.gateway.embedded import EmbeddedBackend
from server.gateway.serving import Context, gateway_server
from tests.support.indexed_store import indexed_store
from tests.support.stream_server import serve_connections
from wiring.container import Container, open_container
from wiring.settings import Settings

SHIPS = {"ships": [{"name": "Argo", "length": 30}, {"name": "Zeemeeuw", "length": 55}]}
_NOWHERE = "http://127.0.0.1:8765"
BERTHS = {"ship": "Zeemeeuw", "number": 8}


def harbour(url: str) -> list[ToolDoc]:
    """Two tools that read and one that changes."""

    def one(api: str, description: str, *names: str, response: str, method: str = "GET") -> ToolDoc:
        parameters = tuple(Parameter(name=name, location="query", required=True) for name in names)
        return ToolDoc(
            id=make_tool_id("harbour", "Port", api), category="harbour", toolset="Port", api=api, function=api, url=f"{url}/{api}",
            method=method, description=description, parameters=parameters, response_schema=response,
        )  # fmt: skip

    ships = '{"type": "object", "properties": {"ships": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string"}, "length": {"type": "integer"}}}}}}'
    berth = '{"type": "object", "properties": {"ship": {"type": "string"}, "number": {"type": "integer"}}}'
    return [
        one("list_ships", "The ships that lie in the harbour, each with its length.", response=ships),
        one("berth_of", "The berth at which a ship lies, by the ship's name.", "ship", response=berth),
        one("book_berth", "Book a berth for a ship.", "ship", response=berth, method="POST"),
    ]


@asynccontextmanager
async def store(folder: Path, url: str) -> AsyncGenerator[Container]:
    """An embedded store of the harbour's tools at an address."""
    allowed: Any = {"allow_hosts": url.removeprefix("http://")}
    async with open_container(Settings(**allowed), await asyncio.to_thread(built, folder, url)) as container:
        yield container


def built(folder: Path, url: str) -> Path:
    """A copy of a store that is made once for a process, its tools called at this address."""
    to = Path(shutil.copytree(_template(), folder / "harbour"))
    with closing(sqlite3.connect(to / "graph.db")) as rows, rows:
        rows.execute("UPDATE document SET body = replace(body, ?, ?)", (_NOWHERE, url))
    return to


@cache
def _template() -> Path:
    folder = Path(mkdtemp(prefix="footpath-harbour-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return asyncio.run(indexed_store(folder / "store", harbour(_NOWHERE)))


class Says:
    """A person at a client, who says what they are told to say. ``asked``: what they were asked."""

    def __init__(self, *answers: dict[str, Any] | str) -> None:
        self.asked: list[str] = []
        self._answers = list(answers)

    async def __call__(self, context: RequestContext[Any, Any], params: ElicitRequestParams) -> ElicitResult:
        self.asked.append(params.message)
        answer = self._answers.pop(0)
        if isinstance(answer, str):
            return ElicitResult(action="decline" if answer == "decline" else "cancel")
        return ElicitResult(action="accept", content=answer)


@asynccontextmanager
async def client(container: Container, person: Says | None = None, **choices: Any) -> AsyncGenerator[ClientSession]:
    """A client of a server over an embedded store."""
    backend = EmbeddedBackend(container, **choices)

    async def backend_of(_: Context) -> EmbeddedBackend:
        return backend

    server = gateway_server(backend_of)
    async with create_connected_server_and_client_session(server, elicitation_callback=person) as session:
        yield session
    await backend.followed.settled()


def text(result: CallToolResult) -> str:
    """All that an answer says."""
    return "\n".join(one.text for one in result.content if isinstance(one, TextContent))


def result(answer: CallToolResult) -> dict[str, Any]:
    """The same for a program; empty where there is nothing."""
    return (answer.meta or {}).get(RESULT, {})


def last_request(session: ClientSession) -> int:
    """The id of what was asked last: the client tells it nobody."""
    return vars(session)["_request_id"] - 1


@dataclass(frozen=True, slots=True)
class SilentApi:
    """An API that is called and never answers. ``gone``: who called it has closed the connection."""

    url: str
    called: asyncio.Event
    gone: asyncio.Event


@asynccontextmanager
async def silent_api() -> AsyncGenerator[SilentApi]:
    called, gone = asyncio.Event(), asyncio.Event()

    async def hangs(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        called.set()
        assert await reader.read() == b""
        gone.set()

    async with serve_connections(hangs) as port:
        yield SilentApi(f"http://127.0.0.1:{port}", called, gone)


async def call_taken_back(session: ClientSession, api: SilentApi) -> str:
    """Call a tool of the API, take the call back once it is there, and wait until the API is left: what the client is told, in lower case."""
    calling = asyncio.create_task(session.call_tool("call_tool", {"tool": "list_ships"}))
    await api.called.wait()
    taken_back = CancelledNotificationParams(requestId=last_request(session), reason="no more")
    await session.send_notification(ClientNotification(CancelledNotification(params=taken_back)))
    await api.gone.wait()
    (answer,) = await asyncio.gather(calling, return_exceptions=True)
    return str(answer).lower()
