"""Calls of tools of MCP servers: a session with each, bounded as calls over HTTP are, and the listing of what they offer."""

from agent.execution.mcp.executor import McpExecutor
from agent.execution.mcp.listing import list_tools
from agent.execution.mcp.parameters import Command, McpParameters
from agent.execution.mcp.sessions import McpSessions

__all__ = ["Command", "McpExecutor", "McpParameters", "McpSessions", "list_tools"]
