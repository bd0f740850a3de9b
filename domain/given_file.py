"""Files that a user gives with a question: what a program finds of one, and what is told of it."""

from typing import Literal

from pydantic.types import JsonValue

from domain.model import Model

FileKind = Literal["table", "json", "text"]
"""``table``: rows of the same columns, each a dict. ``json``: a value, of JSON lines the list of them. ``text``: one text."""
ColumnType = Literal["text", "integer", "number", "boolean"]


class Column(Model):
    """``empty``: how many of its cells hold nothing: ``None``, in a column of texts an empty text."""

    name: str
    type: ColumnType = "text"
    empty: int = 0


class FileNote(Model):
    """What is told of a file. ``name``: as its user calls it; ``variable``: as programs do. ``rows``: of a table, or items of a list; ``characters``: of its text.

    ``note``: how it was read, where that had to be guessed. ``id``: of a server's file.
    """

    name: str
    variable: str
    kind: FileKind
    rows: int = 0
    characters: int = 0
    columns: tuple[Column, ...] = ()
    note: str = ""
    id: str = ""


class GivenFile(FileNote):
    """A file with what programs find by its variable."""

    value: JsonValue

    @property
    def told(self) -> FileNote:
        """Without its value."""
        return FileNote.model_validate(self.model_dump(exclude={"value"}))
