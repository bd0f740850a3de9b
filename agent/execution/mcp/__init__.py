"""Client side of the Model Context Protocol: sessions with servers, calls of their tools, and tool listings."""

from agent.execution.mcp.executor import McpExecutor
from agent.execution.mcp.listing import list_tools
from agent.execution.mcp.parameters import McpParameters, ServerCommand
from agent.execution.mcp.sessions import McpSessions

__all__ = ["McpExecutor", "McpParameters", "McpSessions", "ServerCommand", "list_tools"]
