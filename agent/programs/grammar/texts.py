"""Constants, and texts with values in them, as expressions of Python that fit what is wanted."""

import json
from collections.abc import Callable, Sequence

from pydantic.types import JsonValue

from agent.programs.grammar.paths import Path, pieces
from agent.programs.grammar.sentence import Value
from agent.programs.grammar.values import NUMBER, TEXT, Found, Known
from domain.errors import InvalidDecisionError
from graph.shapes import UNKNOWN, Kind, Shape

Lookup = Callable[[Path], Found]
"""What lies at a path, by the names that are known where it stands."""

_SCALARS: frozenset[Kind] = frozenset({"string", "number", "integer", "boolean"})
_ARRAY: frozenset[Kind] = frozenset({"array"})
_TEXT: frozenset[Kind] = frozenset({"string"})
_WHOLE: frozenset[Kind] = frozenset({"integer"})
_TRUTH: frozenset[Kind] = frozenset({"boolean"})
_NUMBERS: frozenset[Kind] = frozenset({"number", "integer"})
_TYPES: dict[Kind, tuple[type, ...]] = {
    "boolean": (bool,), "integer": (int,), "number": (int, float), "array": (list,), "object": (dict,), "string": (str,), "null": (),
}  # fmt: skip
_DASH = "–"
_DIGITS = 4


def value(given: Value, lookup: Lookup, wanted: Shape = UNKNOWN) -> Found:
    """The expression of a value as a sentence gives it, fitted to what is wanted.

    Raises:
        InvalidDecisionError: a path leads nowhere, or the value cannot be what is wanted.
    """
    if not isinstance(given, str):
        return Found(repr(_constant(given, wanted)), Known())
    parts = pieces(given)
    match parts:
        case [Path() as path]:
            return _fitted(lookup(path).there, wanted, path)
        case [] | [str()]:
            return Found(repr(_constant("".join(map(str, parts)), wanted)), Known(TEXT))
        case _:
            return text(parts, lookup)


def text(parts: str | Sequence[str | Path], lookup: Lookup) -> Found:
    """A text with the values of its paths; a value that is not there is a dash, a list its items behind each other."""
    found = [
        part if isinstance(part, str) else _gently(lookup(part))
        for part in (pieces(parts) if isinstance(parts, str) else parts)
    ]
    needs = tuple(need for part in found if isinstance(part, Found) for need in part.needs)
    written = [part if isinstance(part, str) else _shown(part) for part in found]
    if all(isinstance(part, str) for part in found):
        return Found(repr("".join(written)), Known(TEXT))
    if any('"' in one or "\\" in one for one, part in zip(written, found, strict=True) if isinstance(part, Found)):
        sum_of = (
            repr(one) if isinstance(part, str) else f"str({one})" for one, part in zip(written, found, strict=True)
        )
        return Found(" + ".join(sum_of), Known(TEXT), needs)
    inner = (_literal(one) if isinstance(part, str) else f"{{{one}}}" for one, part in zip(written, found, strict=True))
    return Found(f'f"{"".join(inner)}"', Known(TEXT), needs)


def number(found: Found) -> str:
    """An expression as a number: APIs write some as text."""
    return f"float({found.text})" if "string" in found.known.shape.kinds else found.text


def _gently(found: Found) -> Found:
    return found.soft or found


def _shown(part: Found) -> str:
    known = part.known
    if known.computed:
        return f"round({part.text}, {_DIGITS})"
    if known.a_list and known.each is None and known.item.shape.kinds <= _SCALARS and not known.nullable:
        return f"', '.join([str(each) for each in {part.text}])"
    return f"({part.text} if {part.text} is not None else '{_DASH}')" if known.nullable else part.text


def _literal(words: str) -> str:
    """Words within an f-string."""
    return "".join(_ESCAPED.get(one) or (one if one.isprintable() else repr(one)[1:-1]) for one in words)


_ESCAPED = {"\\": "\\\\", '"': '\\"', "{": "{{", "}": "}}", "\n": "\\n"}


def _fitted(found: Found, wanted: Shape, path: Path) -> Found:
    """A value that lies somewhere as the one that is wanted, where only its type differs."""
    kinds, known = _kinds(wanted), found.known
    if not kinds or known.a_list is None:
        return found
    if known.a_list and "array" not in kinds:
        raise InvalidDecisionError(
            f"{path} is a list where one value is wanted: `for_each` goes through a list, `{path}[0]` is its first"
        )
    if not known.a_list and kinds == _ARRAY:
        inner = _fitted(found, wanted.items or UNKNOWN, path)
        return Found(f"[{inner.text}]", Known(wanted), found.needs)
    has = known.shape.kinds
    if kinds == _TEXT and known.a_number:
        return Found(f"str({found.text})", Known(TEXT), found.needs)
    if kinds == _WHOLE and (known.computed or has in (_TEXT, NUMBER.kinds)):
        return Found(f"int({found.text})", Known(wanted), found.needs)
    if kinds <= _NUMBERS and has == _TEXT:
        return Found(f"float({found.text})", Known(wanted), found.needs)
    return found


def _kinds(shape: Shape) -> frozenset[Kind]:
    return frozenset(kind for kind in shape.kinds if kind != "null")


def _constant(given: Value, wanted: Shape) -> JsonValue:
    """A constant as what is wanted, where it says that in another type."""
    kinds = _kinds(wanted)
    if isinstance(given, list):
        return [*given]
    if not kinds or given in wanted.enum:
        return given
    if kinds == _ARRAY:
        read = _read(given)
        return read if isinstance(read, list) else [_constant(given, wanted.items or UNKNOWN)]
    if kinds == _TEXT and not isinstance(given, str):
        return str(given).lower() if isinstance(given, bool) else str(given)
    if "string" not in kinds and isinstance(given, str):
        return _told(given, kinds)
    if kinds == _WHOLE and isinstance(given, float) and given.is_integer():
        return int(given)
    return given


def _told(given: str, kinds: frozenset[Kind]) -> JsonValue:
    """What a text says, where no text is wanted."""
    read = _read(given.lower() if kinds == _TRUTH else given)
    if read is not None and any(type(read) in _TYPES[kind] for kind in kinds):
        return read
    raise InvalidDecisionError(f"{given[:60]!r} is not {' or '.join(sorted(kinds))}, which is wanted there")


def _read(given: JsonValue) -> JsonValue:
    try:
        return json.loads(given) if isinstance(given, str) else None
    except (ValueError, RecursionError):
        return None
