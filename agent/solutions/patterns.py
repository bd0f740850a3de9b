"""Patterns of solutions in the form that is compared with requests: values masked by their kinds."""

import re
from collections.abc import Mapping

from agent.memory.similarity import pattern
from domain.model import JsonObject

_NAMED = re.compile(r"\{(\w+)\}")
_END = ".?!。？！ "
_FORMATS = {"email": "<email>", "uri": "<url>", "date": "<number>", "date-time": "<number>", "uuid": "<code>"}


def mask_inputs(text: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a pattern with each input replaced by the kind of its values, such as ``<number>``."""
    parts = _NAMED.split(text)
    return " ".join(
        "".join(_choose_mask(inputs.get(part, {})) if at % 2 else part for at, part in enumerate(parts)).split()
    )


def _choose_mask(schema: JsonObject) -> str:
    format_name = schema.get("format")
    if isinstance(format_name, str) and format_name in _FORMATS:
        return _FORMATS[format_name]
    return "<number>" if schema.get("type") in ("integer", "number") else "<name>"


def is_worded_like(text: str, request: str) -> bool:
    """Return True if a request has all words of a pattern, and something in the place of each input.

    Case, spacing and final punctuation do not count.
    """
    first, *others = _NAMED.split(_normalize(text))[::2]
    plain_request = _normalize(request)
    if not others:
        return plain_request == first
    at = len(first)
    if not plain_request.startswith(first):
        return False
    for part in others[:-1]:
        place = plain_request.find(part, at + 1)
        if place < 0:
            return False
        at = place + len(part)
    return plain_request.endswith(others[-1]) and at < len(plain_request) - len(others[-1])


def _normalize(text: str) -> str:
    return " ".join(text.split()).rstrip(_END).casefold()


def mask_request(text: str, request: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a request with masked values for comparison with a pattern.

    The pattern itself is used if the request has its words; else values are recognized by their form.
    """
    return mask_inputs(text, inputs) if is_worded_like(text, request) else pattern(request)
