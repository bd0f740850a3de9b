"""Tools of a real server over streamable HTTP: listed, called, and what may go wrong on the way."""

import asyncio
import json
from typing import Any

import mcp.server.lowlevel
import mcp.types
import orjson
import pytest
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Mount, Route

from agent.execution.mcp import McpExecutor, list_tools
from agent.execution.secret_store import EnvironmentSecrets
from domain.errors import BrokenInputError, UnavailableError
from graph.importers.mcp import MAX_TOOLS, McpSource
from tests.support.everything_mcp_server import everything
from tests.support.mcp_servers import served, sessions, tool
from tests.unit.agent.execution.mcp.hostile import Asked, Hostile

NO_KEYS = EnvironmentSecrets({})


async def test_tools_are_listed_and_called() -> None:
    async with served(everything().streamable_http_app()) as at, sessions() as ours:
        listing = await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "everything"), NO_KEYS)
        docs = {doc.api: doc for doc in listing.docs}
        assert listing.skipped == ()
        assert docs["berth_of"].toolset_description == "Berths, and notes of the harbour master."
        assert [one.name for one in docs["note"].parameters] == ["text", "tags"]
        assert not docs["berth_of"].safe
        assert docs["berth_of"].hints == ("reads",)
        found = await McpExecutor(ours).call(docs["berth_of"], {"ship": "Argo"})
        assert (found.outcome, orjson.loads(found.body)) == ("ok", {"number": 4, "free": False})
        assert ours.open_count == 1


@pytest.mark.parametrize("plain", [True, False], ids=["json", "events"])
async def test_answers_of_every_kind(plain: bool) -> None:
    async with served(everything(json_response=plain).streamable_http_app()) as at, sessions() as ours:
        executor = McpExecutor(ours)

        async def made(api: str, **arguments: Any) -> Any:
            return await executor.call(tool(f"{at}/mcp", api), arguments)

        noted = await made("note", text="storm", tags=["wind"])
        assert orjson.loads(noted.body) == {"kept": ["storm wind"]}
        assert orjson.loads((await made("plain", name="Ann")).body) == {"result": "Hello Ann"}
        picture = await made("picture")
        assert (picture.outcome, picture.body, picture.note) == ("ok", "a boat", "an image (image/png), not kept")
        refused = await made("refuses", ship="Argo")
        assert refused.outcome in ("caller_fault", "transient")
        assert "Argo is not known here" in refused.note
        assert (await made("no_such_tool")).outcome == "gone"
        wrong = await made("plain", name=["no", "name"])
        assert (wrong.outcome, "name" in wrong.note) == ("caller_fault", True)
        assert ours.open_count == 1


async def test_what_is_too_slow_or_too_long_is_not_known_of_a_change() -> None:
    async with served(everything().streamable_http_app()) as at, sessions(seconds=2.0, limit=50_000) as ours:
        executor = McpExecutor(ours)
        await executor.call(
            tool(f"{at}/mcp", "plain"), {"name": "Ann"}
        )  # connects, which may take longer than an answer
        slow = await executor.call(tool(f"{at}/mcp", "slow"), {"seconds": 30})
        assert (slow.outcome, slow.attempts) == ("unknown", 1)
        assert "no answer in time" in slow.note
        huge = await executor.call(tool(f"{at}/mcp", "huge", marked="reads"), {"size": 200_000})
        assert huge.outcome == "transient"
        assert "longer than 50000 bytes" in huge.note
        assert orjson.loads((await executor.call(tool(f"{at}/mcp", "plain"), {"name": "Ann"})).body) == {
            "result": "Hello Ann"
        }


async def test_a_call_that_is_taken_back_is_told_to_the_server() -> None:
    server = everything()
    begun, taken_back = asyncio.Event(), asyncio.Event()

    @server.tool()
    async def waits() -> str:
        """Waits until it is taken back."""
        begun.set()
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            taken_back.set()
            raise
        return "never"

    _ = waits
    async with served(server.streamable_http_app()) as at, sessions(seconds=30) as ours:
        executor = McpExecutor(ours)
        call = asyncio.create_task(executor.call(tool(f"{at}/mcp", "waits"), {}))
        await begun.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(5):
            await taken_back.wait()
        assert (await executor.call(tool(f"{at}/mcp", "plain"), {"name": "Ann"})).outcome == "ok"
        assert ours.open_count == 1


async def test_a_server_that_changes_its_list_is_heard() -> None:
    changed: list[str] = []
    heard = asyncio.Event()

    def note(url: str) -> None:
        changed.append(url)
        heard.set()

    async with served(everything().streamable_http_app()) as at, sessions(changed=note) as ours:
        source = McpSource(f"{at}/mcp", "harbour", "everything")
        before = await list_tools(ours, source, NO_KEYS)
        await McpExecutor(ours).call(tool(f"{at}/mcp", "learns"), {"name": "sails"})
        async with asyncio.timeout(5):
            await heard.wait()
        assert changed == [f"{at}/mcp"]
        now = await list_tools(ours, source, NO_KEYS)
        assert {doc.api for doc in now.docs} - {doc.api for doc in before.docs} == {"sails"}


async def test_a_session_that_the_server_forgot_is_begun_anew_and_nothing_is_done_twice() -> None:
    forgotten = False

    async def call(one: Asked) -> None:
        nonlocal forgotten
        if forgotten:
            forgotten = False
            await one.status(404)
            return
        made.append(one.params["name"])
        await one.answer({"content": [{"type": "text", "text": "done"}]})

    made: list[str] = []
    server = Hostile({"tools/call": call})
    async with served(server) as at, sessions() as ours:
        executor = McpExecutor(ours)
        await executor.call(tool(f"{at}/mcp", "first"), {})
        forgotten = True
        again = await executor.call(tool(f"{at}/mcp", "second"), {})
        assert (again.outcome, again.body, again.attempts) == ("ok", "done", 2)
        assert made == ["first", "second"]
        assert len(server.of("initialize")) == 2


async def test_callers_share_no_session() -> None:
    server = Hostile()
    async with served(server) as at, sessions() as ours:
        one, other = McpExecutor(ours, owner="ann"), McpExecutor(ours, owner="ben")
        for executor in (one, other, one):
            await executor.call(tool(f"{at}/mcp", "any"), {})
        assert (ours.open_count, len(server.of("initialize"))) == (2, 2)


async def test_so_many_sessions_are_open_and_the_longest_unused_goes_first() -> None:
    server = Hostile()
    async with served(server) as at, sessions(sessions=2) as ours:
        for owner in ("ann", "ben", "cy", "ann"):
            await McpExecutor(ours, owner=owner).call(tool(f"{at}/mcp", "any"), {})
            assert ours.open_count <= 2
        assert len(server.of("initialize")) == 4


async def test_where_all_are_in_use_a_call_is_not_made() -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def waits(one: Asked) -> None:
        begun.set()
        await go_on.wait()
        await one.answer({"content": []})

    server = Hostile({"tools/call": waits})
    async with served(server) as at, sessions(sessions=1) as ours:
        held = asyncio.create_task(McpExecutor(ours, owner="ann").call(tool(f"{at}/mcp", "any"), {}))
        await begun.wait()
        refused = await McpExecutor(ours, owner="ben").call(tool(f"{at}/mcp", "any"), {})
        assert (refused.outcome, "in use" in refused.note) == ("transient", True)
        go_on.set()
        assert (await held).outcome == "ok"
        assert len(server.of("tools/call")) == 1


async def test_a_session_that_nobody_uses_is_closed() -> None:
    closed = asyncio.Event()

    async def ends(one: Asked) -> None:
        closed.set()
        await one.status(200)

    server = Hostile({"DELETE": ends})
    async with served(server) as at, sessions(idle=0.05) as ours:
        await McpExecutor(ours).call(tool(f"{at}/mcp", "any"), {})
        async with asyncio.timeout(5):
            await closed.wait()
        assert ours.open_count == 0


def paged(pages: dict[str | None, tuple[list[Any], str | None]]) -> Any:
    """An ASGI application of the SDK's own low-level server, with this listing."""
    server: Any = mcp.server.lowlevel.Server("paged")

    @server.list_tools()
    async def _(request: mcp.types.ListToolsRequest) -> mcp.types.ListToolsResult:
        tools, following = pages[request.params.cursor if request.params else None]
        return mcp.types.ListToolsResult(tools=tools, nextCursor=following)

    manager = StreamableHTTPSessionManager(server, stateless=True)
    return Starlette(routes=[Mount("/mcp", manager.handle_request)], lifespan=lambda _: manager.run())


def plain(name: str) -> dict[str, Any]:
    """A tool of a listing, as JSON."""
    return {"name": name, "description": "x" * 50, "inputSchema": {}}


def named(*names: str) -> list[Any]:
    return [mcp.types.Tool(name=name, inputSchema={"type": "object"}) for name in names]


async def test_a_listing_is_read_page_by_page() -> None:
    app = paged({None: (named("a", "b"), "2"), "2": (named("c"), "3"), "3": (named("d"), None)})
    async with served(app) as at, sessions() as ours:
        listing = await list_tools(ours, McpSource(f"{at}/mcp/", "harbour", "paged"), NO_KEYS)
    assert [doc.api for doc in listing.docs] == ["a", "b", "c", "d"]
    assert listing.skipped == ()


async def test_a_redirect_within_the_server_is_followed() -> None:
    async with served(paged({None: (named("a"), None)})) as at, sessions() as ours:
        listing = await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "paged"), NO_KEYS)
    assert [doc.api for doc in listing.docs] == ["a"]


@pytest.mark.parametrize(("path", "instead"), [("/sse", "/mcp"), ("/harbour/sse", "/harbour/mcp"), ("/events", "/mcp")])
async def test_a_server_of_the_former_transport_is_told_by_what_it_answers(path: str, instead: str) -> None:
    app = everything(sse_path=path).sse_app()
    async with served(app) as at, sessions() as ours:
        with pytest.raises(BrokenInputError, match="the former transport") as told:
            await list_tools(ours, McpSource(f"{at}{path}?key=k-123456", "harbour", "former"), NO_KEYS)
    assert f"often {at}{instead}, or" in str(told.value)
    assert "k-123456" not in str(told.value)


async def test_a_stream_that_is_no_transport_is_not_taken_for_one() -> None:
    async def ticks(_: Request) -> StreamingResponse:
        return StreamingResponse(iter([b"event: tick\ndata: endpoint\n\n"]), media_type="text/event-stream")

    async with served(Starlette(routes=[Route("/ticks", ticks)])) as at, sessions() as ours:
        with pytest.raises(BrokenInputError, match="not where an MCP server listens"):
            await list_tools(ours, McpSource(f"{at}/ticks", "harbour", "ticks"), NO_KEYS)


@pytest.mark.parametrize(
    ("turn", "told"),
    [
        ("same", "gives the same place again"),
        ("c{n}", "more than 5 pages"),
        ("x" * 10_000, "one that is no place"),
    ],
    ids=["circle", "endless", "long"],
)
async def test_a_listing_without_end_is_ended(turn: str, told: str) -> None:
    async def lists(one: Asked) -> None:
        number = len(server.of("tools/list"))
        await one.answer({"tools": [plain(f"t{number}")], "nextCursor": turn.replace("{n}", str(number))})

    server = Hostile({"tools/list": lists})
    async with served(server) as at, sessions(pages=5) as ours:
        listing = await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS)
    assert 1 <= len(listing.docs) <= 5
    assert told in listing.skipped[-1]


async def test_a_listing_that_is_too_large_is_cut() -> None:
    async def lists(one: Asked) -> None:
        number = len(server.of("tools/list"))
        tools = [plain(f"t{number}-{n}") for n in range(400)]
        await one.answer({"tools": tools, "nextCursor": str(number)})

    server = Hostile({"tools/list": lists})
    async with served(server) as at:
        async with sessions() as ours:
            many = await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS)
        async with sessions(listing_limit=60_000) as ours:
            long = await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS)
    assert len(many.docs) == MAX_TOOLS
    assert any(f"of one server {MAX_TOOLS}" in one for one in many.skipped)
    assert len(long.docs) == 400
    assert long.skipped == ("the listing was not read on: it is longer than 60000 bytes",)


async def says(one: Asked, result: object) -> None:
    """Of numbers and depths that orjson does not write."""
    await one.begin()
    await one.body(json.dumps({"jsonrpc": "2.0", "id": one.id, "result": result}).encode())


async def test_tools_with_numbers_that_no_store_holds_are_left_out() -> None:
    async def lists(one: Asked) -> None:
        await says(one, {"tools": [plain("large") | {"inputSchema": {"maximum": 2**70}}, plain("a")]})

    async with served(Hostile({"tools/list": lists})) as at, sessions() as ours:
        listing = await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS)
    assert [doc.api for doc in listing.docs] == ["a"]
    assert listing.skipped == ("1 tools are left out: nested too deeply, or with numbers that are too large",)


def deep(levels: int) -> Any:
    found: Any = {}
    for _ in range(levels):
        found = {"x": found}
    return found


@pytest.mark.parametrize("result", [{"tools": [deep(800)]}, 5, []], ids=["deep", "number", "list"])
async def test_an_answer_that_the_library_cannot_read_is_told_and_not_waited_for(result: object) -> None:
    """It would tell nobody who waits; with a minute to wait, the test would be ended."""

    async def answers(one: Asked) -> None:
        await says(one, result)

    async with served(Hostile({"tools/list": answers, "tools/call": answers})) as at, sessions(seconds=60) as ours:
        with pytest.raises(UnavailableError, match=r"no answer to the question|not in the protocol's form"):
            await asyncio.wait_for(list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS), 20)
        called = await asyncio.wait_for(McpExecutor(ours).call(tool(f"{at}/mcp", "a"), {}), 20)
    assert called.outcome == "unknown"


async def test_a_listing_that_never_comes_is_waited_for_so_long() -> None:
    async def streams(one: Asked) -> None:
        await one.begin(kind="text/event-stream")
        await one.body(b'event: message\ndata: {"jsonrpc": "2.0", "id": 1, "result": 5}\n\n', more=True)
        await asyncio.sleep(30)

    async with served(Hostile({"tools/list": streams})) as at, sessions(seconds=1) as ours:
        with pytest.raises(UnavailableError, match="in time"):
            await asyncio.wait_for(list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS), 20)


async def test_a_server_that_does_not_list_is_told() -> None:
    async def refuses(one: Asked) -> None:
        await one.status(500)

    async with served(Hostile({"tools/list": refuses})) as at, sessions() as ours:
        with pytest.raises(UnavailableError, match=r"cannot be read: HTTP 500"):
            await list_tools(ours, McpSource(f"{at}/mcp", "harbour", "h"), NO_KEYS)
