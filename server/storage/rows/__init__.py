"""The tables, by what they are about. Importing this package knows them all."""

from server.storage.columns import TableRow
from server.storage.rows import accounts, administration, keys, runs, tools

__all__ = ["TableRow", "accounts", "administration", "keys", "runs", "tools"]
