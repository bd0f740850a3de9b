"""Parsing of delimited text (CSV, TSV and the like) into typed columns and rows."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.text import clean
from domain.errors import UsageError
from domain.given_file import Column, ColumnType
from domain.model import JsonObject

_BETWEEN = ",;\t|"
"""Delimiters that are recognized."""
_LOOKED_AT = 20
"""Records after the first one from which the delimiter is detected."""
_MOST_COLUMNS = 200
_COLUMN = 80
"""Characters of a column's name."""
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,17})(\.\d{1,17})?([eE][+-]?\d{1,2})?")
_BOOLEAN = {"true": True, "false": False}
_LARGEST = 2**62
"""Bound of integers; a column with larger ones is read as floats."""


@dataclass(frozen=True, slots=True)
class Table:
    """A parsed table."""

    columns: tuple[Column, ...]
    rows: Sequence[JsonObject]
    """Rows by column name; each has a value for every column."""


def is_table(text: str, *, certain: bool) -> bool:
    """Check if a text should be parsed as a table.

    ``certain``: the file's suffix says that it is one. Then it is parsed in any case, so that errors are reported.
    """
    return certain or _delimiter(text) is not None


def read_table(name: str, text: str, most: int) -> Table:
    """Parse a delimited text; the first record holds the names of the columns unless it has a number in it.

    Raises:
        UsageError: a record has more or fewer values than there are columns, there are no rows or more than ``most``,
            or the quoting is broken; the message names the line.
    """
    delimiter = _delimiter(text) or _usual(text)
    records = list(_records(name, text, delimiter, most))
    if not records:
        raise UsageError(
            f"{name} has no names of columns in line 1, and no values below: each of its lines holds {_called(delimiter)} "
            "and nothing else"
        )
    first, width = records[0][1], len(records[0][1])
    if width > _MOST_COLUMNS:
        raise UsageError(f"{name} has {width:,} columns; a table may have {_MOST_COLUMNS}: leave some out")
    without_names = any(_NUMBER.fullmatch(cell.strip()) for cell in first)
    names = _names([] if without_names else first, width)
    body = records if without_names else records[1:]
    if not body:
        raise UsageError(f"{name} has names of columns and no rows below them")
    for line, record in body:
        if len(record) != width:
            raise UsageError(
                f"{name}: line {line} has {len(record)} values, and there are {width} columns ({_shown(names)}); put quotation marks "
                f"around values that hold {_called(delimiter)}"
            )
    columns: list[Column] = []
    values: list[list[object]] = []
    for at, column in enumerate(names):
        cells = [record[at].strip() for _, record in body]
        kind = _type(cells)
        columns.append(Column(name=column, type=kind, empty=sum(not cell for cell in cells)))
        values.append([_value(cell, kind) for cell in cells])
    rows = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    return Table(tuple(columns), rows)  # pyright: ignore[reportArgumentType]  # cells are scalars of JSON


def _records(name: str, text: str, delimiter: str, most: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the records, each with the number of its first line; records without any text are skipped."""
    reader = csv.reader(text.split("\n"), delimiter=delimiter, strict=True)
    line, count = 1, -1  # the first record mostly holds the columns' names and is not counted
    try:
        for record in reader:
            if any(cell.strip() for cell in record):
                count += 1
                if count > most:
                    raise UsageError(f"{name} has more than {most:,} rows: give a part of it")
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"{name} is a broken table: the record that begins in line {line} cannot be read ({error}); look for a quotation mark "
            "that is not closed, or stands inside a value"
        ) from None


def _delimiter(text: str) -> str | None:
    """Return the delimiter that splits the first records into equally many values, more than one; None if none does."""
    found: list[tuple[int, str]] = []
    for one in _BETWEEN:
        try:
            widths = [len(record) for record in _first(text, one)]
        except csv.Error:
            continue
        if len(widths) > 1 and widths[0] > 1 and all(width == widths[0] for width in widths):
            found.append((widths[0], one))
    return max(found, key=lambda one: one[0])[1] if found else None


def _first(text: str, delimiter: str) -> list[list[str]]:
    """Read the first ``_LOOKED_AT`` + 1 records that are not empty."""
    kept: list[list[str]] = []
    for record in csv.reader(text.split("\n"), delimiter=delimiter, strict=True):
        if any(cell.strip() for cell in record):
            kept.append(record)
        if len(kept) > _LOOKED_AT:
            break
    return kept


def _usual(text: str) -> str:
    """Return the delimiter that occurs most often in the first line, for a table whose records are uneven."""
    first = text.strip().split("\n", 1)[0]
    return max(_BETWEEN, key=first.count)


def _names(given: Sequence[str], width: int) -> list[str]:
    """Make ``width`` distinct column names of the names in the file; missing ones become ``column_1`` and so on."""
    names: list[str] = []
    for at in range(width):
        told = clean(given[at], _COLUMN) if at < len(given) else ""
        wanted = told or f"column_{at + 1}"
        number, name = 2, wanted
        while name in names:
            name, number = f"{wanted}_{number}", number + 1
        names.append(name)
    return names


def _type(cells: Sequence[str]) -> ColumnType:
    """Infer a column's type from its non-empty cells.

    Numbers with leading zeros, such as telephone numbers and postal codes, are texts.
    """
    told = [cell for cell in cells if cell]
    if not told:
        return "text"
    if all(_INTEGER.fullmatch(cell) and abs(int(cell)) < _LARGEST for cell in told):
        return "integer"
    if all(map(_NUMBER.fullmatch, told)):
        return "number"
    return "boolean" if all(cell.lower() in _BOOLEAN for cell in told) else "text"


def _value(cell: str, kind: ColumnType) -> object:
    """Convert a cell to its column's type; an empty one is None unless the column holds texts."""
    match kind:
        case "text":
            return cell
        case _ if not cell:
            return None
        case "integer":
            return int(cell)
        case "number":
            return float(cell)
        case "boolean":
            return _BOOLEAN[cell.lower()]


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(clean(one, 30) for one in names[:6]) + more


def _called(delimiter: str) -> str:
    return {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}[delimiter]
