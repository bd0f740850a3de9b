"""Encoding of values outside a JSON body in OpenAPI's styles (RFC 6570; OpenAPI 3.1, section "Style Examples")."""

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from urllib.parse import quote

from pydantic.types import JsonValue

from domain.errors import InvalidArgumentsError
from domain.tool import Parameter

_ENCODED_SEPARATORS = {"form": ",", "spaceDelimited": "%20", "pipeDelimited": "%7C"}
_PATH_PREFIXES = {"label": ".", "matrix": ";"}
_COOKIE_SAFE = "!#$&'()*+/:<=>?@[]^`{|}~"
_RESERVED_SAFE = "!$'()*,/:;=?@"
"""Reserved characters (RFC 3986, 2.2) that have no meaning in a query and may stand in it.

``&``, ``+`` and ``#`` have a meaning there, and brackets may not stand in it.
"""
_ENCODED_PATTERN = re.compile(r"(%[0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class QueryPair:
    """Name and value of a query, form or cookie, not yet encoded."""

    name: str
    texts: tuple[str, ...]
    separator: str = ","
    """Separator of several texts, already encoded, so that it differs from the same character in a text."""
    allow_reserved: bool = False

    def encode(self, safe: str = "") -> str:
        """Return ``name=value``, percent-encoded except for the characters in ``safe``."""
        return (
            f"{quote(self.name, safe='')}={self.separator.join(self._encode_text(text, safe) for text in self.texts)}"
        )

    def _encode_text(self, text: str, safe: str) -> str:
        if not self.allow_reserved:
            return quote(text, safe=safe)
        # RFC 6570, 3.2.3: sequences that are percent-encoded already are kept.
        parts = _ENCODED_PATTERN.split(text)
        return "".join(part if index % 2 else quote(part, safe=_RESERVED_SAFE) for index, part in enumerate(parts))


def format_as_text(value: JsonValue) -> str:
    """Return a string unchanged and any other value as JSON."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def build_query_pairs(parameter: Parameter, value: JsonValue) -> list[QueryPair]:
    """Build the pairs of a query or form in the style of the parameter.

    Styles are ``form``, ``spaceDelimited``, ``pipeDelimited``, ``deepObject`` and ``json``. Without a style, each
    item of a list gets a pair, and an object becomes JSON. Null items are left out.
    """
    name, style, reserved = parameter.wire_name, parameter.style, parameter.allow_reserved
    exploded = (parameter.explode is not False and style in (None, "form")) or parameter.explode is True
    match value:
        case list() | dict() if style == "deepObject":
            return [QueryPair(f"{name}{path}", (text,), allow_reserved=reserved) for path, text in _flatten_deep(value)]
        case list() if style != "json":
            texts = [format_as_text(item) for item in value if item is not None]
            return (
                [QueryPair(name, (text,), allow_reserved=reserved) for text in texts]
                if exploded
                else _build_joined_pair(parameter, texts)
            )
        case dict() if style not in (None, "json"):
            members = [(key, format_as_text(item)) for key, item in value.items() if item is not None]
            if exploded:
                return [QueryPair(key, (text,), allow_reserved=reserved) for key, text in members]
            return _build_joined_pair(parameter, [text for member in members for text in member])
        case _:
            return [QueryPair(name, (_to_styled_text(parameter, value),), allow_reserved=reserved)]


def _to_styled_text(parameter: Parameter, value: JsonValue) -> str:
    """Return a value as text, or as JSON with quotes if the style is ``json``."""
    return json.dumps(value, ensure_ascii=False) if parameter.style == "json" else format_as_text(value)


def _build_joined_pair(parameter: Parameter, texts: list[str]) -> list[QueryPair]:
    if not texts:
        return []
    separator = _ENCODED_SEPARATORS.get(parameter.style or "form", ",")
    return [QueryPair(parameter.wire_name, tuple(texts), separator, parameter.allow_reserved)]


def _flatten_deep(value: JsonValue, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield the leaves with their paths, such as ``[a][b]``, or ``[0]`` for an item.

    OpenAPI does not define lists in this style; Stripe, PHP and qs read indices.
    """
    match value:
        case dict():
            for key, item in value.items():
                yield from _flatten_deep(item, f"{path}[{key}]")
        case list():
            for index, item in enumerate(element for element in value if element is not None):
                yield from _flatten_deep(item, f"{path}[{index}]")
        case None:
            return
        case _:
            yield path, format_as_text(value)


def encode_query(encoded_pairs: Iterable[QueryPair]) -> str:
    """Encode pairs as a query or form.

    Everything but letters, digits, ``-``, ``.``, ``_`` and ``~`` is percent-encoded. The commas that join a list are
    not (RFC 6570), so that they differ from a comma in a value.
    """
    return "&".join(pair.encode() for pair in encoded_pairs)


def encode_path_parameter(parameter: Parameter, value: JsonValue) -> str:
    """Encode a value for a path in the style ``simple``, ``label`` (``.a``) or ``matrix`` (``;name=a``).

    The parts are percent-encoded, the characters that the style adds are not.
    """
    name, style, explode = parameter.wire_name, parameter.style, parameter.explode is True
    if style == "json" or not isinstance(value, (list, dict)):
        text = encode_path_segment(name, _to_styled_text(parameter, value))
        return _PATH_PREFIXES.get(style or "", "") + (f"{quote(name, safe='')}={text}" if style == "matrix" else text)
    parts = _encode_parts(name, value, explode=explode)
    if style == "matrix":
        key = quote(name, safe="")
        if not explode:
            return f";{key}={','.join(parts)}"
        return "".join(f";{part}" if isinstance(value, dict) else f";{key}={part}" for part in parts)
    if style == "label":
        return "." + ("." if explode else ",").join(parts)
    return ",".join(parts)


def _encode_parts(name: str, value: "list[JsonValue] | dict[str, JsonValue]", *, explode: bool) -> list[str]:
    if isinstance(value, list):
        parts = [encode_path_segment(name, item) for item in value if item is not None]
    else:
        members = [
            (encode_path_segment(name, key), encode_path_segment(name, item))
            for key, item in value.items()
            if item is not None
        ]
        parts = [f"{k}={v}" for k, v in members] if explode else [text for member in members for text in member]
    if not parts:
        raise InvalidArgumentsError(f"{name} stands in the path and may not be empty")
    return parts


def encode_path_segment(name: str, value: JsonValue) -> str:
    """Encode a value as one segment of a path.

    Everything but letters, digits, ``-``, ``.``, ``_`` and ``~`` is percent-encoded; dots are not, since firewalls
    refuse ``%2E``. An empty value is refused, and so is one with a segment ``.`` or ``..`` in any disguise: servers
    decode ``%2e%2e`` before they resolve a path, and some cut a segment at ``;`` or drop spaces first.
    """
    text = format_as_text(value)
    decoded = text.replace("%2f", "/").replace("%2F", "/").replace("%2e", ".").replace("%2E", ".")
    segments = (segment.partition(";")[0].strip() for segment in re.split(r"[/\\]", decoded))
    if not text or any(segment in (".", "..") for segment in segments):
        raise InvalidArgumentsError(f"{name} stands in the path and may not be {text!r}")
    return quote(text, safe="")


def encode_header_value(parameter: Parameter, value: JsonValue) -> str:
    """Format a value for a header in the style ``simple``, without percent-encoding."""
    if parameter.style == "json":
        return json.dumps(value)
    if not isinstance(value, (list, dict)):
        return format_as_text(value)
    if isinstance(value, list):
        return ",".join(format_as_text(item) for item in value if item is not None)
    if parameter.style is None:
        return json.dumps(value)
    members = [(key, format_as_text(item)) for key, item in value.items() if item is not None]
    return ",".join(f"{key}={text}" if parameter.explode else f"{key},{text}" for key, text in members)


def encode_cookies(parameter: Parameter, value: JsonValue) -> list[str]:
    """Encode a value as ``name=value`` of a ``Cookie`` header in the style ``form``.

    Characters that a cookie cannot hold are percent-encoded.
    """
    return [pair.encode(_COOKIE_SAFE) for pair in build_query_pairs(parameter, value)]
