"""Patterns of solutions: requests with ``{input}`` in place of values, as they are compared with what is asked."""

import re
from collections.abc import Mapping
from functools import lru_cache

from agent.memory.similarity import pattern
from agent.plans.request_template import named_in
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


def said_in(text: str, request: str) -> dict[str, str] | None:
    """The words of a request that stand where a pattern has its inputs; None where it is worded otherwise, or an input had two values.

    Case, spaces and marks at the end do not count.
    """
    names = named_in(text)
    hit = _reader(text, tuple(names)).fullmatch(" ".join(request.split()).rstrip(_END))
    return hit.groupdict() if hit else None


@lru_cache(maxsize=4096)
def _reader(text: str, names: tuple[str, ...]) -> re.Pattern[str]:
    parts = _NAMED.split(" ".join(text.split()).rstrip(_END))
    seen: set[str] = set()
    made: list[str] = []
    for at, part in enumerate(parts):
        if at % 2 and part in names:
            made.append(f"(?P={part})" if part in seen else rf"(?P<{part}>\S(?:.*?\S)??)")
            seen.add(part)
        else:
            made.append(re.escape(f"{{{part}}}" if at % 2 else part))
    return re.compile("".join(made), re.IGNORECASE | re.DOTALL)


def worded(text: str, request: str, inputs: Mapping[str, JsonObject]) -> str:
    """A request without its values, for a comparison with a pattern: by the pattern where it is worded like that, else by their looks."""
    return as_asked(text, inputs) if said_in(text, request) is not None else pattern(request)
