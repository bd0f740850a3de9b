"""Values in texts: numbers and words that an answer states, and values that a recorded response holds."""

import re
import unicodedata
from collections.abc import Iterator

import orjson

from evaluation.number_words import NUMBER_WORDS

_NUMBER = re.compile(
    r"(?<![\w.])-?\d[\d.,'\u2019]*(?:[\u00a0\u202f]\d{3})*(?:[.,]\d+)?(?=[a-z°µ%]{0,4}(?!\w))", re.IGNORECASE
)
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
_GROUPS = re.compile(r"-?\d{1,3}(?:(?P<mark>[.,'\u2019\u00a0\u202f])\d{3})(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d+)?")
_WORD = re.compile(r"\w+")
_ROUNDING = 1e-9
_ENOUGH_DIGITS = 3
"""A whole number of fewer digits does not count as a rounded form of a number with decimals."""


def numbers_in(text: str) -> list[float]:
    """Return the numbers that stand alone or before a unit; thousands and decimals as in any language.

    A number that can be read in two ways (``1.234``) is returned twice. Source marks (``[2]``), dates, times of day, list numbers and
    digits inside identifiers do not count.
    """
    return [number for shown in _shown(text) for number, _ in _readings(shown)]


def states_number(text: str, wanted: float, tolerance: float, *, rounded: bool = False) -> bool:
    """Return whether the text states a number at most ``tolerance`` away; a small one may be a word.

    With ``rounded``, a number also counts that ``wanted`` becomes when rounded to the decimals shown: at least one decimal, or three digits.
    """
    for shown in (*_shown(text), *_blank_separated(text)):
        for number, decimals in _readings(shown):
            if near(number, wanted, tolerance) or (rounded and _rounds_to(wanted, number, decimals)):
                return True
    words = NUMBER_WORDS.get(int(wanted), frozenset()) if wanted == int(wanted) else frozenset[str]()
    return bool(words) and any(word in words for word in _WORD.findall(text.casefold()))


def states_text(text: str, wanted: str) -> bool:
    """Return whether the text holds these words as whole words, in any case and with any blanks between them."""
    pattern = r"\s+".join(re.escape(word) for word in wanted.casefold().split())
    if _unspaced(wanted):  # such scripts have no blanks between words
        return re.search(pattern, text.casefold()) is not None
    return re.search(rf"(?<!\w){pattern}(?!\w)", _without_unspaced(text.casefold())) is not None


def near(number: float, wanted: float, tolerance: float) -> bool:
    """Return whether the numbers are at most ``tolerance`` apart, up to the rounding error of floats."""
    return abs(number - wanted) <= tolerance + _ROUNDING * max(1.0, abs(wanted))


def response_has_number(response: str, wanted: float, tolerance: float) -> bool:
    """Return whether a field of the response holds the number, as a number or in a text."""
    return any(
        states_number(leaf, wanted, tolerance) if isinstance(leaf, str) else near(leaf, wanted, tolerance)
        for leaf in _leaves(response)
    )


def response_has_text(response: str, wanted: str) -> bool:
    """Return whether a field of the response, or a field's name, holds the text."""
    return any(states_text(leaf, wanted) for leaf in _leaves(response) if isinstance(leaf, str))


def response_has_day(response: str, wanted: str) -> bool:
    """Return whether a field of the response holds a day as year, month and day, alone or with a time."""
    day = re.compile(rf"(?<!\d){re.escape(wanted)}(?!\d)")
    return any(day.search(leaf) for leaf in _leaves(response) if isinstance(leaf, str))


def plain_digits(text: str) -> str:
    """Replace digits and signs of other scripts by those of ASCII."""
    return "".join(str(unicodedata.digit(c)) if c.isdigit() and not c.isascii() else _SIGNS.get(c, c) for c in text)


_SIGNS = {"\u2212": "-", "\u066b": ".", "\u066c": ","}


def _shown(text: str) -> list[str]:
    """Return the numbers of a text as they are written.

    Letters of scripts that set no blanks between words end a number.
    """
    spaced = _without_unspaced(plain_digits(text))
    return [found.rstrip(".,'\u2019") for found in _NUMBER.findall(_NO_NUMBER.sub(" ", spaced))]


def _blank_separated(text: str) -> list[str]:
    return [found.replace(" ", "\u00a0") for found in _BLANKS.findall(_NO_NUMBER.sub(" ", plain_digits(text)))]


def _readings(shown: str) -> Iterator[tuple[float, int]]:
    """Yield the values that a written number may have, with its decimals."""
    grouped = _GROUPS.fullmatch(shown)
    if grouped:
        whole = shown.replace(grouped["mark"], "")
        yield float(whole.replace(",", ".")), _decimals(whole)
        if shown.count(grouped["mark"]) > 1 or grouped["mark"] not in ".,":
            return
    if re.fullmatch(r"-?\d+(?:[.,]\d+)?", shown):
        yield float(shown.replace(",", ".")), _decimals(shown)
    elif not grouped:
        for part in re.findall(r"-?\d+(?:\.\d+)?", shown):
            yield float(part), _decimals(part)


def _decimals(shown: str) -> int:
    return len(re.split(r"[.,]", shown)[-1]) if re.search(r"[.,]", shown) else 0


def _rounds_to(wanted: float, number: float, decimals: int) -> bool:
    enough = decimals > 0 or abs(number) >= 10 ** (_ENOUGH_DIGITS - 1)
    return enough and abs(number - wanted) <= 0.5 * 10**-decimals + _ROUNDING * max(1.0, abs(wanted))


def _unspaced(text: str) -> bool:
    return any(unicodedata.category(c) == "Lo" and not c.isascii() for c in text)


def _without_unspaced(text: str) -> str:
    """Replace letters of scripts without case by blanks; many of these scripts set no blanks between words."""
    return "".join(" " if unicodedata.category(c) == "Lo" else c for c in text)


def _leaves(response: str) -> Iterator[float | str]:
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
