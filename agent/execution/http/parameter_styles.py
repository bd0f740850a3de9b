"""Values as text outside a JSON body, in OpenAPI's styles (RFC 6570's expansions; OpenAPI 3.1, section "Style Examples")."""

import json
import re
from urllib.parse import quote

from pydantic.types import JsonValue

from domain.errors import InvalidArgumentsError
from domain.tool import Parameter

Pairs = list[tuple[str, str]]

_SEPARATORS = {"form": ",", "spaceDelimited": " ", "pipeDelimited": "|"}
_LEADS = {"label": ".", "matrix": ";"}
_COOKIE_SAFE = "!#$&'()*+/:<=>?@[]^`{|}~"


def plain(value: JsonValue) -> str:
    """A value as text: JSON for structures and booleans."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def pairs(parameter: Parameter, value: JsonValue) -> Pairs:
    """Names and values, not yet encoded, of a query or form: ``form``, ``spaceDelimited``, ``pipeDelimited``, ``deepObject``, ``json``.

    A list without a style is repeated, an object without one is JSON. Null items are left out.
    """
    name, style = parameter.wire_name, parameter.style
    exploded = (parameter.explode is not False and style in (None, "form")) or parameter.explode is True
    match value:
        case list() if style != "json":
            texts = [plain(item) for item in value if item is not None]
            return [(name, text) for text in texts] if exploded else _joined(parameter, texts)
        case dict() if style == "deepObject":
            return [(f"{name}{path}", text) for path, text in _deep(value)]
        case dict() if style not in (None, "json"):
            members = [(key, plain(item)) for key, item in value.items() if item is not None]
            return members if exploded else _joined(parameter, [text for member in members for text in member])
        case _:
            return [(name, _text(parameter, value))]


def _text(parameter: Parameter, value: JsonValue) -> str:
    """A value as text; JSON, quotes included, where the document says JSON."""
    return json.dumps(value, ensure_ascii=False) if parameter.style == "json" else plain(value)


def _joined(parameter: Parameter, texts: list[str]) -> Pairs:
    separator = _SEPARATORS.get(parameter.style or "form", ",")
    return [(parameter.wire_name, separator.join(texts))] if texts else []


def _deep(value: JsonValue, path: str = "") -> Pairs:
    """``[a][b]`` for what lies deeper; lists are repeated. OpenAPI leaves both open, servers read them so."""
    match value:
        case dict():
            return [pair for key, item in value.items() for pair in _deep(item, f"{path}[{key}]")]
        case list():
            return [(path, plain(item)) for item in value if item is not None]
        case None:
            return []
        case _:
            return [(path, plain(value))]


def query_text(made: Pairs) -> str:
    """Pairs as a query or a form, everything but letters, digits, ``-``, ``.``, ``_`` and ``~`` percent-encoded.

    The commas, bars and spaces that join a list are encoded like any other: a decoded value is what servers split.
    """
    return "&".join(f"{quote(name, safe='')}={quote(value, safe='')}" for name, value in made)


def path_text(parameter: Parameter, value: JsonValue) -> str:
    """A value in a path: ``simple``, ``label`` (``.a``) or ``matrix`` (``;name=a``), its parts encoded and its joints as they are."""
    name, style, explode = parameter.wire_name, parameter.style, parameter.explode is True
    if style == "json" or not isinstance(value, (list, dict)):
        text = path_value(name, _text(parameter, value))
        return _LEADS.get(style or "", "") + (f"{quote(name, safe='')}={text}" if style == "matrix" else text)
    parts = _parts(name, value, explode=explode)
    if style == "matrix":
        key = quote(name, safe="")
        if not explode:
            return f";{key}={','.join(parts)}"
        return "".join(f";{part}" if isinstance(value, dict) else f";{key}={part}" for part in parts)
    if style == "label":
        return "." + ("." if explode else ",").join(parts)
    return ",".join(parts)


def _parts(name: str, value: "list[JsonValue] | dict[str, JsonValue]", *, explode: bool) -> list[str]:
    if isinstance(value, list):
        found = [path_value(name, item) for item in value if item is not None]
    else:
        members = [(path_value(name, key), path_value(name, item)) for key, item in value.items() if item is not None]
        found = [f"{k}={v}" for k, v in members] if explode else [text for member in members for text in member]
    if not found:
        raise InvalidArgumentsError(f"{name} stands in the path and may not be empty")
    return found


def path_value(name: str, value: JsonValue) -> str:
    """A value as one segment of a path: everything but letters, digits, ``-``, ``_`` and ``~`` percent-encoded.

    Servers decode ``%2e%2e`` and climb, so a value with a segment ``.`` or ``..`` is refused, as is an empty one.
    """
    text = plain(value)
    segments = re.split(r"[/\\]", text.replace("%2f", "/").replace("%2F", "/").replace("%2e", ".").replace("%2E", "."))
    if not text or any(segment in (".", "..") for segment in segments):
        raise InvalidArgumentsError(f"{name} stands in the path and may not be {text!r}")
    return quote(text, safe="").replace(".", "%2E")


def header_text(parameter: Parameter, value: JsonValue) -> str:
    """A value in a header, in the style ``simple``: nothing is encoded, for headers are not."""
    if parameter.style == "json":
        return json.dumps(value)
    if not isinstance(value, (list, dict)):
        return plain(value)
    if isinstance(value, list):
        return ",".join(plain(item) for item in value if item is not None)
    if parameter.style is None:
        return json.dumps(value)
    members = [(key, plain(item)) for key, item in value.items() if item is not None]
    return ",".join(f"{k}={v}" if parameter.explode else f"{k},{v}" for k, v in members)


def cookie_pairs(parameter: Parameter, value: JsonValue) -> list[str]:
    """A value as ``name=value`` of a ``Cookie`` header, in the style ``form``; what a cookie cannot hold is percent-encoded."""
    return [f"{quote(name, safe='')}={quote(text, safe=_COOKIE_SAFE)}" for name, text in pairs(parameter, value)]
