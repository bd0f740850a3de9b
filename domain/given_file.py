"""Files that a user attaches to a question, as programs and prompts see them."""

from typing import Literal

from pydantic.types import JsonValue

from domain.model import Model

FileKind = Literal["table", "json", "text"]
"""Kind of a file's value.

``table``: rows of the same columns, each a dict; ``json``: a value, or for JSON lines the list of values; ``text``:
one text.
"""
ColumnType = Literal["text", "integer", "number", "boolean"]


class Column(Model):
    """A column of a table."""

    name: str
    type: ColumnType = "text"
    empty: int = 0
    """Number of cells without a value: ``None``, or an empty text in a column of texts."""


class FileNote(Model):
    """The description of a file, without its content."""

    name: str
    """The user's name for it."""
    variable: str
    """The name of the variable that holds it in programs."""
    kind: FileKind
    rows: int = 0
    """Rows of a table, or items of a list."""
    characters: int = 0
    """Length of its text."""
    columns: tuple[Column, ...] = ()
    note: str = ""
    """How it was read, if that had to be guessed."""
    id: str = ""
    """Id of the file, if the server stores it."""


class GivenFile(FileNote):
    """A file with the value of its variable."""

    value: JsonValue

    @property
    def file_note(self) -> FileNote:
        """The file without its value."""
        return FileNote.model_validate(self.model_dump(exclude={"value"}))
