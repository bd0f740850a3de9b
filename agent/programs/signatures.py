"""Tools as typed async functions of Python: the form in which an offer is shown, measured and checked.

A signature is valid Python whatever a catalogue says: names are made, values are written as ``repr`` writes them, and prose stands in one
cleaned line of comment.
"""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic.types import JsonValue

from agent.execution.validation import value_schema
from agent.programs.annotations import Definitions, annotation, in_line, literal, own_names
from agent.programs.names import tool_names
from agent.programs.notes import notes
from agent.programs.units import units
from agent.text import clean, estimated_tokens
from domain.tool import Parameter, ToolDoc, ToolId
from graph.response_shape import response_shape
from graph.shapes import UNKNOWN, Shape, shape_of_schema

PREAMBLE = "from typing import Any, Literal, NotRequired, TypedDict"
"""What stubs begin with."""

_DESCRIPTION = 64
_RESPONSE = 420
_BODY = 300
_OPTIONAL = 480
"""Characters of the parameters that may be left out; the others are all shown."""
_NOTES = 160
_LONGEST_DEFAULT = 24
_LARGEST = 2**63
_EFFECTS = {"reads": "", "changes": "CHANGES: ", "unknown": "MAY CHANGE: "}


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool as a function. ``arguments``: names of the function's parameters to those of the tool, required ones first.

    ``text``: what is shown: a line of comment and a line of code. ``short``: name and parameters alone. ``stub``: the whole of it for
    a type checker, nothing cut; it stands behind ``PREAMBLE``. ``takes``: its parameters as the fields of an object, by the function's
    names. ``returns``: the structure of what it answers.
    """

    tool: ToolId
    name: str
    arguments: Mapping[str, str]
    text: str
    short: str
    stub: str
    takes: Shape = UNKNOWN
    returns: Shape = UNKNOWN

    @property
    def tokens(self) -> int:
        """Of what is shown, as the project estimates them where nobody counts: four characters each."""
        return estimated_tokens(self.text)


def signature(doc: ToolDoc, shape: Shape | None = None) -> Signature:
    """A tool's signature. ``shape``: the structure of its response, where more is known of it than the document says."""
    return signatures([doc], {} if shape is None else {doc.id: shape})[0]


def signatures(
    docs: Sequence[ToolDoc], shapes: Mapping[ToolId, Shape] | None = None, taken: Collection[str] = ()
) -> list[Signature]:
    """The signatures of tools that are offered together, in order: each has a name of its own, and none that is ``taken``."""
    known = shapes or {}
    return [_signature(doc, name, known.get(doc.id) or response_shape(doc)) for name, doc in tool_names(docs, taken)]


def signatures_of(functions: Mapping[str, ToolDoc]) -> dict[str, Signature]:
    """The signatures of tools that have their names as functions already."""
    return {name: _signature(doc, name, response_shape(doc)) for name, doc in functions.items()}


@dataclass(frozen=True, slots=True)
class _Argument:
    name: str
    parameter: Parameter
    shape: Shape

    def shown(self, characters: int) -> str:
        """As it is written in what is shown."""
        return self._written(in_line(self.shape, characters, optional=True))

    def checked(self, writer: Definitions) -> str:
        """As it is written in a stub."""
        return self._written(annotation(self.shape, writer))

    @property
    def closed(self) -> bool:
        """Whether what is shown names all values."""
        return literal(self.shape.enum)

    def _written(self, kind: str) -> str:
        return f"{self.name}: {kind}" if self.parameter.required else f"{self.name}: {kind} = {_default(self)}"


def _signature(doc: ToolDoc, name: str, returned: Shape) -> Signature:
    ordered = sorted(doc.parameters, key=lambda parameter: not parameter.required)
    by_name = {parameter.name: parameter for parameter in ordered}
    arguments = [_Argument(own, by_name[given], _shape(by_name[given])) for own, given in own_names(by_name, "p")]
    shown = list(_fitting(arguments))
    head = f"async def {name}({', '.join(one.shown(_BODY) for one in shown)})"
    returns = in_line(returned, _RESPONSE)
    comment = _comment(doc, shown, len(arguments) - len(shown))
    inputs, outputs = Definitions(f"{name}_in", optional=True), Definitions(f"{name}_out")
    checked = ", ".join(one.checked(inputs) for one in arguments)
    result = annotation(returned, outputs)
    return Signature(
        doc.id,
        name,
        {one.name: one.parameter.name for one in arguments},
        f"{comment}{head}{'' if returns == 'Any' else f' -> {returns}'}: ...",
        f"async def {name}({', '.join(one.shown(0) for one in shown)}): ...{_short_note(doc)}",
        "\n".join((*inputs.lines, *outputs.lines, f"async def {name}({checked}) -> {result}: ...")),
        _together(arguments),
        returned,
    )


def _together(arguments: Sequence[_Argument]) -> Shape:
    required = frozenset(one.name for one in arguments if one.parameter.required)
    return Shape(frozenset({"object"}), {one.name: one.shape for one in arguments}, required=required)


def _short_note(doc: ToolDoc) -> str:
    """That it changes something, or may, behind a signature without a comment of its own."""
    effect = _EFFECTS[doc.effect.kind].strip(" :")
    return f"  # {effect}" if effect else ""


def _fitting(arguments: Sequence[_Argument]) -> Iterator[_Argument]:
    left = _OPTIONAL
    for one in arguments:
        if not one.parameter.required:
            left -= len(one.shown(_BODY)) + 2
        if left >= 0 or one.parameter.required:
            yield one


def _comment(doc: ToolDoc, shown: Sequence[_Argument], hidden: int) -> str:
    """One line: whether it changes something, what it does, what is to be known of its parameters, in what its numbers are measured."""
    described = _at_word(doc.description or doc.toolset_description or doc.toolset, _DESCRIPTION)
    told = ((one.name, notes(one.parameter, closed=one.closed)) for one in shown)
    said = "; ".join(f"{name} {note}" for name, note in told if note)
    measured = units("" if doc.learnt_response else doc.response_schema or "")
    parts = (described, _at_word(said, _NOTES), measured, f"{hidden} more optional parameters" if hidden else "")
    return f"# {_EFFECTS[doc.effect.kind]}{' | '.join(part for part in parts if part)}\n"


def _at_word(text: str, limit: int) -> str:
    """One harmless line, cut between words."""
    line = clean(text, 4 * limit).replace("`", "'")
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    whole = cut.rpartition(" ")[0] or cut
    return whole.rstrip(" ,;:.…") + "…"


def _shape(parameter: Parameter) -> Shape:
    return _of_schema(json.dumps(value_schema(parameter)))


@lru_cache(maxsize=4096)
def _of_schema(schema: str) -> Shape:
    return shape_of_schema(json.loads(schema))


def _default(argument: _Argument) -> str:
    """The default where it is short and of the type; else ``...``: what is left out is not sent."""
    value = _fitted(argument.parameter.default, argument.shape)
    written = "..." if value is None else repr(value)
    return written if len(written) <= _LONGEST_DEFAULT else "..."


def _fitted(value: JsonValue, shape: Shape) -> JsonValue:
    """The scalar as the type has it (catalogues write all as text); None where it cannot be that."""
    if shape.enum and value not in shape.enum:
        return None
    match value:
        case bool():
            return value if "boolean" in shape.kinds else None
        case int() | float() if not abs(value) < _LARGEST:
            return None
        case int() | float() if "number" in shape.kinds:
            return value
        case int() | float() if "integer" in shape.kinds and float(value).is_integer():
            return int(value)
        case str() if "string" in shape.kinds:
            return value
        case str() if shape.kinds & {"integer", "number", "boolean"}:
            return _fitted(_read(value), shape)
        case _:
            return None


def _read(text: str) -> JsonValue:
    try:
        value: JsonValue = json.loads(text.strip().lower())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (bool, int, float)) else None
