"""An MCP server that says again and again that its tools have changed: it is heard once, and one that does not stop loses its session."""

from typing import Any

from mcp.server.fastmcp import Context, FastMCP

from agent.execution.mcp import McpExecutor
from agent.execution.mcp.connection import MAX_NOTIFICATIONS
from tests.support.mcp_servers import served, sessions, tool


def crier() -> FastMCP:
    server = FastMCP("crier")

    @server.tool()
    async def cry(times: int, ctx: Context[Any, Any, Any]) -> str:
        """Says so many times that its tools have changed."""
        for _ in range(times):
            await ctx.session.send_tool_list_changed()
        return "said"

    _ = cry
    return server


async def test_notices_in_a_moment_count_once() -> None:
    changed: list[str] = []
    async with served(crier().streamable_http_app()) as at, sessions(changed=changed.append) as ours:
        told = await McpExecutor(ours).call(tool(f"{at}/mcp", "cry"), {"times": 200})
    assert (told.outcome, changed) == ("ok", [f"{at}/mcp"])


async def test_a_server_that_does_not_stop_loses_its_session_and_the_next_call_is_made() -> None:
    async with served(crier().streamable_http_app()) as at, sessions() as ours:
        executor, cry = McpExecutor(ours), tool(f"{at}/mcp", "cry")
        told = await executor.call(cry, {"times": 3 * MAX_NOTIFICATIONS})
        assert told.outcome == "unknown"
        assert (await executor.call(cry, {"times": 1})).outcome == "ok"
