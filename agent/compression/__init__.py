"""Compression of long responses before a policy is shown them (docs/compression.md)."""
