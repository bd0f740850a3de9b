"""A source through the whole gate: fetched, read, looked at, with a store in which a bank already is."""

import asyncio
import json
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from admission.gate import ToolDraft, ToolExamination, examine
from admission.sandboxed_reader import read_document
from agent.execution.secret_store import EnvironmentSecrets
from domain.errors import FootpathError
from tests.support.attacked_services import Operation, Service
from tests.support.scripted_http_server import Answer, reply, serving
from wiring.container import open_container
from wiring.gate_setup import open_gate_deps
from wiring.settings import Settings
from wiring.source_fetch import fetch_document
from wiring.store_build import BuildOptions, build

BANK = Service(
    "Bank",
    [
        Operation(
            "list_accounts", "Accounts of the customer with their balances.", {}, [{"iban": "X1", "balance": 12}]
        ),
        Operation(
            "send_money",
            "Sends an amount of money to an account.",
            {"iban": "string", "amount": "number"},
            {"done": True},
            "POST",
        ),
    ],
    port=1,
)
Json = dict[str, Any]


@dataclass
class Gated:
    """``refused``: why the source could not even be read. ``asked``: what came to its server, as method and path; ``heads``: all of it."""

    refused: str = ""
    examined: list[ToolExamination] = field(default_factory=list[ToolExamination])
    asked: list[str] = field(default_factory=list[str])
    heads: list[str] = field(default_factory=list[str], repr=False)

    def said(self, check: str) -> set[str]:
        """The verdicts of a check, over all tools."""
        return {finding.verdict for one in self.examined for finding in one.findings if finding.check == check}

    @property
    def stopped(self) -> set[str]:
        """The checks that keep every tool of the source out."""
        each = [{finding.check for finding in one.findings if finding.is_blocking} for one in self.examined]
        return set[str](each[0].intersection(*each[1:])) if each else set[str]()


def with_the_bank(folder: Path) -> Path:
    """A store that has the bank's tools."""
    files = (BANK.document(folder),)
    asyncio.run(
        build(
            BuildOptions(tools=files, store=folder / "store"),
            lambda stage, done, total: None,
            Settings(store=folder / "store"),
        )
    )
    return folder / "store"


def harbour(
    *,
    url: str = "/ships",
    method: str = "get",
    servers: list[Json] | None = None,
    title: str = "Harbour",
    **operation: Any,
) -> Json:
    """An honest document of one operation, but for what is said here."""
    told: Json = {
        "operationId": "list_ships",
        "description": "Lists the ships that lie in the harbour today, with flag and length in metres.",
        "responses": {"200": {"description": "ok"}},
        **operation,
    }
    return {
        "openapi": "3.0.3",
        "info": {"title": title},
        "servers": servers or [{"url": "/"}],
        "paths": {url: {method: told}},
    }


SHIPS = json.dumps(
    [{"ship": "Anna", "flag": "MRV", "length": 80}, {"ship": "Bo", "flag": "VDK", "length": 120}]
).encode()


@asynccontextmanager
async def answering(document: Answer | Json | bytes, answer: Answer | None = None) -> AsyncGenerator[Any]:
    """A server that gives the document first, then always the answer."""
    if isinstance(document, dict):
        document = reply(body=json.dumps(document).encode(errors="surrogatepass"))
    if isinstance(document, bytes):
        document = reply(body=document)
    async with serving(document, answer or reply(body=SHIPS)) as served:
        yield served


async def gated(
    store: Path,
    document: Answer | Json | bytes,
    answer: Answer | None = None,
    *,
    toolset: str = "Harbour",
    keys: dict[str, str] | None = None,
    searched: bool = False,
) -> Gated:
    """What the gate says of a source whose server gives this document, and then these answers. ``searched``: with the store's search."""
    found = Gated()
    async with answering(document, answer) as served:
        settings = Settings(
            store=store, allow_hosts=frozenset({f"127.0.0.1:{served.port}"}), call_timeout=3, call_attempts=1
        )
        address = f"{served.url}/openapi.json"
        try:
            data = await fetch_document(settings, address)
            read = await read_document(data, category="Ports", toolset=toolset, address=address)
            async with (
                open_container(settings, store) as container,
                open_gate_deps(container, EnvironmentSecrets(keys or {}), declared=address) as deps,
            ):
                drafts = [ToolDraft(tool, ("Which ships are in the harbour?",)) for tool in read.tools]
                found.examined = [
                    one async for one in examine(drafts, deps if searched else replace(deps, search_with_tools=None))
                ]
        except FootpathError as error:
            found.refused = str(error)
        found.heads = [request.decode(errors="replace") for request in served.requests[1:]]
        found.asked = [request.partition(b" HTTP/")[0].decode() for request in served.requests[1:]]
    return found
