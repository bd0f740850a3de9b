"""Values of a sentence as Python expressions: constants, paths, and texts with values in them."""

from collections.abc import Callable, Sequence

from agent.programs.grammar.fitting import constant, fitted
from agent.programs.grammar.paths import Path, pieces
from agent.programs.grammar.sentence import Value
from agent.programs.grammar.values import TEXT, Found, Known
from graph.shapes import UNKNOWN, Kind, Shape

Lookup = Callable[[Path], Found]
"""Returns the expression at a path, by the names that are known at that point."""

_SCALARS: frozenset[Kind] = frozenset({"string", "number", "integer", "boolean"})
_DASH = "–"
_DIGITS = 4


def value(given: Value, lookup: Lookup, wanted: Shape = UNKNOWN) -> Found:
    """Return the expression of a value, fitted to the wanted shape.

    Raises:
        InvalidDecisionError: a path leads nowhere, or the value cannot have that shape.
    """
    if not isinstance(given, str):
        return constant(given, wanted)
    parts = pieces(given)
    match parts:
        case [Path() as path]:
            return fitted(lookup(path).there, wanted, str(path))
        case [] | [str()]:
            return constant("".join(map(str, parts)), wanted)
        case _:
            return fitted(text(parts, lookup), wanted, "a text")


def text(parts: str | Sequence[str | Path], lookup: Lookup) -> Found:
    """Return a text with the values of its paths; a missing value is a dash, and the items of a list are joined."""
    found = [
        part if isinstance(part, str) else _gently(lookup(part))
        for part in (pieces(parts) if isinstance(parts, str) else parts)
    ]
    needs = tuple(need for part in found if isinstance(part, Found) for need in part.needs)
    written = [part if isinstance(part, str) else _shown(part) for part in found]
    if all(isinstance(part, str) for part in found):
        return Found(repr("".join(written)), Known(TEXT))
    # Before Python 3.12, an f-string cannot contain its own quotes or a backslash in an expression.
    if any('"' in one or "\\" in one for one, part in zip(written, found, strict=True) if isinstance(part, Found)):
        sum_of = (
            repr(one) if isinstance(part, str) else f"str({one})" for one, part in zip(written, found, strict=True)
        )
        return Found(" + ".join(sum_of), Known(TEXT), needs)
    inner = (_literal(one) if isinstance(part, str) else f"{{{one}}}" for one, part in zip(written, found, strict=True))
    return Found(f'f"{"".join(inner)}"', Known(TEXT), needs)


def _gently(found: Found) -> Found:
    """Return the form of an expression that treats a missing field as null, if there is one."""
    return found.soft or found


def _shown(part: Found) -> str:
    """Return an expression in the form in which a text shows it."""
    known = part.known
    if known.computed:
        return f"round({part.text}, {_DIGITS})"
    if known.a_list and known.each is None and known.item.shape.kinds <= _SCALARS and not known.nullable:
        return f"', '.join([str(each) for each in {part.text}])"
    return f"({part.text} if {part.text} is not None else '{_DASH}')" if known.nullable else part.text


def _literal(words: str) -> str:
    """Escape words for an f-string."""
    return "".join(_ESCAPED.get(one) or (one if one.isprintable() else repr(one)[1:-1]) for one in words)


_ESCAPED = {"\\": "\\\\", '"': '\\"', "{": "{{", "}": "}}", "\n": "\\n"}
