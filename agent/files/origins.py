"""Search for the place in a run's files that a value came from."""

import json
from collections import defaultdict
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import cast

from pydantic.types import JsonValue

from agent.execution.response_values import ForeignText, normalize_key
from agent.text import clean
from domain.given_file import GivenFile
from domain.model import JsonObject

_LEAST = 2
"""Characters below which a match inside a longer text is ignored: it would be found by chance."""
_ROWS = 3
"""Rows and columns that a place lists by name."""
_PLACE = 80
"""Characters of one name in a place."""
_Cell = tuple[int, str]
"""Row number, from 1, and column name."""


class FileOrigins:
    """Finds where values came from in the files of one run; each file is indexed at the first search."""

    def __init__(self, files: Sequence[GivenFile] = ()) -> None:
        self._files = {one.variable: _Searched(one) for one in files}

    def place(self, value: JsonValue, variables: Collection[str] | None = None, column: str = "") -> str | None:
        """Return the file and place that hold a value, such as ``orders.csv, row 3, column name``; None without one.

        Args:
            value: the value to look for.
            variables: variables of the files to search; None for all files.
            column: column that is preferred if several hold the value.
        """
        chosen = [one for name, one in self._files.items() if variables is None or name in variables]
        # A whole cell in any file is better evidence than a substring in the first one.
        for ways in (_Searched.whole, _Searched.inside):
            for one in chosen:
                if (found := ways(one, value, column)) is not None:
                    return ", ".join(part for part in (clean(one.file.name, _PLACE), found) if part)
        return None

    def has_a_word(self, words: Collection[str]) -> str | None:
        """Return the name of the first file that contains one of these words; None if there is none."""
        held = next((one for one in self._files.values() if any(map(one.spoken.has_word, words))), None)
        return clean(held.file.name, _PLACE) if held is not None else None


class _Searched:
    """One file with the indexes that searches in it need."""

    def __init__(self, file: GivenFile) -> None:
        self.file = file

    def whole(self, value: JsonValue, column: str) -> str | None:
        """Return the place of a table cell or JSON value that equals ``value``; None if there is none."""
        if self.file.kind == "table":
            cells = self._cells.get(normalize_key(value), ())
            return _of_cells([one for one in cells if one[1] == column] or cells) if cells else None
        place = self.spoken.find_field(value) if self.file.kind == "json" else None
        return None if place is None else clean(place, _PLACE)

    def inside(self, value: JsonValue, _: str) -> str | None:
        """Return the place of a longer text that contains ``value``; None if there is none.

        It takes a column as ``whole`` does, but cannot prefer one.
        """
        if len(str(value)) < _LEAST or (place := self.spoken.find_in_text(value)) is None:
            return None
        return "words inside a text" if self.file.kind == "text" else f"words inside {clean(_at(place), _PLACE)}"

    @cached_property
    def spoken(self) -> ForeignText:
        """The file's text, indexed like the text of a response."""
        text = self.file.value if self.file.kind == "text" else json.dumps(self.file.value)
        return ForeignText(str(text))

    @cached_property
    def _cells(self) -> dict[str, list[_Cell]]:
        """The non-empty cells of a table by their normalized value."""
        found: defaultdict[str, list[_Cell]] = defaultdict(list)
        for number, row in enumerate(cast("list[JsonObject]", self.file.value), start=1):
            for column, cell in row.items():
                if cell is not None and cell != "":
                    found[normalize_key(cell)].append((number, column))
        return dict(found)


def _of_cells(cells: Sequence[_Cell]) -> str:
    """Describe the cells that hold one value: ``row 3, column name`` or ``rows 1, 2, 3 and 4 more, column name``."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    named = ", ".join(map(str, rows[:_ROWS])) + (f" and {len(rows) - _ROWS} more" if len(rows) > _ROWS else "")
    columns = list(dict.fromkeys(clean(column, _PLACE) for _, column in cells))
    where = f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns[:_ROWS])}"
    return f"{'row' if len(rows) == 1 else 'rows'} {named}, {where}"


def _at(place: str) -> str:
    """Describe a JSON path: ``[2].name`` of a list of rows becomes ``row 3, column name``."""
    row, _, column = place.partition("].")
    return f"row {int(row[1:]) + 1}, column {column}" if column and row[1:].isdigit() else place or "a text"
