"""Where a value stands in the files that were given with a question."""

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
"""Characters below which a value that stands inside of others says nothing."""
_ROWS = 3
"""That are named."""
_PLACE = 80
_Cell = tuple[int, str]


class FileOrigins:
    """Of the files of one run. Each is read when a value is first looked for."""

    def __init__(self, files: Sequence[GivenFile] = ()) -> None:
        self._files = {one.variable: _Searched(one) for one in files}

    def place(self, value: JsonValue, variables: Collection[str] | None = None, column: str = "") -> str | None:
        """The file and the place in it that hold a value, in words: ``orders.csv, row 3, column name``. ``variables``: only these are looked at;
        ``column``: rather there, where the value stands in several.
        """
        chosen = [one for name, one in self._files.items() if variables is None or name in variables]
        for ways in (_Searched.whole, _Searched.inside):
            for one in chosen:
                if (found := ways(one, value, column)) is not None:
                    return ", ".join(part for part in (clean(one.file.name, _PLACE), found) if part)
        return None

    def has_a_word(self, words: Collection[str]) -> str | None:
        """The file that holds one of some words; None where none does."""
        held = next((one for one in self._files.values() if any(map(one.spoken.has_word, words))), None)
        return clean(held.file.name, _PLACE) if held is not None else None


class _Searched:
    """One file."""

    def __init__(self, file: GivenFile) -> None:
        self.file = file

    def whole(self, value: JsonValue, column: str) -> str | None:
        """The place of a whole cell, or of a whole value of JSON."""
        if self.file.kind == "table":
            cells = self._cells.get(normalize_key(value), ())
            return _of_cells([one for one in cells if one[1] == column] or cells) if cells else None
        place = self.spoken.find_field(value) if self.file.kind == "json" else None
        return None if place is None else clean(place, _PLACE)

    def inside(self, value: JsonValue, _: str) -> str | None:
        """Inside of a longer text."""
        if len(str(value)) < _LEAST or (place := self.spoken.find_in_text(value)) is None:
            return None
        return "words inside a text" if self.file.kind == "text" else f"words inside {clean(_at(place), _PLACE)}"

    @cached_property
    def spoken(self) -> ForeignText:
        """What it says, as a response would."""
        text = self.file.value if self.file.kind == "text" else json.dumps(self.file.value)
        return ForeignText(str(text))

    @cached_property
    def _cells(self) -> dict[str, list[_Cell]]:
        found: defaultdict[str, list[_Cell]] = defaultdict(list)
        for number, row in enumerate(cast("list[JsonObject]", self.file.value), start=1):
            for column, cell in row.items():
                if cell is not None and cell != "":
                    found[normalize_key(cell)].append((number, column))
        return dict(found)


def _of_cells(cells: Sequence[_Cell]) -> str:
    """Where the same value stands: in one cell, or in so many rows of a column."""
    rows = list(dict.fromkeys(row for row, _ in cells))
    named = ", ".join(map(str, rows[:_ROWS])) + (f" and {len(rows) - _ROWS} more" if len(rows) > _ROWS else "")
    columns = list(dict.fromkeys(clean(column, _PLACE) for _, column in cells))
    where = f"column {columns[0]}" if len(columns) == 1 else f"columns {', '.join(columns[:_ROWS])}"
    return f"{'row' if len(rows) == 1 else 'rows'} {named}, {where}"


def _at(place: str) -> str:
    """A place as the rows of a table are counted."""
    row, _, column = place.partition("].")
    return f"row {int(row[1:]) + 1}, column {column}" if column and row[1:].isdigit() else place or "a text"
