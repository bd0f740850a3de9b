"""The tables, by what they are about. Importing this package knows them all."""

from server.storage.rows import accounts, administration, keys, runs, tools
from server.storage.table_base import TableRow

__all__ = ["TableRow", "accounts", "administration", "keys", "runs", "tools"]
