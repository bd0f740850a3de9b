"""Format and allowed values of a parameter, read from its schema and its example."""

import json
import re
from functools import lru_cache
from typing import Any, cast

from pydantic.types import JsonValue

from domain.tool import Parameter

_FORM = re.compile(r'"format"\s*:\s*"(email|uri|date|date-time|time|ipv4)"')
_AT = re.compile(r'"pattern"\s*:\s*"(?:[^"\\]|\\.)*@')
_ADDRESS = re.compile(r"[\[\"']*[\w.+-]+@[\w-]+(?:\.[\w-]+)+[\]\"']*")
_MOST = 60


def form_of(parameter: Parameter) -> str:
    """Return the format of a text or of a list's items by its JSON Schema name; empty if unknown.

    ``email`` is also inferred from an ``@`` in a pattern, or from the example.
    """
    if parameter.format:
        return parameter.format
    if parameter.type not in ("string", "array"):
        return ""
    schema = parameter.json_schema or ""
    told = _FORM.search(schema) if parameter.type == "array" else None
    if told:
        return told[1]
    example = "" if parameter.example is None else str(parameter.example)
    return "email" if _AT.search(schema) or _ADDRESS.fullmatch(example) else ""


def allowed(parameter: Parameter) -> tuple[JsonValue, ...]:
    """Return the allowed values of a parameter or, for a list, of its items; empty if they are not restricted."""
    if parameter.enum or parameter.type != "array" or not parameter.json_schema:
        return parameter.enum
    return _of_items(parameter.json_schema)


@lru_cache(maxsize=2048)
def _of_items(schema: str) -> tuple[JsonValue, ...]:
    """Return the ``enum`` of the items in a list's JSON schema, or in one of its ``anyOf`` and ``oneOf`` branches."""
    try:
        whole = json.loads(schema)
    except (ValueError, RecursionError):
        return ()
    for one in (whole, *_alternatives(whole)):
        items: Any = cast("dict[str, Any]", one).get("items") if isinstance(one, dict) else None
        values: Any = cast("dict[str, Any]", items).get("enum") if isinstance(items, dict) else None
        if isinstance(values, list) and all(isinstance(v, (str, int, float)) for v in cast("list[Any]", values)):
            return tuple(cast("list[JsonValue]", values)[:_MOST])
    return ()


def _alternatives(schema: Any) -> list[Any]:
    """Return the branches of ``anyOf`` and ``oneOf``."""
    if not isinstance(schema, dict):
        return []
    told = cast("dict[str, Any]", schema)
    found = [told.get(key) for key in ("anyOf", "oneOf")]
    return [one for some in found if isinstance(some, list) for one in cast("list[Any]", some)]
