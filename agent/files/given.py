"""The files of one run, as its programs find them and as their author is shown them."""

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
"""Why nothing is done with one where none is written; what to do about it stands behind it."""
_MOST = 6_000
"""Characters of what an author is shown of all files."""
_STRUCTURE = 900
_ROWS = 3
_ROW = 300
_TEXT = 600
_LOOKED_AT = 1_000
"""Items of a list of JSON whose structure is looked at; of a longer one, nothing is sure."""
_NULL: tuple[Kind, ...] = ("null",)
_KINDS: dict[ColumnType, Kind] = {"text": "string", "integer": "integer", "number": "number", "boolean": "boolean"}


@dataclass(frozen=True, slots=True)
class GivenFiles:
    """``new``: those that were given with the request itself; ``before``: with earlier ones of its conversation."""

    new: tuple[GivenFile, ...] = ()
    before: tuple[GivenFile, ...] = ()

    @property
    def all(self) -> tuple[GivenFile, ...]:
        """Those of the request first."""
        return (*self.new, *self.before)

    @property
    def names(self) -> dict[str, str]:
        """By their variables, what their user calls them."""
        return {one.variable: one.name for one in self.all}

    def inputs(self, names: Collection[str]) -> dict[str, JsonValue]:
        """What a text finds that reads these names."""
        return {one.variable: one.value for one in self.all if one.variable in names}

    def declared(self) -> tuple[dict[str, str], str]:
        """For a check: the type of each variable, and the definitions that these need."""
        types: dict[str, str] = {}
        lines: list[str] = []
        for one in self.all:
            writer = TypedDictDefinitions(f"{one.variable}_file")
            types[one.variable] = render_annotation(_shape(one, sure=True), writer)
            lines += writer.lines
        return types, "".join(f"{line}\n" for line in lines)

    @property
    def seen_whole(self) -> bool:
        """Whether its author is shown all of one of them, so that an answer may rest on it unread."""
        return any(
            one.characters <= _TEXT if one.kind == "text" else isinstance(one.value, list) and len(one.value) <= _ROWS
            for one in self.all
        )

    @property
    def text(self) -> str:
        """What their author is shown: of each its variable, type and size, and how it begins. Never the whole."""
        told = ["\n".join(_shown(one)) for one in self.all]
        fits = len(list(takewhile(lambda size: size <= _MOST, accumulate(len(one) + 1 for one in told))))
        short = [next(_shown(one)) for one in self.all[fits:]]
        return "\n".join((*told[:fits], *short))


def _shape(file: GivenFile, *, sure: bool = False) -> JsonShape:
    """The structure of a file. ``sure``: nothing may be missing in it."""
    if file.kind != "table":
        long = sure and isinstance(file.value, list) and len(file.value) > _LOOKED_AT
        return JsonShape(frozenset({"array"})) if long else infer_shape(file.value, items=_LOOKED_AT)
    columns = {
        one.name: JsonShape(frozenset({_KINDS[one.type], *(_NULL if one.empty and one.type != "text" else ())}))
        for one in file.columns
    }
    row = JsonShape(frozenset({"object"}), columns, required=frozenset(columns))
    return JsonShape(frozenset({"array"}), items=row)


def _shown(file: GivenFile) -> Iterator[str]:
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
