"""The gate: what custom APIs and MCP servers pass before their tools are offered, and how they are watched afterwards."""
