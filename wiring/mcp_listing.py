"""Listing of an MCP server's tools, read as a source of tools."""

from admission.listing import read_apart
from agent.execution.secrets import Secrets
from domain.tool import STDIO
from graph.importers.mcp import Listing, McpSource
from wiring.container import Container


async def list_mcp(container: Container, source: McpSource, secrets: Secrets, owner: str) -> Listing:
    """Return the server's tools, as it lists them to a caller with these keys. ``owner``: whose session it is.

    Raises:
        ForbiddenAddressError: it may not be reached.
        SecretError: a key is missing, or may not go there.
        InvalidArgumentsError: no such command may be started.
        UnavailableError: it does not answer; the message says why.
        BrokenInputError: its listing takes more than it may.
    """
    from agent.execution.mcp import list_tools

    return await list_tools(container.mcp_sessions(), source, secrets, owner, read_apart)


def mcp_url(address: str, command: str) -> str:
    """Return where calls of its tools go: its address, or the command that starts it."""
    return f"{STDIO}{command}" if command else address
