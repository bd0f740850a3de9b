"""Admission gate: checks of custom APIs and MCP servers before their tools are offered, and detection of later changes."""
