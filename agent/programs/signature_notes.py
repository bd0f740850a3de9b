"""Notes for a signature on what types do not express: formats, bounds and examples of parameters, units of fields."""

import re
from collections.abc import Iterator
from functools import lru_cache

from pydantic.types import JsonValue

from agent.parameter_needs import UNFILLED_KINDS, derive_need, find_format
from agent.text import clean_text
from domain.tool import Parameter
from graph.identifiers import singularize, split_words
from graph.lenient_json import read_value
from graph.response_fields import iterate_descriptions

# How the formats of dates and times are written in a note.
_FORMAT_PATTERNS = {"date": "YYYY-MM-DD", "date-time": "YYYY-MM-DDTHH:MM:SSZ", "time": "HH:MM:SS"}
_IMPLIED_BY_TYPE = frozenset({"int32", "int64", "float", "double", "string", "integer", "number", "boolean", "text"})
"""Formats that say no more than the type."""
_MAX_FORMAT_LENGTH = 24
_MAX_EXAMPLE_LENGTH = 32
_MAX_OPTIONS = 6


def describe_parameter(parameter: Parameter, *, lists_values: bool) -> str:
    """Return a short note on a parameter; empty if its type says everything.

    ``lists_values``: the type lists the allowed values.
    """
    parts = list(_list_notes(parameter, lists_values))
    return ", ".join(parts)


def _list_notes(parameter: Parameter, lists_values: bool) -> Iterator[str]:
    """Yield the parts of a note: format, bounds, and allowed values or an example."""
    form = find_format(parameter)
    if form and form.lower() not in _IMPLIED_BY_TYPE:
        yield _FORMAT_PATTERNS.get(form, clean_text(form, _MAX_FORMAT_LENGTH))
    yield from _describe_bounds(parameter)
    if parameter.enum and not lists_values:
        allowed = ", ".join(clean_text(str(option), _MAX_EXAMPLE_LENGTH) for option in parameter.enum[:_MAX_OPTIONS])
        yield f"one of {allowed}{', …' if len(parameter.enum) > _MAX_OPTIONS else ''}"
    elif (
        parameter.type == "string"
        and not lists_values
        and form not in _FORMAT_PATTERNS
        and not _is_supplied_by_tools(parameter)
    ):
        yield from _describe_example(parameter)


def _is_supplied_by_tools(parameter: Parameter) -> bool:
    """Return True if the value comes from another tool's answer or the caller's credentials, not from an author."""
    return derive_need(parameter).kind in {"identifier", *UNFILLED_KINDS}


def _describe_bounds(parameter: Parameter) -> Iterator[str]:
    """Yield the range of a number, if it is bounded."""
    low, high = (f"{bound:.10g}" if bound is not None else None for bound in (parameter.minimum, parameter.maximum))
    if low is not None and high is not None:
        yield f"{low}..{high}"
    elif low is not None:
        yield f">= {low}"
    elif high is not None:
        yield f"<= {high}"


def _describe_example(parameter: Parameter) -> Iterator[str]:
    """Yield a short example.

    The default of a required parameter counts as one, because many documents use it so.
    """
    example: JsonValue = parameter.example
    if example in (None, "") and parameter.required:
        example = parameter.default
    if isinstance(example, (str, int, float)) and not isinstance(example, bool):
        example_text = clean_text(str(example), 4 * _MAX_EXAMPLE_LENGTH)
        if 0 < len(example_text) <= _MAX_EXAMPLE_LENGTH:
            yield f"e.g. {example_text!r}"


# Singular words and abbreviations that count as units in a field's description.
_UNITS = frozenset(
    {
        *(
            "meter",
            "metre",
            "kilometer",
            "kilometre",
            "centimeter",
            "centimetre",
            "millimeter",
            "millimetre",
            "mile",
            "foot",
            "feet",
            "inch",
        ),
        *(
            "gram",
            "kilogram",
            "kilo",
            "microgram",
            "tonne",
            "ton",
            "pound",
            "liter",
            "litre",
            "milliliter",
            "millilitre",
            "hectare",
        ),
        *(
            "millisecond",
            "second",
            "minute",
            "hour",
            "day",
            "week",
            "month",
            "year",
            "thousand",
            "million",
            "billion",
            "percent",
        ),
        *(
            "degree",
            "celsius",
            "fahrenheit",
            "kelvin",
            "hectopascal",
            "euro",
            "dollar",
            "cent",
            "byte",
            "kilobyte",
            "megabyte",
            "gigabyte",
        ),
        *("watt", "kilowatt", "volt", "km", "kg", "kcal"),
    }
)
_UNIT_SUFFIXES = frozenset(
    {
        "km",
        "m",
        "cm",
        "mm",
        "kg",
        "g",
        "mg",
        "l",
        "ml",
        "ms",
        "s",
        "min",
        "h",
        "eur",
        "usd",
        "gbp",
        "pct",
        "mi",
        "ft",
        "lb",
    }
)
"""Abbreviations of units; a field with one in its name needs no note."""
_UNIT_PHRASE = re.compile(
    r"\b(?:in|as)\s+([^\W\d_]+)((?:\s+per(?:\s+(?:cubic|square))?\s+|/|\s+(?=celsius|fahrenheit))[^\W\d_]+)?|(%|°\s?[CF]\b|[€£$])",
    re.I,
)
"""Matches "in minutes", "as km per hour", "%" or "°C" in a description."""
_MAX_UNITS_LENGTH = 90
"""Maximum number of characters of all units: the line also holds the other notes on the function."""


@lru_cache(maxsize=4096)
def find_units(schema: str) -> str:
    """Return the fields with known units, such as ``duration in minutes``; empty if there are none.

    ``schema``: JSON Schema of the response as text; the cache needs a hashable argument.
    """
    units = ", ".join(dict.fromkeys(_list_units(schema)))
    return units if len(units) <= _MAX_UNITS_LENGTH else units[:_MAX_UNITS_LENGTH].rpartition(",")[0]


def _list_units(schema: str) -> Iterator[str]:
    """Yield each described field with its unit, unless the field's name already contains it."""
    for path, description in iterate_descriptions(read_value(schema)) if schema else ():
        name = path.removesuffix("[]").rpartition(".")[2]
        for match in _UNIT_PHRASE.finditer(description):
            unit = match[3] or f"{match[1]}{match[2] or ''}"
            is_unit = match[3] or singularize(match[1].lower()) in _UNITS
            if name and is_unit and not (set(split_words(unit)) | _UNIT_SUFFIXES) & set(split_words(name)):
                yield f"{name} in {unit}"
                break
