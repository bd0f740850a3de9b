"""Patterns of solutions: requests with ``{input}`` in place of values, as they are compared with what is asked."""

import re
from collections.abc import Mapping

from agent.memory.similarity import pattern
from domain.model import JsonObject

_NAMED = re.compile(r"\{(\w+)\}")
_END = ".?!。？！ "
_FORMATS = {"email": "<email>", "uri": "<url>", "date": "<number>", "date-time": "<number>", "uuid": "<code>"}


def as_asked(text: str, inputs: Mapping[str, JsonObject]) -> str:
    """A pattern as a request that its values are left out of: each input as the kind that such values look like."""
    parts = _NAMED.split(text)
    return " ".join("".join(_kind(inputs.get(part, {})) if at % 2 else part for at, part in enumerate(parts)).split())


def _kind(schema: JsonObject) -> str:
    given = schema.get("format")
    if isinstance(given, str) and given in _FORMATS:
        return _FORMATS[given]
    return "<number>" if schema.get("type") in ("integer", "number") else "<name>"


def says(text: str, request: str) -> bool:
    """Whether a request has all words of a pattern around its inputs, and something in the place of each.

    Case, spaces and marks at the end do not count.
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
    """A request without its values, for a comparison with a pattern: by the pattern where it is worded like that, else by their looks."""
    return as_asked(text, inputs) if says(text, request) else pattern(request)
