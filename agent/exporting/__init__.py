"""Export of programs as Python files, MCP servers and LangGraph nodes (docs/export.md)."""
