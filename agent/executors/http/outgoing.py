"""Arguments to an HTTP request: each value where the document puts it, encoded so that it stays there."""

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import quote, urlencode, urlsplit

from pydantic.types import JsonValue

from agent.needs import need_of
from domain.errors import ForbiddenAddressError, InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Location, Parameter, ToolDoc

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding"}
)


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as it is sent. ``body`` None: without one. ``keyed``: a key or token of the caller goes along."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    keyed: bool = False


def outgoing(tool: ToolDoc, arguments: JsonObject) -> Outgoing:
    """The request for a call.

    Raises ``InvalidArgumentsError`` for values that cannot stand where they belong (an empty or dotted path value, a line break in
    a header, a path parameter without a value) and for a tool without a URL; ``ForbiddenAddressError`` where the document
    lets an argument choose the host.
    """
    if not tool.url:
        raise InvalidArgumentsError(f"{tool.api} is known by its document only and has no URL; use the replay executor")
    given = {name: value for name, value in arguments.items() if value is not None}
    known = {parameter.name: parameter for parameter in tool.parameters}
    placed = _placed(tool.url, given)
    groups: dict[Location, dict[str, JsonValue]] = {"path": {}, "query": {}, "header": {}, "body": {}}
    for name, value in given.items():
        groups["path" if name in placed else _location(name, known)][placed.get(name, name)] = value
    body = groups["body"]
    headers = {name: _header(name, value) for name, value in groups["header"].items()}
    if body:
        headers.setdefault("Content-Type", "application/json")
    return Outgoing(
        method=tool.method.upper(),
        url=_with_query(_url(tool.url, groups["path"]), groups["query"]),
        headers=headers,
        body=json.dumps(body, ensure_ascii=False).encode() if body else None,
        keyed=any(name in known and need_of(known[name]).kind == "secret" for name in given),
    )


def _placed(url: str, given: Iterable[str]) -> dict[str, str]:
    """The arguments that the URL has a place for, with its name there: the same, or, for catalogues that spell it otherwise,
    one that differs in upper and lower case only.
    """
    places = _PLACEHOLDER.findall(url)
    folded = {place.casefold(): place for place in places}
    exact = {name: name for name in given if name in places}
    alike = {name: folded[name.casefold()] for name in given if name not in exact and name.casefold() in folded}
    return exact | {name: place for name, place in alike.items() if place not in exact}


def _location(name: str, known: dict[str, Parameter]) -> Location:
    location = known[name].location if name in known else "query"
    if location == "path":
        raise InvalidArgumentsError(f"{name} is a path parameter, but the URL has no place {{{name}}} for it")
    return location


def _url(template: str, values: dict[str, JsonValue]) -> str:
    authority = urlsplit(template).netloc
    if "{" in authority or "{" in template.partition("://")[0]:
        raise ForbiddenAddressError("the tool's URL lets an argument choose the host; correct the tool's document")
    absent = [name for name in _PLACEHOLDER.findall(template) if name not in values]
    if absent:
        raise InvalidArgumentsError(f"the URL needs a value for: {', '.join(absent)}")
    return _PLACEHOLDER.sub(lambda found: path_value(found[1], values[found[1]]), template)


def _with_query(url: str, values: dict[str, JsonValue]) -> str:
    """The URL with its own query kept and the values added; a fragment is never sent."""
    url = url.partition("#")[0]
    if not values:
        return url
    pairs = [pair for name, value in values.items() for pair in _pairs(name, value)]
    return f"{url}{'&' if '?' in url else '?'}{urlencode(pairs, quote_via=quote)}"


def path_value(name: str, value: JsonValue) -> str:
    """A value as one segment of a path: everything but letters, digits, ``-``, ``_`` and ``~`` percent-encoded.

    Servers decode ``%2e%2e`` and climb, so a value with a segment ``.`` or ``..`` is refused, as is an empty one.
    """
    text = plain(value)
    segments = re.split(r"[/\\]", text.replace("%2f", "/").replace("%2F", "/").replace("%2e", ".").replace("%2E", "."))
    if not text or any(segment in (".", "..") for segment in segments):
        raise InvalidArgumentsError(f"{name} stands in the path and may not be {text!r}")
    return quote(text, safe="").replace(".", "%2E")


def plain(value: JsonValue) -> str:
    """A value as text: JSON for structures and booleans."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _pairs(name: str, value: JsonValue) -> list[tuple[str, str]]:
    return [(name, plain(item)) for item in value] if isinstance(value, list) else [(name, plain(value))]


def _header(name: str, value: JsonValue) -> str:
    text = plain(value)
    if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS:
        raise InvalidArgumentsError(f"{name} cannot be sent as a header")
    if not text.isascii() or any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise InvalidArgumentsError(f"{name} is sent as a header: plain ASCII without line breaks, please")
    return text.strip()
