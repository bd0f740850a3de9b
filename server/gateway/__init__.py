"""Footpath for agents that speak the Model Context Protocol: a few tools in front of all that a store knows (docs/mcp.md)."""
