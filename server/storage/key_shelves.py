"""Where keys lie: a table for each kind of owner. What is sealed opens in its own row, for its own hosts, and as what it was sealed, only."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

from domain.errors import SecretError
from server.storage.encryption import Keys
from server.storage.rows.accounts import ToolKeyRow
from server.storage.rows.model_services import ModelKeyRow
from server.storage.rows.sources import SourceKeyRow

KeyRow = ToolKeyRow | SourceKeyRow | ModelKeyRow
ShelfName = Literal["user", "source", "model"]
_SEALED_AS: dict[ShelfName, str] = {"user": "tool key", "source": "source key", "model": "model key"}


@dataclass(frozen=True, slots=True)
class Shelf:
    """``rows``: its table; ``owner_column`` says whose a key is."""

    name: ShelfName
    rows: type[ToolKeyRow] | type[SourceKeyRow] | type[ModelKeyRow]
    owner_column: str

    @property
    def owner(self) -> InstrumentedAttribute[str]:
        """Of a row: whose it is."""
        return getattr(self.rows, self.owner_column)

    def chosen(self, owner: str, name: str) -> ColumnElement[bool]:
        """The row of one key."""
        return (self.owner == owner) & (self.rows.name == name)

    def new(self, owner: str, name: str) -> KeyRow:
        """A row without what it holds."""
        return self.rows(**{self.owner_column: owner, "name": name})

    def owner_of(self, row: KeyRow) -> str:
        """Whose it is."""
        return getattr(row, self.owner_column)

    def seal(
        self, keys: Keys, owner: str, name: str, hosts: Sequence[str], value: str, *, granted: bool = False
    ) -> tuple[int, bytes]:
        """Return the version and the bytes of a key that is sealed for its row and its hosts: with other hosts in the row it does not open."""
        return keys.seal(value, _bound(self._place(owner, name, granted=granted), hosts))

    def open(self, keys: Keys, row: KeyRow) -> str:
        """Open what a row holds. ``SecretError`` where the key is gone, or row or hosts are not those that it was sealed for."""
        place = self._place_of(row)
        try:
            return keys.open(row.key_version, row.sealed, _bound(place, row.hosts))
        except SecretError:
            # Sealed before hosts were a part of it; bind_hosts seals such rows anew when a server starts.
            return keys.open(row.key_version, row.sealed, place)

    def is_bound(self, keys: Keys, row: KeyRow) -> bool:
        """Whether a row is sealed for its hosts; where nobody can open it, there is nothing to bind."""
        try:
            keys.open(row.key_version, row.sealed, self._place_of(row))
        except SecretError:
            return True
        return False

    def _place(self, owner: str, name: str, *, granted: bool) -> str:
        """What names a row, and whether its key is given or obtained."""
        return f"{_SEALED_AS[self.name]}{' grant' if granted else ''}\n{owner}\n{name}"

    def _place_of(self, row: KeyRow) -> str:
        return self._place(self.owner_of(row), row.name, granted=row.grant is not None)


def _bound(place: str, hosts: Sequence[str]) -> str:
    return f"{place}\n{json.dumps(list(hosts))}"


OF_USERS = Shelf("user", ToolKeyRow, "user_id")
OF_SOURCES = Shelf("source", SourceKeyRow, "source_id")
OF_MODELS = Shelf("model", ModelKeyRow, "service_id")
SHELVES = (OF_USERS, OF_SOURCES, OF_MODELS)
