"""Where keys lie: a table for each kind of owner. What is sealed opens in its own row, and as what it was sealed, only."""

from dataclasses import dataclass
from typing import Literal

from sqlalchemy import ColumnElement
from sqlalchemy.orm import InstrumentedAttribute

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

    def place(self, owner: str, name: str, *, granted: bool) -> str:
        """What a key is sealed for: the row that it lies in, and whether it is given or obtained."""
        return f"{_SEALED_AS[self.name]}{' grant' if granted else ''}\n{owner}\n{name}"

    def place_of(self, row: KeyRow) -> str:
        """That of a row as it is."""
        return self.place(self.owner_of(row), row.name, granted=row.grant is not None)


OF_USERS = Shelf("user", ToolKeyRow, "user_id")
OF_SOURCES = Shelf("source", SourceKeyRow, "source_id")
OF_MODELS = Shelf("model", ModelKeyRow, "service_id")
SHELVES = (OF_USERS, OF_SOURCES, OF_MODELS)
