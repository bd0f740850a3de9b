"""Parsing of delimited text (CSV, TSV and the like) into typed columns and rows."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.text import clean_text
from domain.errors import UsageError
from domain.given_file import Column, ColumnType
from domain.model import JsonObject

_DELIMITERS = ",;\t|"
"""Delimiters that are recognized."""
_SAMPLE_RECORDS = 20
"""Records after the first one from which the delimiter is detected."""
_MAX_COLUMNS = 200
_MAX_COLUMN_NAME_CHARS = 80
"""Characters of a column's name."""
_INTEGER = re.compile(r"[+-]?(0|[1-9]\d{0,17})")
_NUMBER = re.compile(r"[+-]?(0|[1-9]\d{0,17})(\.\d{1,17})?([eE][+-]?\d{1,2})?")
_BOOLEANS = {"true": True, "false": False}
_INTEGER_BOUND = 2**62
"""Bound of integers; a column with larger ones is read as floats."""


@dataclass(frozen=True, slots=True)
class ParsedTable:
    """A parsed table."""

    columns: tuple[Column, ...]
    rows: Sequence[JsonObject]
    """Rows by column name; each has a value for every column."""


def is_table(text: str, *, expected: bool) -> bool:
    """Check if a text should be parsed as a table.

    ``expected``: the file's suffix says that it is one. Then it is parsed in any case, so that errors are reported.
    """
    return expected or _detect_delimiter(text) is not None


def read_table(name: str, text: str, max_rows: int) -> ParsedTable:
    """Parse a delimited text; the first record holds the names of the columns unless it has a number in it.

    Raises:
        UsageError: a record has more or fewer values than there are columns, there are no rows or more than ``max_rows``,
            or the quoting is broken; the message names the line.
    """
    delimiter = _detect_delimiter(text) or _guess_delimiter(text)
    records = list(_iterate_records(name, text, delimiter, max_rows))
    if not records:
        raise UsageError(
            f"{name} has no names of columns in line 1, and no values below: each of its lines holds {_name_delimiter(delimiter)} "
            "and nothing else"
        )
    header, width = records[0][1], len(records[0][1])
    if width > _MAX_COLUMNS:
        raise UsageError(f"{name} has {width:,} columns; a table may have {_MAX_COLUMNS}: leave some out")
    lacks_header = any(_NUMBER.fullmatch(cell.strip()) for cell in header)
    names = _build_column_names([] if lacks_header else header, width)
    data_records = records if lacks_header else records[1:]
    if not data_records:
        raise UsageError(f"{name} has names of columns and no rows below them")
    for line, record in data_records:
        if len(record) != width:
            raise UsageError(
                f"{name}: line {line} has {len(record)} values, and there are {width} columns ({_list_names(names)}); put quotation marks "
                f"around values that hold {_name_delimiter(delimiter)}"
            )
    columns: list[Column] = []
    values: list[list[object]] = []
    for index, column in enumerate(names):
        cells = [record[index].strip() for _, record in data_records]
        kind = _infer_column_type(cells)
        columns.append(Column(name=column, type=kind, empty=sum(not cell for cell in cells)))
        values.append([_parse_cell(cell, kind) for cell in cells])
    rows = [dict(zip(names, row, strict=True)) for row in zip(*values, strict=True)]
    return ParsedTable(tuple(columns), rows)  # pyright: ignore[reportArgumentType]  # cells are scalars of JSON


def _iterate_records(name: str, text: str, delimiter: str, max_rows: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the records, each with the number of its first line; records without any text are skipped."""
    reader = csv.reader(text.split("\n"), delimiter=delimiter, strict=True)
    line, count = 1, -1  # the first record mostly holds the columns' names and is not counted
    try:
        for record in reader:
            if any(cell.strip() for cell in record):
                count += 1
                if count > max_rows:
                    raise UsageError(f"{name} has more than {max_rows:,} rows: give a part of it")
                yield line, record
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(
            f"{name} is a broken table: the record that begins in line {line} cannot be read ({error}); look for a quotation mark "
            "that is not closed, or stands inside a value"
        ) from None


def _detect_delimiter(text: str) -> str | None:
    """Return the delimiter that splits the first records into equally many values, more than one; None if none does."""
    candidates: list[tuple[int, str]] = []
    for delimiter in _DELIMITERS:
        try:
            widths = [len(record) for record in _read_sample(text, delimiter)]
        except csv.Error:
            continue
        if len(widths) > 1 and widths[0] > 1 and all(width == widths[0] for width in widths):
            candidates.append((widths[0], delimiter))
    return max(candidates, key=lambda one: one[0])[1] if candidates else None


def _read_sample(text: str, delimiter: str) -> list[list[str]]:
    """Read the first ``_SAMPLE_RECORDS`` + 1 records that are not empty."""
    records: list[list[str]] = []
    for record in csv.reader(text.split("\n"), delimiter=delimiter, strict=True):
        if any(cell.strip() for cell in record):
            records.append(record)
        if len(records) > _SAMPLE_RECORDS:
            break
    return records


def _guess_delimiter(text: str) -> str:
    """Return the delimiter that occurs most often in the first line, for a table whose records are uneven."""
    first_line = text.strip().split("\n", 1)[0]
    return max(_DELIMITERS, key=first_line.count)


def _build_column_names(header: Sequence[str], width: int) -> list[str]:
    """Make ``width`` distinct column names of the names in the file; missing ones become ``column_1`` and so on."""
    names: list[str] = []
    for index in range(width):
        cleaned = clean_text(header[index], _MAX_COLUMN_NAME_CHARS) if index < len(header) else ""
        base_name = cleaned or f"column_{index + 1}"
        suffix, name = 2, base_name
        while name in names:
            name, suffix = f"{base_name}_{suffix}", suffix + 1
        names.append(name)
    return names


def _infer_column_type(cells: Sequence[str]) -> ColumnType:
    """Infer a column's type from its non-empty cells.

    Numbers with leading zeros, such as telephone numbers and postal codes, are texts.
    """
    filled_cells = [cell for cell in cells if cell]
    if not filled_cells:
        return "text"
    if all(_INTEGER.fullmatch(cell) and abs(int(cell)) < _INTEGER_BOUND for cell in filled_cells):
        return "integer"
    if all(map(_NUMBER.fullmatch, filled_cells)):
        return "number"
    return "boolean" if all(cell.lower() in _BOOLEANS for cell in filled_cells) else "text"


def _parse_cell(cell: str, kind: ColumnType) -> object:
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
            return _BOOLEANS[cell.lower()]


def _list_names(names: Sequence[str]) -> str:
    rest_note = f" and {len(names) - 6} more" if len(names) > 6 else ""
    return ", ".join(clean_text(name, 30) for name in names[:6]) + rest_note


def _name_delimiter(delimiter: str) -> str:
    return {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}[delimiter]
