"""The tables, by what they are about. Importing this package knows them all."""

from server.storage.columns import Row
from server.storage.rows import accounts, conversations, days, grants, library, runs, sources, workflows

__all__ = ["Row", "accounts", "conversations", "days", "grants", "library", "runs", "sources", "workflows"]
