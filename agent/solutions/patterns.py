"""Patterns of solutions: requests with names of inputs in place of values, as ``How old is {name}?``.

A pattern is aligned with a request to find the values of its inputs, and masked by the kinds of these values to
measure how similar it is to a request. In a pattern, ``{name}`` is an input, and ``{what is|tell me}`` are
alternatives; an empty alternative may be left out. Any other difference between request and pattern means that they
do not match. The comparison knows no language: letters, digits and signs have to be equal; only punctuation,
quotation marks and the capital of the first word may differ.
"""

import re
from collections.abc import Mapping

from agent.memory.similarity import pattern
from domain.model import JsonObject

_NAMED = re.compile(r"\{(\w+)\}")
_END = ".?!。？！ "
_FORMATS = {"email": "<email>", "uri": "<url>", "date": "<number>", "date-time": "<number>", "uuid": "<code>"}


def mask_inputs(text: str, inputs: Mapping[str, JsonObject]) -> str:
    """Return a pattern with each input replaced by a mask for the kind of its values, such as ``<number>``."""
    parts = _NAMED.split(text)
    return " ".join(
        "".join(_choose_mask(inputs.get(part, {})) if at % 2 else part for at, part in enumerate(parts)).split()
    )


def _choose_mask(schema: JsonObject) -> str:
    """Return the mask for values of a schema; it is the one that :func:`mask_request` gives to such values."""
    format_name = schema.get("format")
    if isinstance(format_name, str) and format_name in _FORMATS:
        return _FORMATS[format_name]
    return "<number>" if schema.get("type") in ("integer", "number") else "<name>"


def is_worded_like(text: str, request: str) -> bool:
    """Return whether a request has all words of a pattern in order, and something in the place of each input.

    Case, spacing and final punctuation do not matter.
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
    """Return a request with its values masked, for comparison with a masked pattern.

    If the request has the words of the pattern, the result is the masked pattern; else values are recognized by their
    form.
    """
    return mask_inputs(text, inputs) if is_worded_like(text, request) else pattern(request)
