"""What a model reads off the signatures in a prompt: functions, their parameters, the fields of what they return."""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tests.models.prompt_reading import Wanted, telling

_TYPES = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "list": "array", "dict": "object"}
_CHANGES = ("CHANGES", "MAY CHANGE")


@dataclass(frozen=True)
class Field:
    """A scalar field of a response. ``place``: as a program reaches it (``['results'][0]['id']``), the first item of each list."""

    place: str
    name: str
    type: str

    @property
    def holders(self) -> frozenset[str]:
        return telling(re.sub(r"\W+", " ", self.place))


@dataclass(frozen=True)
class Function:
    """A signature. ``returns`` None: nothing is known of its response."""

    name: str
    text: str
    changes: bool
    parameters: tuple[Wanted, ...]
    returns: ast.expr | None = field(default=None, compare=False)

    @property
    def words(self) -> frozenset[str]:
        return telling(f"{self.name} {self.text.partition(' | ')[0]}")

    @property
    def fields(self) -> list[Field]:
        return [] if self.returns is None else list(fields_of(self.returns))


def functions(text: str) -> list[Function]:
    """The functions of an offer, in order; a comment belongs to the line behind it."""
    found: list[Function] = []
    comment = ""
    for line in text.splitlines():
        if line.startswith("# "):
            comment = line[2:]
            continue
        node = ast.parse(line).body[0]
        if isinstance(node, ast.AsyncFunctionDef):
            note = line.rpartition("...")[2].strip(" #")
            changes = comment.startswith(_CHANGES) or note in _CHANGES
            found.append(Function(node.name, comment, changes, tuple(_parameters(node, _notes(comment))), node.returns))
        comment = ""
    return found


def fields_of(kind: ast.expr, place: str = "", name: str = "") -> Iterator[Field]:
    """The scalar fields of a type as it is written in a signature or a look."""
    match kind:
        case ast.Dict(keys=keys, values=values):
            for key, value in zip(keys, values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    yield from fields_of(value, f"{place}[{key.value!r}]", key.value)
        case ast.Subscript(value=ast.Name(id="list"), slice=item):
            yield from fields_of(item, f"{place}[0]", name)
        case ast.BinOp(left=left):
            yield from fields_of(left, place, name)
        case ast.Name(id=simple) if simple in ("str", "int", "float", "bool"):
            yield Field(place, name, _TYPES[simple])
        case ast.Subscript(value=ast.Name(id="Literal")):
            yield Field(place, name, "string")
        case _:
            return


def _parameters(node: ast.AsyncFunctionDef, notes: Mapping[str, str]) -> Iterator[Wanted]:
    optional = len(node.args.args) - len(node.args.defaults)
    for number, one in enumerate(node.args.args):
        kind, choices = _type(one.annotation)
        default = node.args.defaults[number - optional] if number >= optional else None
        value = default.value if isinstance(default, ast.Constant) and default.value is not ... else None
        note = notes.get(one.arg, "")
        if note.startswith("one of "):
            choices = [choice for choice in note.removeprefix("one of ").split(", ") if choice != "…"]
        yield Wanted(one.arg, kind, default is None, choices, value, note)


def _type(annotation: ast.expr | None) -> tuple[str, list[object]]:
    match annotation:
        case ast.BinOp(left=left):
            return _type(left)
        case ast.Subscript(value=ast.Name(id="Literal"), slice=said):
            values = said.elts if isinstance(said, ast.Tuple) else [said]
            return "string", [one.value for one in values if isinstance(one, ast.Constant)]
        case ast.Subscript(value=ast.Name(id=name)) | ast.Name(id=name):
            return _TYPES.get(name, "object"), []
        case _:
            return "object", []


def _notes(comment: str) -> dict[str, str]:
    parts = comment.partition(" | ")[2].split("; ")
    return {part.partition(" ")[0]: part.partition(" ")[2] for part in parts}
