"""Render tools as typed async Python functions, the form in which an offer is shown, measured and checked.

A signature is valid Python whatever a catalogue contains: names are generated, values are written by ``repr``, and
prose is confined to one cleaned comment line.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, takewhile

from pydantic.types import JsonValue

from agent.execution.validation import build_value_schema
from agent.programs.function_names import assign_tool_names
from agent.programs.signature_notes import describe_parameter, find_units
from agent.programs.type_annotations import (
    TypedDictDefinitions,
    assign_parameter_names,
    fits_literal,
    render_annotation,
    render_inline,
)
from agent.text import clean_text, estimate_tokens
from domain.tool import Parameter, ToolDoc, ToolId
from graph.shapes import UNKNOWN, JsonShape, infer_response_shape, read_schema_shape

PREAMBLE = "from typing import Any, Literal, NotRequired, TypedDict"
"""Imports that stubs need."""

# Maximum numbers of characters of the parts of a signature.
_MAX_DESCRIPTION_LENGTH = 64
_MAX_RESPONSE_LENGTH = 420
_MAX_BODY_LENGTH = 300
_MAX_OPTIONAL_LENGTH = 480
"""Maximum number of characters of all optional parameters; required ones are always shown."""
_MAX_NOTES_LENGTH = 160
_MAX_DEFAULT_LENGTH = 24
_INT64_LIMIT = 2**63
_EFFECT_PREFIXES = {"reads": "", "changes": "CHANGES: ", "unknown": "MAY CHANGE: "}


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """A tool as a function."""

    tool: ToolId
    name: str
    """Name of the function."""
    arguments: Mapping[str, str]
    """The tool's parameter names by those of the function, required ones first."""
    text: str
    """Signature as it is shown: a comment line and a code line."""
    short_text: str
    """Short form: name and parameters only."""
    stub: str
    """Complete declaration for a type checker, to follow ``PREAMBLE``."""
    input_shape: JsonShape = UNKNOWN
    """Shape of the parameters as the fields of one object, by the function's names."""
    output_shape: JsonShape = UNKNOWN
    """Shape of the response."""

    @property
    def tokens(self) -> int:
        """Estimated number of tokens of the text, at four characters each."""
        return estimate_tokens(self.text)


def build_signature(doc: ToolDoc, shape: JsonShape | None = None) -> ToolSignature:
    """Build the signature of a single tool.

    ``shape``: shape of its response, if it is better known than from the document.
    """
    return build_signatures([doc], {} if shape is None else {doc.id: shape})[0]


def build_signatures(
    docs: Sequence[ToolDoc], shapes: Mapping[ToolId, JsonShape] | None = None, reserved: Collection[str] = ()
) -> list[ToolSignature]:
    """Build the signatures of tools that are offered together, with unique names outside of ``reserved``.

    ``shapes``: shapes of responses that are better known than from the documents.
    """
    known_shapes = shapes or {}
    return [
        _build_signature(doc, name, known_shapes.get(doc.id) or infer_response_shape(doc))
        for name, doc in assign_tool_names(docs, reserved)
    ]


def build_named_signatures(functions: Mapping[str, ToolDoc]) -> dict[str, ToolSignature]:
    """Build the signatures of tools that already have function names."""
    return {name: _build_signature(doc, name, infer_response_shape(doc)) for name, doc in functions.items()}


@dataclass(frozen=True, slots=True)
class _SignatureArgument:
    """A parameter of a signature."""

    name: str
    """Name in the function."""
    parameter: Parameter
    """The tool's parameter."""
    shape: JsonShape
    """Shape of its values."""

    def render_shown(self, characters: int) -> str:
        """Return the parameter as it is shown, with at most so many characters for the fields of its type."""
        return self._render(render_inline(self.shape, characters, optional=True))

    def render_stub(self, writer: TypedDictDefinitions) -> str:
        """Return the parameter as it is declared in a stub."""
        return self._render(render_annotation(self.shape, writer))

    @property
    def lists_values(self) -> bool:
        """True if the type that is shown lists all allowed values."""
        return fits_literal(self.shape.enum)

    def _render(self, annotation: str) -> str:
        """Return the parameter with a type, and with a default if it is optional."""
        return (
            f"{self.name}: {annotation}"
            if self.parameter.required
            else f"{self.name}: {annotation} = {_render_default(self)}"
        )


def _build_signature(doc: ToolDoc, name: str, response_shape: JsonShape) -> ToolSignature:
    """Build the signature of a tool under a given name."""
    ordered = sorted(doc.parameters, key=lambda parameter: not parameter.required)
    by_name = {parameter.name: parameter for parameter in ordered}
    arguments = [
        _SignatureArgument(argument_name, by_name[parameter_name], _build_shape(by_name[parameter_name]))
        for argument_name, parameter_name in assign_parameter_names(by_name, "p")
    ]
    shown_arguments = list(_select_shown_arguments(arguments))
    head = f"async def {name}({', '.join(argument.render_shown(_MAX_BODY_LENGTH) for argument in shown_arguments)})"
    returns = render_inline(response_shape, _MAX_RESPONSE_LENGTH)
    comment = _render_comment(doc, shown_arguments, len(arguments) - len(shown_arguments))
    inputs, outputs = TypedDictDefinitions(f"{name}_in", optional=True), TypedDictDefinitions(f"{name}_out")
    stub_arguments = ", ".join(argument.render_stub(inputs) for argument in arguments)
    result = render_annotation(response_shape, outputs)
    return ToolSignature(
        doc.id,
        name,
        {argument.name: argument.parameter.name for argument in arguments},
        f"{comment}{head}{'' if returns == 'Any' else f' -> {returns}'}: ...",
        f"async def {name}({', '.join(argument.render_shown(0) for argument in shown_arguments)}): ...{_render_effect(doc)}",
        "\n".join((*inputs.lines, *outputs.lines, f"async def {name}({stub_arguments}) -> {result}: ...")),
        _build_object_shape(arguments),
        response_shape,
    )


def _build_object_shape(arguments: Sequence[_SignatureArgument]) -> JsonShape:
    """Return the shape of an object with the parameters as its fields."""
    required = frozenset(argument.name for argument in arguments if argument.parameter.required)
    return JsonShape(
        frozenset({"object"}), {argument.name: argument.shape for argument in arguments}, required=required
    )


def _render_effect(doc: ToolDoc) -> str:
    """Return a comment for the short form if the tool changes something or may do so."""
    effect = _EFFECT_PREFIXES[doc.effect.kind].strip(" :")
    return f"  # {effect}" if effect else ""


def _select_shown_arguments(arguments: Sequence[_SignatureArgument]) -> Iterator[_SignatureArgument]:
    """Yield the parameters that are shown: all required ones, and optional ones as far as there is room."""
    remaining = _MAX_OPTIONAL_LENGTH
    for argument in arguments:
        if not argument.parameter.required:
            remaining -= len(argument.render_shown(_MAX_BODY_LENGTH)) + 2
        if remaining >= 0 or argument.parameter.required:
            yield argument


def _render_comment(doc: ToolDoc, arguments: Sequence[_SignatureArgument], hidden: int) -> str:
    """Return the comment line: effect, description, notes on parameters, units of fields in the response.

    ``hidden``: number of optional parameters that are not shown.
    """
    description = _cut_at_word(doc.description or doc.toolset_description or doc.toolset, _MAX_DESCRIPTION_LENGTH)
    named_notes = (
        (argument.name, describe_parameter(argument.parameter, lists_values=argument.lists_values))
        for argument in arguments
    )
    parameter_notes = "; ".join(f"{name} {note}" for name, note in named_notes if note)
    units = find_units("" if doc.learnt_response else doc.response_schema or "")
    parts = (
        description,
        _cut_at_word(parameter_notes, _MAX_NOTES_LENGTH),
        units,
        f"{hidden} more optional parameters" if hidden else "",
    )
    return f"# {_EFFECT_PREFIXES[doc.effect.kind]}{' | '.join(part for part in parts if part)}\n"


def _cut_at_word(text: str, limit: int) -> str:
    """Return a text as one cleaned line of at most ``limit`` characters, cut between words."""
    line = clean_text(text, 4 * limit).replace("`", "'")
    if len(line) <= limit:
        return line
    cut = line[: limit - 1]
    whole_words = cut.rpartition(" ")[0] or cut
    return whole_words.rstrip(" ,;:.…") + "…"


def _build_shape(parameter: Parameter) -> JsonShape:
    """Return the shape of a parameter's values."""
    return _parse_schema_shape(json.dumps(build_value_schema(parameter)))


@lru_cache(maxsize=4096)
def _parse_schema_shape(schema: str) -> JsonShape:
    """Return the shape of a JSON schema; cached, since parameters of many tools are alike."""
    return read_schema_shape(json.loads(schema))


def _render_default(argument: _SignatureArgument) -> str:
    """Return the default if it is short and of the right type, else ``...``.

    An omitted argument is not sent anyway.
    """
    value = _convert_scalar(argument.parameter.default, argument.shape)
    written = "..." if value is None else repr(value)
    return written if len(written) <= _MAX_DEFAULT_LENGTH else "..."


def _convert_scalar(value: JsonValue, shape: JsonShape) -> JsonValue:
    """Convert a default to the parameter's type, since catalogues write it as text.

    The result is None if that is impossible.
    """
    if shape.enum and value not in shape.enum:
        return None
    match value:
        case bool():
            return value if "boolean" in shape.kinds else None
        case int() | float() if not abs(value) < _INT64_LIMIT:
            return None
        case int() | float() if "number" in shape.kinds:
            return value
        case int() | float() if "integer" in shape.kinds and float(value).is_integer():
            return int(value)
        case str() if "string" in shape.kinds:
            return value
        case str() if shape.kinds & {"integer", "number", "boolean"}:
            return _convert_scalar(_parse_scalar(value), shape)
        case _:
            return None


def _parse_scalar(text: str) -> JsonValue:
    """Parse a number or boolean that is written as text; None if it is neither."""
    try:
        value: JsonValue = json.loads(text.strip().lower())
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, (bool, int, float)) else None


@dataclass(frozen=True, slots=True)
class OfferText:
    """Tools of an offer as text, best first."""

    text: str
    """Signatures as they are shown, one after the other."""
    signatures: tuple[ToolSignature, ...]
    """Signatures that fit into the budget, whole or in short form."""
    complete_count: int
    """Number of signatures, from the first, that are shown whole; the others show only name and parameters."""
    omitted: tuple[ToolId, ...] = ()
    """Tools at the end of the offer that did not fit even in short form."""

    @property
    def tokens(self) -> int:
        """Estimated number of tokens of the text, as for :attr:`ToolSignature.tokens`."""
        return estimate_tokens(self.text) if self.text else 0


def render_offer(
    docs: Sequence[ToolDoc],
    budget: int | None = None,
    shapes: Mapping[ToolId, JsonShape] | None = None,
    reserved: Collection[str] = (),
) -> OfferText:
    """Render the signatures of tools, best first, within ``budget`` tokens (None: no limit).

    The first ones are shown whole, as many as fit, and the rest in short form. If that is still too much, the last
    tools are omitted. Half of the budget is reserved for whole signatures, so that the best tools keep their structure.
    ``shapes``: shapes of responses that are better known than from the documents. ``reserved``: names that are in use
    for something else.
    """
    all_signatures = build_signatures(docs, shapes, reserved)
    characters = None if budget is None else max(4 * budget - 1, 0)
    shown_signatures, complete_count = _fit_budget(all_signatures, characters)
    text = "\n".join(
        signature.text if index < complete_count else signature.short_text
        for index, signature in enumerate(shown_signatures)
    )
    return OfferText(
        text,
        tuple(shown_signatures),
        complete_count,
        tuple(signature.tool for signature in all_signatures[len(shown_signatures) :]),
    )


def _fit_budget(signatures: Sequence[ToolSignature], characters: int | None) -> tuple[Sequence[ToolSignature], int]:
    """Return the signatures that fit, and the number of them that are shown whole.

    First whole ones in half of the room, then short ones in the rest; what then remains makes further ones whole.
    """
    if characters is None:
        return signatures, len(signatures)
    remaining = characters + 1  # the last line has no line break
    complete_count = _count_fitting((len(signature.text) + 1 for signature in signatures), remaining // 2)
    remaining -= sum(len(signature.text) + 1 for signature in signatures[:complete_count])
    short_count = _count_fitting(
        (len(signature.short_text) + 1 for signature in signatures[complete_count:]), remaining
    )
    remaining -= sum(
        len(signature.short_text) + 1 for signature in signatures[complete_count : complete_count + short_count]
    )
    fitting = signatures[: complete_count + short_count]
    return fitting, complete_count + _count_fitting(
        (len(signature.text) - len(signature.short_text) for signature in fitting[complete_count:]), remaining
    )


def _count_fitting(sizes: Iterable[int], available: int) -> int:
    """Return how many items fit, from the first."""
    return sum(1 for _ in takewhile(lambda total: total <= available, accumulate(sizes)))
