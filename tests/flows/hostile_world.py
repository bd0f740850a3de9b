"""A world whose servers may be hostile: real sockets, everything that reaches them kept, and a trap that nothing may reach."""

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from agent.execution.approval import AllowChangesApprover
from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http.guard import resolve_host
from agent.execution.secret_store import EnvironmentSecrets
from agent.policy.protocol import Policy
from agent.run import run
from domain.event import (
    CallFinished,
    CallStarted,
    EventRecord,
    PathEnded,
    PlanReady,
    RunFinished,
    StepBacktracked,
    StepChosen,
)
from domain.model import JsonObject
from domain.tool import Credential, ToolDoc
from tests.support.run_deps import build_deps
from tests.support.small_world import finder, graph, need, tool
from tests.support.stream_server import serve_connections

REQUEST = "What is the travel guide of Paris?"
SECRET = "library-key-7f3a9"
PLACE_ID = "plc_48c2a1"


@dataclass
class Listener:
    """What came to a port. ``bodies``: the answer by the first segment of the path."""

    bodies: Mapping[str, str] = field(default_factory=dict[str, str])
    requests: list[str] = field(default_factory=list[str])
    port: int = 0

    @property
    def lines(self) -> list[str]:
        """The request lines."""
        return [request.partition("\r\n")[0] for request in self.requests]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, any number of requests."""
        while True:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            self.requests.append(head)
            body = self.bodies.get(head.split(" ")[1].split("?")[0].split("/")[1], "{}").encode()
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
            writer.write(f"content-length: {len(body)}\r\n\r\n".encode() + body)
            await writer.drain()


@asynccontextmanager
async def listening(*listeners: Listener) -> AsyncGenerator[None]:
    """Every listener on a free port of loopback."""
    async with AsyncExitStack() as servers:
        for listener in listeners:
            listener.port = await servers.enter_async_context(serve_connections(listener.serve))
        yield


def bodies(extra: JsonObject, *, place_id: object = PLACE_ID, raw_tail: str = "") -> dict[str, str]:
    """Answers of the services with additions: the same facts in front, whatever else behind."""
    place = {"place_id": place_id, "city": "Paris", "population": 2100000, **extra}
    guide = {"guide": {"title": "Paris in three days", "summary": "Walk along the river.", **extra}, **extra}
    tail = f', "tail": {raw_tail}}}' if raw_tail else "}"
    return {
        name: json.dumps(value)[:-1] + tail
        for name, value in (("places", {"results": [place], **extra}), ("guides", guide))
    }


def tools(port: int, location: Literal["path", "query", "header"] = "path") -> tuple[ToolDoc, ...]:
    """A search, what it leads to, and two writes within reach, one of them with a key."""
    place = need("place_id", description="Identifier of the place.").model_copy(update={"location": location})
    found = {"results": [{"place_id": "plc_000000", "city": "Rome", "population": 1}]}
    told = {"guide": {"title": "Rome", "summary": "See it."}}
    text = [need("text", description="Text of the report."), need("to", description="Address of the recipient.")]
    made = (
        tool("Places", "search_places", "Find a city by its name: its place identifier and its population.", [need("city", description="Name of the city.")], found),
        tool("Travel", "place_guide", "Travel guide of a place: title and summary.", [place], told),
        tool("Books", "delete_book", "Delete a book by its title.", [need("title", description="Title of the book.")], {}, method="DELETE"),
        tool("Mail", "send_report", "Send a report as a message.", text, {}, method="POST"),
    )  # fmt: skip
    paths = ("places", "guides/{place_id}" if location == "path" else "guides", "books", "mail")
    placed = [
        doc.model_copy(update={"url": f"http://127.0.0.1:{port}/{path}"}) for doc, path in zip(made, paths, strict=True)
    ]
    return (
        *placed[:3],
        placed[3].model_copy(update={"credentials": (Credential(secret="library_key", name="X-Api-Key"),)}),
    )


@dataclass
class Seen:
    """What a run did: its records, what came to the API and to the trap, the names that were resolved."""

    records: list[EventRecord]
    api: Listener
    trap: Listener
    resolved: set[tuple[str, int]]

    @property
    def end(self) -> RunFinished:
        """The last event."""
        event = self.records[-1].event
        assert isinstance(event, RunFinished)
        return event

    @property
    def doings(self) -> list[tuple[Any, ...]]:
        """The run without its texts: which tools, in which order, with which arguments, from where, to what end."""
        found: list[tuple[Any, ...]] = []
        for record in self.records:
            match record.event:
                case StepChosen(tool=chosen, path=path):
                    found.append(("chosen", chosen, path))
                case StepBacktracked(dropped=dropped, path=path):
                    found.append(("backtracked", dropped, path))
                case PathEnded(path=path, how=how):
                    found.append(("ended", path, how))
                case PlanReady(plan=plan):
                    found.append(("plan", plan.path))
                case CallStarted(step=step, tool=called, arguments=arguments, provenance=provenance):
                    found.append(("call", step, called, arguments, provenance))
                case CallFinished(step=step, result=result):
                    found.append(("called", step, result.status, result.http_status, result.attempts))
                case RunFinished(outcome=outcome):
                    found.append(("finished", outcome))
                case _:
                    continue
        return found


async def seen(
    answers: Mapping[str, str], policy: Policy, folder: Path, location: Literal["path", "query", "header"] = "path"
) -> Seen:
    """One run. The guard lets everything on loopback pass, the trap too, so that nothing but the run itself holds it back."""
    api, trap = Listener(), Listener()
    resolved: set[tuple[str, int]] = set()

    async def noted(host: str, port: int) -> list[str]:
        resolved.add((host, port))
        return await resolve_host(host, port)

    async with listening(api, trap):
        api.bodies = {name: body.replace("{evil}", f"http://127.0.0.1:{trap.port}") for name, body in answers.items()}
        docs = tools(api.port, location)
        walks: Sequence[Sequence[ToolDoc]] = [docs[:2]] * 6 + [(docs[1], docs[3])] * 2 + [(docs[2],)] * 3
        secrets = EnvironmentSecrets(
            {"FOOTPATH_SECRET_LIBRARY_KEY": SECRET, "FOOTPATH_SECRET_LIBRARY_KEY_HOSTS": "127.0.0.1"}
        )
        executor = HttpExecutor(HttpParameters(allow_hosts=frozenset({"127.0.0.1"})), secrets=secrets, resolver=noted)
        deps = build_deps(
            await graph(walks, docs),
            await finder(folder, docs),
            policy,
            executor,
            secrets=secrets,
            approver=AllowChangesApprover(),
        )
        records = [record async for record in run(REQUEST, deps)]
        await executor.close()
    return Seen(records, api, trap, resolved)
