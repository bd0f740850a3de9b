"""Client side of the Model Context Protocol: sessions with servers, calls of their tools, and tool listings."""

from agent.execution.mcp.executor import McpExecutor
from agent.execution.mcp.listing import list_tools
from agent.execution.mcp.parameters import Command, McpParameters
from agent.execution.mcp.sessions import McpSessions

__all__ = ["Command", "McpExecutor", "McpParameters", "McpSessions", "list_tools"]
