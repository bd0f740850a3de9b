"""Find numbers, words and dates in texts, in the notations of several languages, and in recorded responses."""

import re
import unicodedata
from collections.abc import Iterator

import orjson

_WORDS_BY_NUMBER = {
    0: "zero zéro cero ninguno ninguna zero żaden żadna",
    1: "eins",
    2: "two zwei deux dos dwa dwie dwóch",
    3: "three drei trois tres trzy trzech tre",
    4: "four vier quatre cuatro cztery czterech quattro",
    5: "five fünf cinq cinco pięć pięciu cinque",
    6: "six sechs seis sześć sześciu",
    7: "seven sieben sept siete siedem siedmiu sette",
    8: "eight acht huit ocho osiem ośmiu otto",
    9: "nine neun neuf nueve dziewięć dziewięciu nove",
    10: "ten zehn dix diez dziesięć dziesięciu dieci",
    11: "eleven elf onze jedenaście",
    12: "twelve zwölf douze doce dwanaście",
}
NUMBER_WORDS = {number: frozenset(words.split()) for number, words in _WORDS_BY_NUMBER.items()}
"""Words of each number, in lower case."""


_NUMBER = re.compile(
    r"(?<![\w.])-?\d[\d.,'\u2019]*(?:[\u00a0\u202f]\d{3})*(?:[.,]\d+)?(?=[a-z°µ%]{0,4}(?!\w))", re.IGNORECASE
)
"""A number as it is written, in digits of any grouping, with up to four letters of a unit."""
_BLANKS = re.compile(r"(?<![\w.,])-?\d{1,3}(?: \d{3})+(?:[.,]\d+)?(?!\d)")
"""Thousands separated by plain blanks.

Only looked for where a number is expected, as two numbers in a row look the same.
"""
_NO_NUMBER = re.compile(
    r"\[\d+\]"  # mark of a source
    r"|\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:Z|[+-]\d\d:?\d\d)?)?"  # dates and times
    r"|\b\d{1,2}:\d\d(?::\d\d)?\b"
    r"|^\s*\d+[.)]\s",  # number of a list item
    re.MULTILINE,
)
"""Digits that are no quantity: source marks, dates, times of day, numbers of list items."""
_GROUPS = re.compile(r"-?\d{1,3}(?:(?P<mark>[.,'\u2019\u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d+)?")
"""A number with separators between groups of three digits."""
_WORD = re.compile(r"\w+")
_ROUNDING = 1e-9
"""Relative error of floats that is ignored."""
_ENOUGH_DIGITS = 3
"""A whole number of fewer digits does not count as a rounded form of a number with decimals."""


def find_numbers(text: str) -> list[float]:
    """Return the numbers that stand alone or before a unit; thousands and decimals as in any language.

    A number that can be read in two ways (``1.234``) is returned twice. Source marks (``[2]``), dates, times of day, list numbers and
    digits inside identifiers do not count.
    """
    return [number for shown in _find_written_numbers(text) for number, _ in _parse_readings(shown)]


def states_number(text: str, expected: float, tolerance: float, *, rounded: bool = False) -> bool:
    """Return whether the text states a number at most ``tolerance`` away; a small one may be a word.

    With ``rounded``, a number also counts that ``expected`` becomes when rounded to the decimals shown: at least one decimal, or three digits.
    """
    for written in (*_find_written_numbers(text), *_find_blank_separated(text)):
        for number, decimals in _parse_readings(written):
            if is_close(number, expected, tolerance) or (rounded and _rounds_to(expected, number, decimals)):
                return True
    words = NUMBER_WORDS.get(int(expected), frozenset()) if expected == int(expected) else frozenset[str]()
    return bool(words) and any(word in words for word in _WORD.findall(text.casefold()))


def states_text(text: str, expected: str) -> bool:
    """Return whether the text holds these words as whole words, in any case and with any blanks between them."""
    pattern = r"\s+".join(re.escape(word) for word in expected.casefold().split())
    if _is_unspaced_script(expected):  # such scripts have no blanks between words
        return re.search(pattern, text.casefold()) is not None
    return re.search(rf"(?<!\w){pattern}(?!\w)", _blank_unspaced(text.casefold())) is not None


def is_close(number: float, expected: float, tolerance: float) -> bool:
    """Return whether the numbers are at most ``tolerance`` apart, up to the rounding error of floats."""
    return abs(number - expected) <= tolerance + _ROUNDING * max(1.0, abs(expected))


def response_has_number(response: str, expected: float, tolerance: float) -> bool:
    """Return whether a field of the response holds the number, as a number or in a text."""
    return any(
        states_number(leaf, expected, tolerance) if isinstance(leaf, str) else is_close(leaf, expected, tolerance)
        for leaf in _iterate_leaves(response)
    )


def response_has_text(response: str, expected: str) -> bool:
    """Return whether a field of the response, or a field's name, holds the text."""
    return any(states_text(leaf, expected) for leaf in _iterate_leaves(response) if isinstance(leaf, str))


def response_has_day(response: str, expected: str) -> bool:
    """Return whether a field of the response holds a day as year, month and day, alone or with a time."""
    day = re.compile(rf"(?<!\d){re.escape(expected)}(?!\d)")
    return any(day.search(leaf) for leaf in _iterate_leaves(response) if isinstance(leaf, str))


def to_ascii_digits(text: str) -> str:
    """Replace digits and signs of other scripts by those of ASCII."""
    return "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else _SIGNS.get(c, c) for c in text)


_SIGNS = {"\u2212": "-", "\u066b": ".", "\u066c": ","}


def _find_written_numbers(text: str) -> list[str]:
    """Return the numbers of a text as they are written.

    Letters of scripts that set no blanks between words end a number.
    """
    spaced = _blank_unspaced(to_ascii_digits(text))
    return [found.rstrip(".,'\u2019") for found in _NUMBER.findall(_NO_NUMBER.sub(" ", spaced))]


def _find_blank_separated(text: str) -> list[str]:
    return [found.replace(" ", "\u00a0") for found in _BLANKS.findall(_NO_NUMBER.sub(" ", to_ascii_digits(text)))]


def _parse_readings(written: str) -> Iterator[tuple[float, int]]:
    """Yield the values that a written number may have, with its decimals."""
    grouped = _GROUPS.fullmatch(written)
    if grouped:
        ungrouped = written.replace(grouped["mark"], "")
        yield float(ungrouped.replace(",", ".")), _count_decimals(ungrouped)
        if written.count(grouped["mark"]) > 1 or grouped["mark"] not in ".,":
            return
    if re.fullmatch(r"-?\d+(?:[.,]\d+)?", written):
        yield float(written.replace(",", ".")), _count_decimals(written)
    elif not grouped:
        for part in re.findall(r"-?\d+(?:\.\d+)?", written):
            yield float(part), _count_decimals(part)


def _count_decimals(written: str) -> int:
    return len(re.split(r"[.,]", written)[-1]) if re.search(r"[.,]", written) else 0


def _rounds_to(expected: float, number: float, decimals: int) -> bool:
    """Return whether a shown number is ``expected`` rounded to the decimals shown."""
    enough = decimals > 0 or abs(number) >= 10 ** (_ENOUGH_DIGITS - 1)
    return enough and abs(number - expected) <= 0.5 * 10**-decimals + _ROUNDING * max(1.0, abs(expected))


def _is_unspaced_script(text: str) -> bool:
    return any(unicodedata.category(c) == "Lo" and not c.isascii() for c in text)


def _blank_unspaced(text: str) -> str:
    """Replace letters of scripts without case by blanks; many of these scripts set no blanks between words."""
    return "".join(" " if unicodedata.category(c) == "Lo" else c for c in text)


def _iterate_leaves(response: str) -> Iterator[float | str]:
    """Yield scalars and keys of a JSON response; any other response is one text."""
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
            case bool() | None:  # before int: bool is a subclass of it
                pass
            case int() | float() as number:
                yield float(number)
            case other:
                yield str(other)
