"""A local stand-in for a hosted model: speaks OpenAI's protocol over a real socket; who answers is given.

``GET /v1/models``, ``POST /v1/embeddings`` and ``POST /v1/chat/completions``, whole or as server-sent events, with a usage chunk
where it is asked for.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.models.openai_replies import (
    NO_MODEL,
    WRONG_KEY,
    ChatRequest,
    Hangs,
    Refuses,
    Reply,
    Resets,
    Respond,
    Says,
    Sends,
    as_reply,
    pieces,
)
from tests.models.openai_writing import answer_body, event, head, stream_events
from tests.models.word_vectors import word_embeddings
from tests.support.stream_server import open_in_thread, serve_connections

EVERYTHING = frozenset({"json_schema", "json_object", "usage", "stream_options", "temperature", "max_tokens"})


@dataclass
class ModelServer:
    """A running server. ``requests``: what it was asked, in order. ``supports``: what it does not refuse with 400."""

    respond: Respond
    model: str = "rules"
    api_key: str = ""
    supports: frozenset[str] = EVERYTHING
    port: int = 0
    embed: Respond = word_embeddings
    requests: list[ChatRequest] = field(default_factory=list[ChatRequest])

    @property
    def url(self) -> str:
        """What belongs in ``FOOTPATH_MODEL_URL``."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, one request."""
        method, request = await _read(reader)
        reply = self._reply(method, request)
        if method == "GET" and isinstance(reply, Says):
            await _write(writer, Sends(reply.text.encode()), request)
        else:
            await _write(writer, reply, request)

    def _reply(self, method: str, request: ChatRequest) -> Reply:
        if request.path not in ("/v1/models", "/v1/chat/completions", "/v1/embeddings"):
            return Sends(b"404 page not found", 404, "text/plain")
        if self.api_key and request.headers.get("authorization") != f"Bearer {self.api_key}":
            return WRONG_KEY
        if request.path == "/v1/models" and method == "GET":
            listed = {"object": "list", "data": [{"id": self.model, "object": "model"}]}
            return Says(json.dumps(listed))
        self.requests.append(request)
        if request.body.get("model") != self.model:
            return NO_MODEL
        if request.path == "/v1/embeddings":
            return as_reply(self.embed(request))
        return self._refused(request) or as_reply(self.respond(request))

    def _refused(self, request: ChatRequest) -> Refuses | None:
        """What this server does not know, told the way such servers tell it."""
        if request.response_format != "text" and request.response_format not in self.supports:
            return Refuses(400, f"'response_format' of type '{request.response_format}' is not supported")
        for name in ("temperature", "max_tokens", "stream_options"):
            if name in request.body and name not in self.supports:
                return Refuses(400, f"Unsupported parameter: '{name}' is not supported with this model.")
        return None


async def _read(reader: asyncio.StreamReader) -> tuple[str, ChatRequest]:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = lines[0].split(" ", 2)
    named = (line.partition(":") for line in lines[1:] if line)
    headers = {name.strip().lower(): value.strip() for name, _, value in named}
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    parsed: dict[str, Any] = json.loads(body) if body else {}
    return method, ChatRequest(path, headers, parsed)


async def _write(writer: asyncio.StreamWriter, reply: Reply, request: ChatRequest) -> None:
    match reply:
        case Refuses():
            error = {"error": {"message": reply.message, "type": "error", "code": reply.code, "param": None}}
            body = json.dumps(error).encode()
            writer.write(head(reply.status, "application/json", len(body), reply.headers) + body)
        case Sends():
            writer.write(head(reply.status, reply.content_type, len(reply.body), reply.headers) + reply.body)
        case Resets():
            writer.transport.abort()
            return
        case Hangs():
            await asyncio.sleep(60)
        case Says():
            await asyncio.sleep(reply.wait)
            if request.stream:
                await _stream(writer, reply, request)
            else:
                await _whole(writer, reply, request)
    await writer.drain()


async def _whole(writer: asyncio.StreamWriter, reply: Says, request: ChatRequest) -> None:
    body = answer_body(reply, request)
    writer.write(head(200, "application/json", len(body)))
    for part in pieces(body.decode(), 1 << 16 if not reply.drip else 24):
        writer.write(part.encode())
        await writer.drain()
        await asyncio.sleep(reply.drip)


async def _stream(writer: asyncio.StreamWriter, reply: Says, request: ChatRequest) -> None:
    writer.write(head(200, "text/event-stream", None))
    for number, chunk in enumerate(stream_events(reply, request)):
        if reply.cut_after is not None and number > reply.cut_after:
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.transport.abort()
            return
        writer.write(event(chunk))
        await writer.drain()
        await asyncio.sleep(reply.drip)
    writer.write(b"data: [DONE]\n\n")


@asynccontextmanager
async def model_server(
    respond: Respond,
    *,
    model: str = "rules",
    api_key: str = "",
    supports: frozenset[str] = EVERYTHING,
    port: int = 0,
    embed: Respond = word_embeddings,
) -> AsyncGenerator[ModelServer, None]:
    """A server in this event loop; ``port`` 0: any that is free."""
    served = ModelServer(respond, model, api_key, supports, embed=embed)
    async with serve_connections(served.handle, port) as served.port:
        yield served


@contextmanager
def model_server_in_thread(
    respond: Respond,
    *,
    model: str = "rules",
    api_key: str = "",
    supports: frozenset[str] = EVERYTHING,
    embed: Respond = word_embeddings,
) -> Generator[ModelServer]:
    """The same in a thread of its own, for callers that block: a script run as a process."""
    server = model_server(respond, model=model, api_key=api_key, supports=supports, embed=embed)
    with open_in_thread(server) as served:
        yield served
