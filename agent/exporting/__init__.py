"""Programs written out for where others run them: a Python file, an MCP server, a node of LangGraph (docs/export.md)."""
