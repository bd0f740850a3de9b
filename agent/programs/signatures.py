"""Tools as typed async Python functions: the form in which an offer is shown, measured and checked.

A signature is valid Python whatever a catalogue contains: names are generated, values are written by ``repr``, and prose is confined to
one cleaned comment line.
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
"""Imports at the top of stubs."""

_DESCRIPTION = 64
_RESPONSE = 420
_BODY = 300
_OPTIONAL = 480
"""Maximum number of characters of optional parameters; required ones are all shown."""
_NOTES = 160
_LONGEST_DEFAULT = 24
_LARGEST = 2**63
_EFFECTS = {"reads": "", "changes": "CHANGES: ", "unknown": "MAY CHANGE: "}


@dataclass(frozen=True, slots=True)
class Signature:
    """A tool as a function."""

    tool: ToolId
    name: str
    arguments: Mapping[str, str]
    """Names of the tool's parameters by those of the function, required ones first."""
    text: str
    """Text that is shown: a comment line and a code line."""
    short: str
    """Name and parameters only."""
    stub: str
    """Complete declaration for a type checker, to be placed after ``PREAMBLE``."""
    takes: Shape = UNKNOWN
    """Parameters as the fields of an object, by the function's names."""
    returns: Shape = UNKNOWN
    """Shape of the response."""

    @property
    def tokens(self) -> int:
        """Tokens of the text that is shown, estimated as four characters each."""
        return estimated_tokens(self.text)


def signature(doc: ToolDoc, shape: Shape | None = None) -> Signature:
    """Build a tool's signature.

    ``shape``: the shape of its response, if more is known of it than the document says.
    """
    return signatures([doc], {} if shape is None else {doc.id: shape})[0]


def signatures(
    docs: Sequence[ToolDoc], shapes: Mapping[ToolId, Shape] | None = None, taken: Collection[str] = ()
) -> list[Signature]:
    """Build the signatures of tools that are offered together, with unique names and none that is in ``taken``."""
    known = shapes or {}
    return [_signature(doc, name, known.get(doc.id) or response_shape(doc)) for name, doc in tool_names(docs, taken)]


def signatures_of(functions: Mapping[str, ToolDoc]) -> dict[str, Signature]:
    """Build the signatures of tools that already have function names."""
    return {name: _signature(doc, name, response_shape(doc)) for name, doc in functions.items()}


@dataclass(frozen=True, slots=True)
class _Argument:
    """Parameter of a signature."""

    name: str
    """Name in the function."""
    parameter: Parameter
    shape: Shape

    def shown(self, characters: int) -> str:
        """Return it as written in the text that is shown."""
        return self._written(in_line(self.shape, characters, optional=True))

    def checked(self, writer: Definitions) -> str:
        """Return it as written in a stub."""
        return self._written(annotation(self.shape, writer))

    @property
    def closed(self) -> bool:
        """True if the text that is shown lists all allowed values."""
        return literal(self.shape.enum)

    def _written(self, kind: str) -> str:
        """Return it with a type, and with a default if it is optional."""
        return f"{self.name}: {kind}" if self.parameter.required else f"{self.name}: {kind} = {_default(self)}"


def _signature(doc: ToolDoc, name: str, returned: Shape) -> Signature:
    """Build the signature of a tool under a given name."""
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
    """Return the parameters as the fields of one object."""
    required = frozenset(one.name for one in arguments if one.parameter.required)
    return Shape(frozenset({"object"}), {one.name: one.shape for one in arguments}, required=required)


def _short_note(doc: ToolDoc) -> str:
    """Return a comment for the short form if the tool changes something, or may."""
    effect = _EFFECTS[doc.effect.kind].strip(" :")
    return f"  # {effect}" if effect else ""


def _fitting(arguments: Sequence[_Argument]) -> Iterator[_Argument]:
    """Yield the parameters that are shown: all required ones, and optional ones as far as there is room."""
    left = _OPTIONAL
    for one in arguments:
        if not one.parameter.required:
            left -= len(one.shown(_BODY)) + 2
        if left >= 0 or one.parameter.required:
            yield one


def _comment(doc: ToolDoc, shown: Sequence[_Argument], hidden: int) -> str:
    """Return one line: effect, description, notes on parameters, and units of numbers in the response."""
    described = _at_word(doc.description or doc.toolset_description or doc.toolset, _DESCRIPTION)
    told = ((one.name, notes(one.parameter, closed=one.closed)) for one in shown)
    said = "; ".join(f"{name} {note}" for name, note in told if note)
    measured = units("" if doc.learnt_response else doc.response_schema or "")
    parts = (described, _at_word(said, _NOTES), measured, f"{hidden} more optional parameters" if hidden else "")
    return f"# {_EFFECTS[doc.effect.kind]}{' | '.join(part for part in parts if part)}\n"


def _at_word(text: str, limit: int) -> str:
    """Return a text as one cleaned line, cut between words."""
    line = clean(text, 4 * limit).replace("`", "'")
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    whole = cut.rpartition(" ")[0] or cut
    return whole.rstrip(" ,;:.…") + "…"


def _shape(parameter: Parameter) -> Shape:
    """Return the shape of a parameter's values."""
    return _of_schema(json.dumps(value_schema(parameter)))


@lru_cache(maxsize=4096)
def _of_schema(schema: str) -> Shape:
    """Return the shape of a JSON schema; cached, since parameters of many tools are alike."""
    return shape_of_schema(json.loads(schema))


def _default(argument: _Argument) -> str:
    """Return the default if it is short and of the right type, else ``...``: what is left out is not sent."""
    value = _fitted(argument.parameter.default, argument.shape)
    written = "..." if value is None else repr(value)
    return written if len(written) <= _LONGEST_DEFAULT else "..."


def _fitted(value: JsonValue, shape: Shape) -> JsonValue:
    """Convert a scalar to the type (catalogues write all as text); None if that is impossible."""
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
    """Parse a scalar that is written as text; None if it is none."""
    try:
        value: JsonValue = json.loads(text.strip().lower())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (bool, int, float)) else None
