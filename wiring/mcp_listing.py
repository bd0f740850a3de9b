"""Listing of the tools of an MCP server, as a source of tools."""

from admission.sandboxed_reader import read_listing_sandboxed
from agent.execution.secret_store import SecretStore
from domain.tool import STDIO
from graph.importers.mcp import McpListing, McpSource
from wiring.container import Container


async def list_mcp_server(container: Container, source: McpSource, secrets: SecretStore, owner: str) -> McpListing:
    """Return the server's tools, as it lists them to a caller with these keys. ``owner``: whose session it is.

    Raises:
        ForbiddenAddressError: it may not be reached.
        SecretError: a key is missing, or may not go there.
        InvalidArgumentsError: no such command may be started.
        UnavailableError: it does not answer; the message says why.
        BrokenInputError: its listing takes more than it may.
    """
    from agent.execution.mcp import list_tools

    return await list_tools(container.mcp_sessions(), source, secrets, owner, read_listing_sandboxed)


def build_mcp_url(address: str, command: str) -> str:
    """Return where calls of its tools go: its address, or the command that starts it."""
    return f"{STDIO}{command}" if command else address
