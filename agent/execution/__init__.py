"""Calls of tools: validation of arguments, approval, secrets, sending, caching and the origins of values."""
