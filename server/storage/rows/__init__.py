"""The tables, by what they are about. Importing this package knows them all."""

from server.storage.columns import Row
from server.storage.rows import accounts, administration, keys, runs, tools

__all__ = ["Row", "accounts", "administration", "keys", "runs", "tools"]
