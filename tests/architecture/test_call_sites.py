"""Every place where the source reaches the network is known, and what a stranger's words lead to is guarded there.

Who adds one adds it here: to ``GUARDED`` with a way to run the corpus through it, or to ``CONFIGURED`` with the reason why no
document, argument or answer chooses where it goes.
"""

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from pathlib import Path

import httpx
import httpx2
import pytest

from agent.execution.http import HttpExecutor, HttpParameters
from agent.execution.http.guard import AddressGuard
from agent.execution.http.guarded_client import PinnedTransport
from agent.execution.mcp import McpExecutor, McpParameters, McpSessions
from agent.llm.client.transport import CheckedTransport
from domain.errors import ForbiddenAddressError, InvalidArgumentsError
from domain.side_effect import MCP
from domain.tool import ToolDoc, make_tool_id
from tests.architecture.call_sites import imports_of, sites
from tests.support.forbidden_addresses import URLS, resolve_as_told
from tests.support.source_tree import module_name, packages, python_files

SOURCE = python_files(*packages(), "scripts")


async def through_the_executor(url: str) -> None:
    tool = ToolDoc(id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", url=url)
    executor = HttpExecutor(HttpParameters(timeout=2, attempts=1), resolver=resolve_as_told)
    try:
        await executor.call(tool, {})
    finally:
        await executor.close()


async def through_a_session(url: str) -> None:
    tool = ToolDoc(
        id=make_tool_id("c", "t", "a"), category="c", toolset="t", api="a", function="a", method=MCP, url=url
    )
    sessions = McpSessions(McpParameters(HttpParameters(timeout=2, attempts=1)), resolver=resolve_as_told)
    try:
        await McpExecutor(sessions).call(tool, {})
    finally:
        await sessions.close()


async def through_the_transport(url: str) -> None:
    transport = PinnedTransport(AddressGuard(resolver=resolve_as_told), ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT))
    async with httpx.AsyncClient(transport=transport, trust_env=False) as client:
        await client.get(url)


async def through_a_model_service(url: str) -> None:
    """That an administrator has set up: its address is looked at before it is tried, and resolved again with every request."""
    guard = AddressGuard(resolver=resolve_as_told)
    guard.check_url(url)
    transport = await asyncio.to_thread(CheckedTransport, guard.resolve_addresses)
    async with httpx2.AsyncClient(transport=transport, trust_env=False) as client:
        await client.get(url)


async def through_the_guard(url: str) -> None:
    """What asks a name server: nothing is asked for that ``check_url`` refuses, and every answer is checked."""
    guard = AddressGuard(resolver=resolve_as_told)
    guard.check_url(url)
    asked = httpx.URL(url)
    await guard.resolve_addresses(asked.host, asked.port or 80)


Run = Callable[[str], Awaitable[None]]
GUARDED: dict[tuple[str, str], Run] = {
    ("agent.execution.http.guarded_client", "httpx.AsyncClient"): through_the_executor,
    ("agent.execution.mcp.http_streams", "mcp.client.streamable_http.streamable_http_client"): through_a_session,
    ("agent.execution.mcp.http_streams", "httpx.AsyncBaseTransport"): through_a_session,
    ("agent.execution.http.guarded_client", "httpx.AsyncHTTPTransport"): through_the_transport,
    ("agent.execution.http.guarded_client", "httpcore.AsyncConnectionPool"): through_the_transport,
    ("agent.execution.http.guarded_client", "httpcore.AnyIOBackend"): through_the_transport,
    ("agent.llm.client.transport", "httpx2.AsyncHTTPTransport"): through_a_model_service,
    ("agent.execution.http.guard", "getaddrinfo"): through_the_guard,
}
"""Places that a document or an argument leads to."""

CONFIGURED: dict[tuple[str, str], str] = {
    (
        "agent.execution.http.guarded_client",
        "http.cookiejar.CookieJar",
    ): "a jar that takes no cookie: it connects to nothing",
    (
        "agent.execution.http.guarded_client",
        "http.cookiejar.DefaultCookiePolicy",
    ): "what that jar takes, which is nothing",
    (
        "graph.backends.neo4j_connection",
        "neo4j.AsyncGraphDatabase.driver",
    ): "FOOTPATH_GRAPH_URL: the operator's own graph server",
    (
        "retriever.backends.qdrant_connection",
        "qdrant_client.AsyncQdrantClient",
    ): "FOOTPATH_VECTOR_URL: the operator's own server",
    (
        "agent.llm.client.transport",
        "httpx2.AsyncClient",
    ): "the model's URL, the operator's setting: https, or http on loopback; or an administrator's, over CheckedTransport",
    (
        "agent.llm.client.langchain_model",
        "langchain_openai.ChatOpenAI",
    ): "uses the client of agent.llm.client.transport, given to it",
    ("agent.llm.client.embeddings", "openai.AsyncOpenAI"): "uses the client of agent.llm.client.transport, given to it",
    ("wiring.cluster", "ray.init"): "--ray: the address of the operator's own cluster",
    ("wiring.cluster", "ray.shutdown"): "leaves that cluster",
    ("wiring.cluster", "ray.cluster_resources"): "asks that cluster",
    ("wiring.cluster", "ray.data.from_items"): "gives work to that cluster",
    ("wiring.cluster", "socket.create_connection"): "looks whether that cluster is there, at the same address",
    ("playground.record", "httpx.Client"): "the playground that the same command has started, on loopback",
    ("playground.serve", "socket.socket"): "listens; connects to nothing",
    ("server.serve", "socket.socket"): "listens; connects to nothing",
    (
        "server.gateway.serving",
        "mcp.server.lowlevel.Server",
    ): "answers over streams that it is given; connects to nothing",
    ("server.gateway.following", "anyio.CancelScope"): "a scope of cancellation; connects to nothing",
    (
        "server.gateway.endpoint",
        "mcp.server.streamable_http_manager.StreamableHTTPSessionManager",
    ): "answers requests of the application; connects to nothing",
    ("server.gateway.endpoint", "mcp.server.auth.middleware.bearer_auth.AuthenticatedUser"): "a value",
    ("server.gateway.endpoint", "mcp.server.auth.provider.AccessToken"): "a value",
    ("server.gateway.stdio", "anyio.wrap_file"): "standard output; connects to nothing",
    ("server.gateway.stdio", "mcp.server.stdio.stdio_server"): "standard input and output; connects to nothing",
    ("ui.client", "httpx.Client"): "FOOTPATH_SERVER_ADDRESS: the operator's own server",
    ("scripts._processes", "httpx.Client"): "the page that the same command has started, on loopback",
    ("scripts._evaluate_answers", "httpx.AsyncClient"): "the playground that the same command has started, on loopback",
    ("scripts._answers_apart", "httpx.AsyncClient"): "the services that the same command has started, on loopback",
    ("scripts._evaluate_soay", "httpx.AsyncClient"): "the services that the same command has started, on loopback",
    ("scripts._client_places", "httpx.AsyncClient"): "the services that the same command has started, on loopback",
    ("scripts._client_places", "mcp.client.stdio.stdio_client"): "a server that it starts itself; connects to nothing",
    ("scripts._client_places", "mcp.StdioServerParameters"): "a value",
    ("scripts._client_places", "mcp.ClientSession"): "over that server's standard input and output",
    ("scripts._plain_tools", "mcp.server.stdio.stdio_server"): "standard input and output; connects to nothing",
    ("scripts._plain_tools", "mcp.server.lowlevel.Server"): "the streams are given",
    ("scripts.make_program_requests", "httpx.Client"): "the services that the same command has started, on loopback",
    ("scripts._demo", "httpx.AsyncClient"): "the playground that the same command has started, on loopback",
}
"""Places whose address the operator gives, by a setting or an option, and nothing else can."""

NAMED_ONLY = {
    "server.gateway.answers": "types of answers",
    "server.gateway.finding": "types of answers",
    "server.gateway.gone": "types of failures",
    "server.gateway.person": "types; the session is given",
    "server.gateway.running": "types of answers",
    "server.gateway.solutions": "types of answers",
    "server.gateway.tools": "types of what is listed",
    "agent.execution.http.executor": "types and errors; the client is given",
    "admission.address_check": "errors of name servers",
    "agent.execution.http.attempt": "types and errors of answers",
    "agent.execution.http.guarded_json_client": "types and errors; the client is that of agent.execution.http.guarded_client",
    "agent.execution.http.document_fetch": "errors; its client is that of agent.execution.http.guarded_client",
    "agent.execution.http.outcomes": "errors of name servers",
    "agent.execution.http.redirects": "types of answers, and reads an address",
    "agent.execution.http.response": "types and errors of answers",
    "agent.execution.mcp.endpoint": "reads an address",
    "agent.execution.mcp.connection": "the protocol's words; the streams are given",
    "agent.execution.mcp.executor": "the protocol's words",
    "agent.execution.mcp.listing": "the protocol's words",
    "agent.execution.mcp.process": "the protocol's words; speaks by a process's input and output",
    "agent.llm.client.failures": "errors of name servers",
    "agent.llm.client.sdk": "errors of the SDK",
    "footpath.langchain.middleware": "classes and messages; the model is the agent's own",
    "footpath.langchain.run": "classes and messages",
    "footpath.langchain.tools": "classes and errors",
    "graph.backends.neo4j_connection": "errors of the driver",
    "playground.calls": "types; the client is given",
    "playground.gold_programs": "types; the client is given",
    "playground.soay.benchmark": "types; the client is given",
    "playground.session": "types; the client is given",
    "retriever.backends.qdrant": "models of Qdrant's requests",
    "retriever.backends.qdrant_collections": "models of Qdrant's requests",
    "retriever.backends.qdrant_connection": "errors of the client",
    "retriever.backends.qdrant_memories": "models of Qdrant's requests",
    "retriever.backends.qdrant_patterns": "models of Qdrant's requests",
    "retriever.backends.qdrant_side_collections": "models of Qdrant's requests",
    "ui.account": "types and errors; the client is given",
    "ui.problems": "types and errors of answers",
    "ui.session": "types",
    "ui.stream": "types and errors; the client is given",
}
"""Modules that name a networking library and make nothing that connects."""

KNOWN = GUARDED.keys() | CONFIGURED.keys()


def test_every_call_site_is_known() -> None:
    found = {site for path in SOURCE for site in sites(path)}
    assert found - KNOWN == set(), "new call sites: see the head of this file"
    assert KNOWN - found == set(), "call sites that are gone: take them out"


def test_every_module_that_names_a_networking_library_is_known() -> None:
    found = {module_name(path) for path in SOURCE if imports_of(path)}
    known = {module for module, _ in KNOWN} | NAMED_ONLY.keys()
    assert found - known == set(), "new users of networking libraries: see the head of this file"
    assert NAMED_ONLY.keys() - found == set()


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("import httpx as h\nh.AsyncClient()", "httpx.AsyncClient"),
        ("from urllib.request import urlopen as u\nu('http://x')", "urllib.request.urlopen"),
        ("def f():\n    import requests\n    return requests.get('http://x')", "requests.get"),
        ("import asyncio\nasync def f():\n    await asyncio.open_connection('x', 1)", "open_connection"),
        ("from openai import AsyncOpenAI\nAsyncOpenAI()", "openai.AsyncOpenAI"),
        ("import http.client\nhttp.client.HTTPConnection('x')", "http.client.HTTPConnection"),
        ("from httpx import HTTPTransport\nclass T(HTTPTransport): ...", "httpx.HTTPTransport"),
        ("from urllib.parse import quote\nquote('x')", ""),
        ("import httpx\nhttpx.Timeout(3)", ""),
    ],
)
def test_the_scan_sees_what_it_should(
    tmp_path: Path, source: str, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.support.source_tree.ROOT", tmp_path)
    path = tmp_path / "module.py"
    path.write_text(source)
    assert {name for _, name in sites(path)} == ({expected} if expected else set())


@pytest.mark.parametrize("site", sorted(GUARDED), ids=" ".join)
async def test_the_corpus_is_refused_at_every_guarded_site(site: tuple[str, str]) -> None:
    """The transport sees addresses only; what a URL's form betrays is refused before (``check_url``)."""
    by = {"address", "literal"} if GUARDED[site] is through_the_transport else {"address", "literal", "url"}
    corpus = [one["url"] for one in URLS if one["by"] in by]
    assert len(corpus) > 100
    for url in corpus:
        with pytest.raises((ForbiddenAddressError, InvalidArgumentsError, httpx.InvalidURL, httpx2.InvalidURL)):
            await GUARDED[site](url)
