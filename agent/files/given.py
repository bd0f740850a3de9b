"""The files of one run: the values that its programs read, and the preview that the model is shown."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import accumulate, takewhile

from pydantic.types import JsonValue

from agent.programs.annotations import TypedDictDefinitions, render_annotation, render_inline
from agent.programs.value_previews import render_sample
from agent.text import clean
from domain.given_file import ColumnType, GivenFile
from graph.shapes import JsonShape, Kind, infer_shape

NEEDS_MODEL = "A file that is given with a question is read by a program that a language model writes"
"""Start of the message when no model is set up; the caller appends what to do about it."""
_MOST = 6_000
"""Characters of the preview of all files together."""
_STRUCTURE = 900
"""Characters of one file's type."""
_ROWS = 3
"""Rows or items shown of one file."""
_ROW = 300
"""Characters of one row."""
_TEXT = 600
"""Characters shown of a text file, or of a JSON value that is no list."""
_LOOKED_AT = 1_000
"""Items of a JSON list from which its type is inferred."""
_NULL: tuple[Kind, ...] = ("null",)
_KINDS: dict[ColumnType, Kind] = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """The files that the programs of one run can read."""

    new: tuple[GivenFile, ...] = ()
    """Files attached to the request itself."""
    before: tuple[GivenFile, ...] = ()
    """Files attached to earlier requests of the conversation."""

    @property
    def all(self) -> tuple[GivenFile, ...]:
        """All files, those of the request first."""
        return (*self.new, *self.before)

    @property
    def names(self) -> dict[str, str]:
        """The user's name for each file, by its variable."""
        return {one.variable: one.name for one in self.all}

    def inputs(self, names: Collection[str]) -> dict[str, JsonValue]:
        """Return the value of each file whose variable is among ``names``."""
        return {one.variable: one.value for one in self.all if one.variable in names}

    def declared(self) -> tuple[dict[str, str], str]:
        """Return each variable's type annotation for the type checker, and the TypedDict definitions they refer to."""
        types: dict[str, str] = {}
        lines: list[str] = []
        for one in self.all:
            writer = TypedDictDefinitions(f"{one.variable}_file")
            types[one.variable] = render_annotation(_shape(one, sure=True), writer)
            lines += writer.lines
        return types, "".join(f"{line}\n" for line in lines)

    @property
    def seen_whole(self) -> bool:
        """True if the preview shows some file in full, so an answer may rest on it unread."""
        return any(
            one.characters <= _TEXT if one.kind == "text" else isinstance(one.value, list) and len(one.value) <= _ROWS
            for one in self.all
        )

    @property
    def text(self) -> str:
        """The preview for the prompt: each file's variable, type and size, and its first rows or characters.

        Files beyond ``_MOST`` characters are listed by their first line only, so that the model knows of all of them.
        """
        told = ["\n".join(_shown(one)) for one in self.all]
        # Whole previews as long as the running total fits; one character more each for the line break between them.
        fits = len(list(takewhile(lambda size: size <= _MOST, accumulate(len(one) + 1 for one in told))))
        short = [next(_shown(one)) for one in self.all[fits:]]
        return "\n".join((*told[:fits], *short))


def _shape(file: GivenFile, *, sure: bool = False) -> JsonShape:
    """Infer the type of a file's value.

    ``sure``: the type must hold for every item, so a list too long to be looked at whole is a plain list.
    """
    if file.kind != "table":
        long = sure and isinstance(file.value, list) and len(file.value) > _LOOKED_AT
        return JsonShape(frozenset({"array"})) if long else infer_shape(file.value, items=_LOOKED_AT)
    # An empty cell is None in a typed column, and an empty text in a column of texts.
    columns = {
        one.name: JsonShape(frozenset({_KINDS[one.type], *(_NULL if one.empty and one.type != "text" else ())}))
        for one in file.columns
    }
    row = JsonShape(frozenset({"object"}), columns, required=frozenset(columns))
    return JsonShape(frozenset({"array"}), items=row)


def _shown(file: GivenFile) -> Iterator[str]:
    """Yield the lines of one file's preview, first the one with its variable, type and size."""
    counted = f"{file.rows:,} rows" if file.kind == "table" else f"{file.rows:,} items" if file.rows else "JSON"
    size = f"a text of {file.characters:,} characters" if file.kind == "text" else counted
    yield f"{file.variable}: {render_inline(_shape(file), _STRUCTURE)}  # {clean(file.name, 80)}, {size}"
    match file.value:
        case str() as text:
            yield f"begins: {text[:_TEXT]!r}"
        case list() as items:
            yield from (f"  {render_sample(one, _ROW)}" for one in items[:_ROWS])
            if len(items) > _ROWS:
                yield f"  … {len(items) - _ROWS:,} more"
        case value:
            yield f"  {render_sample(value, _TEXT)}"
