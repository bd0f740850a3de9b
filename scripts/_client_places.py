"""Where a client's agent is measured: a playground of its own for each request under way, and a server of tools started over a fresh copy of its store."""

import asyncio
import shutil
import sys
from collections.abc import AsyncGenerator
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

import httpx
from _demo import build_demo, host_of
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.types import TextContent

from domain.errors import UsageError
from evaluation.client_agent import ClientTools, RequestedCall
from evaluation.client_runs import ServiceAnswer
from evaluation.evaluation_cases import ServiceChange
from playground.child import running_playground
from playground.worlds.clock import TODAY
from wiring.container import open_container

Tools = Literal["footpath", "plain"]
_SCRIPTS = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class ClientPlace:
    """A running playground and the store of its tools, for one request at a time."""

    address: str
    store: Path
    tools: Tools

    @asynccontextmanager
    async def session(self) -> AsyncGenerator["ClientsSession"]:
        """A session with a server that was started for it: what is learnt in one is not known in another."""
        async with self._switches() as switches:
            (await switches.post("/_reset")).raise_for_status()
        with TemporaryDirectory(prefix="footpath-client-") as folder:
            store = await asyncio.to_thread(shutil.copytree, self.store, Path(folder) / "store")
            async with stdio_client(self._command(store)) as streams, ClientSession(*streams) as session:
                told = await session.initialize()
                yield ClientsSession(session, told.instructions or "")

    async def heard(self) -> list[ServiceAnswer]:
        """What the services have answered in the session."""
        return [ServiceAnswer.model_validate(one) for one in await self._told("/_answers")]

    async def made(self) -> list[ServiceChange]:
        """What was changed in it."""
        effects = await self._told("/_ledger")
        return [ServiceChange(operation=effect["tool"], arguments=effect["arguments"]) for effect in effects]

    async def _told(self, path: str) -> list[Any]:
        async with self._switches() as switches:
            return (await switches.get(path)).raise_for_status().json()

    def _switches(self) -> httpx.AsyncClient:
        return httpx.AsyncClient(base_url=self.address, timeout=30, trust_env=False)

    def _command(self, store: Path) -> StdioServerParameters:
        """The changes that a request asks for have their user's leave in both; the client's model is the only one."""
        footpath = ["mcp_server.py", "--store", str(store), "--policy", "offline", "--yes"]
        name, *arguments = footpath if self.tools == "footpath" else ["_plain_tools.py", str(store)]
        environment = {"FOOTPATH_ALLOW_HOSTS": host_of(self.address), "FOOTPATH_TODAY": TODAY.isoformat()}
        return StdioServerParameters(command=sys.executable, args=[str(_SCRIPTS / name), *arguments], env=environment)


class ClientsSession:
    """The official client's session, as the agent wants it."""

    def __init__(self, session: ClientSession, instructions: str) -> None:
        self._session, self._instructions = session, instructions

    async def list_tools(self) -> ClientTools:
        """All pages of the list."""
        answer = await self._session.list_tools()
        if answer.nextCursor:
            raise UsageError("the server lists its tools in pages; this client reads one")
        tools = (one.model_dump(mode="json", exclude_none=True) for one in answer.tools)
        return ClientTools(tuple(tools), self._instructions)

    async def call(self, wanted: RequestedCall) -> str:
        """The texts of an answer, as a model is shown them."""
        answer = await self._session.call_tool(wanted.tool, wanted.arguments)
        text = "\n".join(one.text for one in answer.content if isinstance(one, TextContent))
        return f"error: {text}" if answer.isError else text


@asynccontextmanager
async def client_places(tools: Tools, count: int, built: Path | None = None) -> AsyncGenerator[list[ClientPlace]]:
    """Running places. ``built``: a store of the playground that is there already; None: one is built."""
    with ExitStack() as children, TemporaryDirectory(prefix="footpath-evaluation-") as folder:
        addresses = [children.enter_context(running_playground()) for _ in range(count)]
        if built is None:
            built = Path(folder) / "built"
            await build_demo(addresses[0], built)
        places: list[ClientPlace] = []
        for number, address in enumerate(addresses):
            store = Path(shutil.copytree(built, Path(folder) / f"store-{number}"))
            await _moved(store, address)
            places.append(ClientPlace(address, store, tools))
        yield places


async def _moved(store: Path, address: str) -> None:
    """Let the documents of a store name this address."""
    to = httpx.URL(address)
    async with open_container(store=store) as container:
        docs = [doc async for doc in container.graph.stream_documents()]
        await container.graph.put_tools(
            [doc.model_copy(update={"url": doc.url.replace(_origin(doc.url), str(to).rstrip("/"), 1)}) for doc in docs]
        )


def _origin(url: str) -> str:
    return "/".join(url.split("/", 3)[:3])
