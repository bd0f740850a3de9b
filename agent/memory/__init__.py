"""Short-term memory of a search, and long-term memory of solved requests (docs/memory.md)."""
