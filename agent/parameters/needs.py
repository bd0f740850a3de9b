"""Needs of parameters: the kind, format, allowed values and role of the value that a parameter takes.

They are inferred from a parameter's name, type, schema, description and example.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic.types import JsonValue

from agent.parameters.forms import allowed, form_of
from agent.parameters.kinds import FROM_WORDS, TO_WORDS, NeedKind, kind_of
from domain.tool import Parameter, ParameterType
from graph.identifiers import extract_words, split_words

_FEW = 2
"""Longest description, in words, that can replace a name of one letter."""


@dataclass(frozen=True, slots=True)
class Need:
    """A parameter prepared for matching it with values of requests and responses."""

    name: str
    """Name of the parameter."""
    type: ParameterType
    """Its JSON type."""
    kind: NeedKind
    """Kind of value that it takes."""
    words: tuple[str, ...]
    """Words of its name, which a request may use beside the value."""
    described: frozenset[str]
    """Words of its description."""
    role: Literal["", "from", "to"]
    """Which end of a range, route or conversion it is; empty if neither."""
    required: bool
    """True if a call must have it."""
    enum: tuple[JsonValue, ...]
    """Values that it allows; empty for any."""
    minimum: float | None
    """Least number that it allows."""
    maximum: float | None
    """Greatest number that it allows."""
    form: str
    """Its format and its description as one text, in which words for formats of dates are looked up."""
    example: str
    """An example or the default, as text; empty if there is none."""


def need_of(parameter: Parameter) -> Need:
    """Derive the need of a parameter from its name, type, format and description."""
    example = parameter.example if parameter.example not in (None, "") else parameter.default
    enum = tuple(str(value) if isinstance(value, (dict, list)) else value for value in allowed(parameter))
    return _need(
        parameter.name, parameter.type, form_of(parameter), parameter.description[:600], parameter.required, enum,
        parameter.minimum, parameter.maximum, "" if example is None else str(example)[:200],
    )  # fmt: skip


@lru_cache(maxsize=8192, typed=True)
def _need(
    name: str, kind: ParameterType, form: str, description: str, required: bool, enum: tuple[JsonValue, ...],
    minimum: float | None, maximum: float | None, example: str,
) -> Need:  # fmt: skip
    """Derive a need from hashable parts of a parameter, so that the result can be cached."""
    own, described = split_words(name) if len(name) > 1 else _initial_of(name, description), extract_words(description)
    semantic = kind_of(frozenset(own), own, kind, form, described)
    role = "from" if FROM_WORDS & set(own) and "out" not in own else "to" if TO_WORDS & set(own) else ""
    return Need(
        name, kind, semantic, own, described, role, required, enum, minimum, maximum, f"{form} {description}", example
    )


def _initial_of(name: str, description: str) -> tuple[str, ...]:
    """Return the words of a name of one letter.

    If the description has one or two words and begins with the letter, as "Year." for ``y``, its words are returned.
    """
    said = split_words(description)
    return said if 0 < len(said) <= _FEW and said[0].startswith(name.lower()) else split_words(name)
