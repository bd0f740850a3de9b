"""Patterns of solutions in the form that is compared with requests: values masked by their kinds."""

import re
from collections.abc import Mapping

from agent.memory.similarity import pattern
from domain.model import JsonObject

_NAMED = re.compile(r"\{(\w+)\}")
_END = ".?!。？！ "
_FORMATS = {"email": "<email>", "uri": "<url>", "date": "<number>", "date-time": "<number>", "uuid": "<code>"}


def as_asked(text: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a pattern with each input replaced by the kind of its values, as ``<number>``."""
    parts = _NAMED.split(text)
    return " ".join("".join(_kind(inputs.get(part, {})) if at % 2 else part for at, part in enumerate(parts)).split())


def _kind(schema: JsonObject) -> str:
    given = schema.get("format")
    if isinstance(given, str) and given in _FORMATS:
        return _FORMATS[given]
    return "<number>" if schema.get("type") in ("integer", "number") else "<name>"


def says(text: str, request: str) -> bool:
    """Return True if a request has all words of a pattern, and something in the place of each input.

    Case, spacing and final punctuation do not count.
    """
    first, *others = _NAMED.split(_plain(text))[::2]
    asked = _plain(request)
    if not others:
        return asked == first
    at = len(first)
    if not asked.startswith(first):
        return False
    for part in others[:-1]:
        found = asked.find(part, at + 1)
        if found < 0:
            return False
        at = found + len(part)
    return asked.endswith(others[-1]) and at < len(asked) - len(others[-1])


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(_END).casefold()


def worded(text: str, request: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a request with masked values for comparison with a pattern.

    The pattern itself is used if the request has its words; else values are recognized by their form.
    """
    return as_asked(text, inputs) if says(text, request) else pattern(request)
