"""Search for the place in a run's files that a value came from."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import cast

from pydantic.types import JsonValue

from agent.execution.value_search import ForeignText, normalize_key
from agent.text import clean_text
from domain.given_file import GivenFile
from domain.model import JsonObject

_MIN_SUBSTRING_CHARS = 2
"""Characters below which a match inside a longer text is ignored: it would be found by chance."""
_MAX_LISTED = 3
"""Rows and columns that a place lists by name."""
_MAX_NAME_CHARS = 80
"""Characters of one name in a place."""
_CellPosition = tuple[int, str]
"""Row number, from 1, and column name."""


class FileOrigins:
    """Finds where values came from in the files of one run; each file is indexed at the first search."""

    def __init__(self, files: Sequence[GivenFile] = ()) -> None:
        self._files = {file.variable: _SearchableFile(file) for file in files}

    def find_place(self, value: JsonValue, variables: Collection[str] | None = None, column: str = "") -> str | None:
        """Return the file and place that hold a value, such as ``orders.csv, row 3, column name``; None without one.

        Args:
            value: the value to look for.
            variables: variables of the files to search; None for all files.
            column: column that is preferred if several hold the value.
        """
        searched_files = [file for name, file in self._files.items() if variables is None or name in variables]
        # A whole cell in any file is better evidence than a substring in the first one.
        for search in (_SearchableFile.find_equal_value, _SearchableFile.find_containing_text):
            for file in searched_files:
                if (place := search(file, value, column)) is not None:
                    return ", ".join(part for part in (clean_text(file.file.name, _MAX_NAME_CHARS), place) if part)
        return None

    def find_file_with_word(self, words: Collection[str]) -> str | None:
        """Return the name of the first file that contains one of these words; None if there is none."""
        match = next((file for file in self._files.values() if any(map(file.text_index.has_word, words))), None)
        return clean_text(match.file.name, _MAX_NAME_CHARS) if match is not None else None


class _SearchableFile:
    """One file with the indexes that searches in it need."""

    def __init__(self, file: GivenFile) -> None:
        self.file = file

    def find_equal_value(self, value: JsonValue, column: str) -> str | None:
        """Return the place of a table cell or JSON value that equals ``value``; None if there is none."""
        if self.file.kind == "table":
            cells = self._positions_by_value.get(normalize_key(value), ())
            return (
                _describe_cells([position for position in cells if position[1] == column] or cells) if cells else None
            )
        place = self.text_index.find_field(value) if self.file.kind == "json" else None
        return None if place is None else clean_text(place, _MAX_NAME_CHARS)

    def find_containing_text(self, value: JsonValue, _: str) -> str | None:
        """Return the place of a longer text that contains ``value``; None if there is none.

        It takes a column as ``find_equal_value`` does, but cannot prefer one.
        """
        if len(str(value)) < _MIN_SUBSTRING_CHARS or (place := self.text_index.find_in_text(value)) is None:
            return None
        return (
            "words inside a text"
            if self.file.kind == "text"
            else f"words inside {clean_text(_describe_path(place), _MAX_NAME_CHARS)}"
        )

    @cached_property
    def text_index(self) -> ForeignText:
        """The file's text, indexed like the text of a response."""
        text = self.file.value if self.file.kind == "text" else json.dumps(self.file.value)
        return ForeignText(str(text))

    @cached_property
    def _positions_by_value(self) -> dict[str, list[_CellPosition]]:
        """The non-empty cells of a table by their normalized value."""
        positions: defaultdict[str, list[_CellPosition]] = defaultdict(list)
        for number, row in enumerate(cast("list[JsonObject]", self.file.value), start=1):
            for column, cell in row.items():
                if cell is not None and cell != "":
                    positions[normalize_key(cell)].append((number, column))
        return dict(positions)


def _describe_cells(cells: Sequence[_CellPosition]) -> str:
    """Describe the cells that hold one value: ``row 3, column name`` or ``rows 1, 2, 3 and 4 more, column name``."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    row_list = ", ".join(map(str, rows[:_MAX_LISTED])) + (
        f" and {len(rows) - _MAX_LISTED} more" if len(rows) > _MAX_LISTED else ""
    )
    columns = list(dict.fromkeys(clean_text(column, _MAX_NAME_CHARS) for _, column in cells))
    column_list = f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns[:_MAX_LISTED])}"
    return f"{'row' if len(rows) == 1 else 'rows'} {row_list}, {column_list}"


def _describe_path(place: str) -> str:
    """Describe a JSON path: ``[2].name`` of a list of rows becomes ``row 3, column name``."""
    row, _, column = place.partition("].")
    return f"row {int(row[1:]) + 1}, column {column}" if column and row[1:].isdigit() else place or "a text"
