"""What a parameter wants: the kind of thing, its form, and which of two ends it is."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic.types import JsonValue

from agent.parameters.forms import allowed, form_of
from agent.parameters.kinds import FROM_WORDS, TO_WORDS, NeedKind, kind_of
from domain.tool import Parameter, ParameterType
from graph.identifiers import extract_words, split_words

_FEW = 2
"""Words of a description that may be a name."""


@dataclass(frozen=True, slots=True)
class Need:
    """A parameter as the matching sees it. ``words``: the words of its name that a request may use beside a value."""

    name: str
    type: ParameterType
    kind: NeedKind
    words: tuple[str, ...]
    described: frozenset[str]
    role: Literal["", "from", "to"]
    required: bool
    enum: tuple[JsonValue, ...]
    minimum: float | None
    maximum: float | None
    form: str
    example: str


def need_of(parameter: Parameter) -> Need:
    """What a parameter wants, judged by its name, type, format and description."""
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
    own, described = split_words(name) if len(name) > 1 else _initial_of(name, description), extract_words(description)
    semantic = kind_of(frozenset(own), own, kind, form, described)
    role = "from" if FROM_WORDS & set(own) and "out" not in own else "to" if TO_WORDS & set(own) else ""
    return Need(
        name, kind, semantic, own, described, role, required, enum, minimum, maximum, f"{form} {description}", example
    )


def _initial_of(name: str, description: str) -> tuple[str, ...]:
    """A name of one letter stands for the description, where that is a word or two which begin with it: ``y``, "Year."."""
    said = split_words(description)
    return said if 0 < len(said) <= _FEW and said[0].startswith(name.lower()) else split_words(name)
