"""Files that are given with questions, asked of the server."""

from base64 import b64encode
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from domain.given_file import Column, FileNote
from ui.client import Client, read, read_all

GIVE = "/conversations/{conversation_id}/files"
"""The operation, as the server's document names it."""


class File(FileNote):
    """``bytes``: as it was sent; ``sample``: how it begins."""

    model_config = ConfigDict(extra="ignore")

    bytes: int = 0
    sample: JsonValue = None


class Preview(BaseModel):
    """How a file begins, as a table: names of columns and texts of cells. ``text``: of one that is no table."""

    heads: list[str] = Field(default_factory=list[str])
    rows: list[list[str]] = Field(default_factory=list[list[str]])
    text: str = ""


def give(client: Client, conversation: str, name: str, data: bytes) -> File:
    """Raises ServerError: it cannot be used; the message says where it is wrong."""
    body = {"name": name, "content": b64encode(data).decode()}
    return read(File, client.send("POST", f"/conversations/{conversation}/files", json=body))


def given(client: Client, conversation: str) -> list[File]:
    """All of a conversation, the oldest first."""
    return read_all(File, client.send("GET", f"/conversations/{conversation}/files"))


def remove(client: Client, conversation: str, file: str) -> None:
    """Runs that were asked with it cannot be run again then."""
    client.send("DELETE", f"/conversations/{conversation}/files/{file}")


def preview(file: File) -> Preview:
    """Of a table, and of a list of objects, the first rows."""
    match file.sample:
        case str() as text:
            return Preview(text=text)
        case [dict(), *_] as items:
            rows = [one for one in items if isinstance(one, dict)]
            heads = list(dict.fromkeys(name for row in rows for name in row))
            return Preview(heads=heads, rows=[[_cell(row.get(name)) for name in heads] for row in rows])
        case list() as items:
            return Preview(rows=[[_cell(one)] for one in items])
        case None:
            return Preview()
        case value:
            return Preview(text=_cell(value))


def columns_told(columns: Sequence[Column]) -> list[list[str]]:
    """Name, type and how many cells are empty, of each."""
    return [[one.name, one.type, str(one.empty) if one.empty else ""] for one in columns]


def _cell(value: JsonValue) -> str:
    return "" if value is None else str(value)
