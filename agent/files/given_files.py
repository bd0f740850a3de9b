"""The files of one run: the values that its programs read, and the preview that the model is shown."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate, takewhile

from pydantic.types import JsonValue

from agent.programs.type_annotations import TypedDictDefinitions, render_annotation, render_inline
from agent.programs.value_previews import render_sample
from agent.text import clean_text
from domain.given_file import ColumnType, GivenFile
from graph.shapes import JsonShape, Kind, infer_shape

NEEDS_MODEL_MESSAGE = "A file that is given with a question is read by a program that a language model writes"
"""Start of the message when no model is set up; the caller appends what to do about it."""
_MAX_PREVIEW_CHARS = 6_000
"""Characters of the preview of all files together."""
_MAX_TYPE_CHARS = 900
"""Characters of one file's type."""
_SAMPLE_ROWS = 3
"""Rows or items shown of one file."""
_MAX_ROW_CHARS = 300
"""Characters of one row."""
_MAX_TEXT_CHARS = 600
"""Characters shown of a text file, or of a JSON value that is no list."""
_MAX_INFERRED_ITEMS = 1_000
"""Items of a JSON list from which its type is inferred."""
_NULL_KIND: tuple[Kind, ...] = ("null",)
_KIND_BY_COLUMN_TYPE: dict[ColumnType, Kind] = {
    "text": "string",
    "integer": "integer",
    "number": "number",
    "boolean": "boolean",
}


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """The files that the programs of one run can read."""

    new: tuple[GivenFile, ...] = ()
    """Files attached to the request itself."""
    earlier: tuple[GivenFile, ...] = ()
    """Files attached to earlier requests of the conversation."""

    @property
    def all_files(self) -> tuple[GivenFile, ...]:
        """All files, those of the request first."""
        return (*self.new, *self.earlier)

    @property
    def names_by_variable(self) -> dict[str, str]:
        """The user's name for each file, by its variable."""
        return {file.variable: file.name for file in self.all_files}

    def select_values(self, names: Collection[str]) -> dict[str, JsonValue]:
        """Return the value of each file whose variable is among ``names_by_variable``."""
        return {file.variable: file.value for file in self.all_files if file.variable in names}

    def declare_types(self) -> tuple[dict[str, str], str]:
        """Return each variable's type annotation for the type checker, and the TypedDict definitions they refer to."""
        types: dict[str, str] = {}
        lines: list[str] = []
        for file in self.all_files:
            writer = TypedDictDefinitions(f"{file.variable}_file")
            types[file.variable] = render_annotation(_infer_file_shape(file, exhaustive=True), writer)
            lines += writer.lines
        return types, "".join(f"{line}\n" for line in lines)

    @property
    def has_full_preview(self) -> bool:
        """True if the preview shows some file in full, so an answer may rest on it unread."""
        return any(
            file.characters <= _MAX_TEXT_CHARS
            if file.kind == "text"
            else isinstance(file.value, list) and len(file.value) <= _SAMPLE_ROWS
            for file in self.all_files
        )

    @property
    def preview(self) -> str:
        """The preview for the prompt: each file's variable, type and size, and its first rows or characters.

        Files beyond ``_MAX_PREVIEW_CHARS`` characters are listed by their first line only, so that the model knows of all of them.
        """
        previews = ["\n".join(_render_preview(file)) for file in self.all_files]
        # Whole previews as long as the running total fits; one character more each for the line break between them.
        fitting_count = len(
            list(
                takewhile(
                    lambda size: size <= _MAX_PREVIEW_CHARS,
                    accumulate(len(preview_text) + 1 for preview_text in previews),
                )
            )
        )
        summaries = [next(_render_preview(file)) for file in self.all_files[fitting_count:]]
        return "\n".join((*previews[:fitting_count], *summaries))


def _infer_file_shape(file: GivenFile, *, exhaustive: bool = False) -> JsonShape:
    """Infer the type of a file's value.

    ``exhaustive``: the type must hold for every item, so a list too long to be looked at whole is a plain list.
    """
    if file.kind != "table":
        is_long_list = exhaustive and isinstance(file.value, list) and len(file.value) > _MAX_INFERRED_ITEMS
        return JsonShape(frozenset({"array"})) if is_long_list else infer_shape(file.value, items=_MAX_INFERRED_ITEMS)
    # An empty cell is None in a typed column, and an empty text in a column of texts.
    columns = {
        column.name: JsonShape(
            frozenset(
                {_KIND_BY_COLUMN_TYPE[column.type], *(_NULL_KIND if column.empty and column.type != "text" else ())}
            )
        )
        for column in file.columns
    }
    row = JsonShape(frozenset({"object"}), columns, required=frozenset(columns))
    return JsonShape(frozenset({"array"}), items=row)


def _render_preview(file: GivenFile) -> Iterator[str]:
    """Yield the lines of one file's preview, first the one with its variable, type and size."""
    count_text = f"{file.rows:,} rows" if file.kind == "table" else f"{file.rows:,} items" if file.rows else "JSON"
    size = f"a text of {file.characters:,} characters" if file.kind == "text" else count_text
    yield f"{file.variable}: {render_inline(_infer_file_shape(file), _MAX_TYPE_CHARS)}  # {clean_text(file.name, 80)}, {size}"
    match file.value:
        case str() as text:
            yield f"begins: {text[:_MAX_TEXT_CHARS]!r}"
        case list() as items:
            yield from (f"  {render_sample(item, _MAX_ROW_CHARS)}" for item in items[:_SAMPLE_ROWS])
            if len(items) > _SAMPLE_ROWS:
                yield f"  … {len(items) - _SAMPLE_ROWS:,} more"
        case value:
            yield f"  {render_sample(value, _MAX_TEXT_CHARS)}"
