"""Values in texts: which numbers an answer states, and which values a recorded response holds."""

import re
from collections.abc import Iterator

import orjson

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?=[a-z°µ%]{0,4}(?!\w))", re.IGNORECASE)
_NO_NUMBER = re.compile(
    r"\[\d+\]"  # the mark of a source
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"  # dates and moments
    r"|\b\d{1,2}:\d\d(?::\d\d)?\b"
    r"|^\s*\d+[.)]\s",  # the number of an item in a list
    re.MULTILINE,
)
_MINUS = str.maketrans({"\u2212": "-", "\u00a0": " ", "\u202f": " "})
_ROUNDING = 1e-9


def numbers_in(text: str) -> list[float]:
    """The numbers that stand alone or before a unit, thousands separators allowed. Marks of sources (``[2]``), dates, times of
    day, list numbers and digits inside identifiers are none.
    """
    plain = _NO_NUMBER.sub(" ", text.translate(_MINUS))
    return [float(found.replace(",", "")) for found in _NUMBER.findall(plain)]


def states_number(text: str, wanted: float, tolerance: float) -> bool:
    """Whether the text states a number at most ``tolerance`` away."""
    return any(near(number, wanted, tolerance) for number in numbers_in(text))


def states_text(text: str, wanted: str) -> bool:
    """Whether the text holds these words, whole, whatever their case and the blanks between them."""
    pattern = r"\s+".join(re.escape(word) for word in wanted.casefold().split())
    return re.search(rf"(?<!\w){pattern}(?!\w)", text.casefold()) is not None


def near(number: float, wanted: float, tolerance: float) -> bool:
    """At most ``tolerance`` apart; floats that print alike are alike."""
    return abs(number - wanted) <= tolerance + _ROUNDING * max(1.0, abs(wanted))


def response_has_number(response: str, wanted: float, tolerance: float) -> bool:
    """Whether a field of the response holds the number, as a number or in a text."""
    return any(
        states_number(leaf, wanted, tolerance) if isinstance(leaf, str) else near(leaf, wanted, tolerance)
        for leaf in _leaves(response)
    )


def response_has_text(response: str, wanted: str) -> bool:
    """Whether a field of the response, or a field's name, holds the text."""
    return any(states_text(leaf, wanted) for leaf in _leaves(response) if isinstance(leaf, str))


def _leaves(response: str) -> Iterator[float | str]:
    """Scalars and keys of a JSON response; any other response is one text."""
    try:
        value: object = orjson.loads(response)
    except orjson.JSONDecodeError:
        yield response
        return
    todo = [value]
    while todo:
        match todo.pop():
            case dict() as fields:  # pyright: ignore[reportUnknownVariableType]
                yield from fields  # pyright: ignore[reportUnknownVariableType]
                todo.extend(fields.values())  # pyright: ignore[reportUnknownArgumentType]
            case list() as items:  # pyright: ignore[reportUnknownVariableType]
                todo.extend(items)  # pyright: ignore[reportUnknownArgumentType]
            case bool() | None:
                pass
            case int() | float() as number:
                yield float(number)
            case other:
                yield str(other)
