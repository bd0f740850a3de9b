"""What a parameter wants: which kinds of spans may fill it, how well, and from which side of the request."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from pydantic.types import JsonValue

from agent.parameters.forms import allowed, form_of
from agent.parameters.kinds import NeedKind, kind_of
from domain.tool import JsonType, Parameter
from graph.identifiers import text_words, words
from offline.nlp.entities import SpanKind
from offline.nlp.gazetteer import FROM_WORDS, TO_WORDS

FITS: Mapping[NeedKind, Mapping[SpanKind, float]] = {
    "secret": {},
    "technical": {},
    "email": {"email": 0.95},
    "url": {"url": 0.95, "domain": 0.8},
    "domain": {"domain": 0.95, "url": 0.7},
    "ip": {"ip": 0.95},
    "phone": {"phone": 0.95},
    "latitude": {"coordinates": 0.95, "number": 0.1},
    "longitude": {"coordinates": 0.95, "number": 0.1},
    "coordinates": {"coordinates": 0.95},
    "currency": {"currency": 0.9, "code": 0.6},
    "unit": {"unit": 0.9},
    "language": {"language": 0.85},
    "country": {"country": 0.88, "name": 0.6, "quoted": 0.55},
    "date": {"date": 0.9, "time": 0.0},
    "year": {"number": 0.0, "date": 0.5},
    "time": {"time": 0.9, "date": 0.0},
    "place": {"name": 0.6, "country": 0.62, "quoted": 0.65, "phrase": 0.4},
    "person": {"name": 0.7, "quoted": 0.75, "phrase": 0.35},
    "organization": {"quoted": 0.7, "name": 0.52, "code": 0.45, "phrase": 0.3},
    "symbol": {"code": 0.75, "name": 0.5, "quoted": 0.6, "currency": 0.55},
    "identifier": {"code": 0.55, "quoted": 0.5, "number": 0.2},
    "amount": {"number": 0.45},
    "number": {"number": 0.35},
    "boolean": {},
    "query": {"quoted": 0.9, "phrase": 0.66, "name": 0.68},
    "text": {"quoted": 0.92},
    "entity": {"quoted": 0.75, "name": 0.52, "phrase": 0.36, "code": 0.4, "number": 0.42},
}
"""How well a span's kind alone speaks for it, in [0, 1]; words around the span move it (agent.candidates)."""

_FEW = 2
"""Words of a description that may be a name."""


@dataclass(frozen=True, slots=True)
class Need:
    """A parameter as the matching sees it. ``specific``: the words of its name that a request may use beside a value."""

    name: str
    type: JsonType
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
    name: str, kind: JsonType, form: str, description: str, required: bool, enum: tuple[JsonValue, ...],
    minimum: float | None, maximum: float | None, example: str,
) -> Need:  # fmt: skip
    own, described = words(name) if len(name) > 1 else _initial_of(name, description), text_words(description)
    semantic = kind_of(frozenset(own), own, kind, form, described)
    role = "from" if FROM_WORDS & set(own) and "out" not in own else "to" if TO_WORDS & set(own) else ""
    return Need(
        name, kind, semantic, own, described, role, required, enum, minimum, maximum, f"{form} {description}", example
    )


def _initial_of(name: str, description: str) -> tuple[str, ...]:
    """A name of one letter stands for the description, where that is a word or two which begin with it: ``y``, "Year."."""
    said = words(description)
    return said if 0 < len(said) <= _FEW and said[0].startswith(name.lower()) else words(name)
