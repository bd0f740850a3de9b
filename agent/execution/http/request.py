"""Builds an HTTP request from arguments: each value in its place, encoded so that it cannot leave it."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from pydantic.types import JsonValue

from agent.execution.http.bodies import body_of
from agent.execution.http.parameter_styles import cookie_pairs, header_text, pairs, path_text, query_text
from agent.parameters.needs import need_of
from domain.errors import ForbiddenAddressError, InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import Location, Parameter, ToolDoc

_PLACEHOLDER = re.compile(r"\{([^{}]+)\}")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_OURS = frozenset(
    {"host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer", "accept-encoding", "cookie", "expect",
     "proxy-authorization", "proxy-connection", "keep-alive"}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Request as it is sent."""

    method: str
    url: str
    headers: dict[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None
    """None: no body."""
    keyed: bool = False
    """A key or token of the caller is sent."""
    named: bool = False
    """Values of the call are sent that may name a missing thing."""


@dataclass(slots=True)
class _Groups:
    """Arguments by location; path values by their name in the URL."""

    path: dict[str, tuple[Parameter, JsonValue]] = field(default_factory=dict[str, tuple[Parameter, JsonValue]])
    query: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])
    header: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])
    cookie: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])
    body: list[tuple[Parameter, JsonValue]] = field(default_factory=list[tuple[Parameter, JsonValue]])


def outgoing(tool: ToolDoc, arguments: JsonObject) -> Outgoing:
    """Build the request of a call, without the credentials of the document (``agent.execution.http.credentials``).

    Null is sent in a body where the parameter is nullable; elsewhere it counts as no argument.

    Raises ``InvalidArgumentsError`` for values that cannot be encoded where they belong (an empty or dotted path value, a line break in
    a header, a path parameter without a value) and for a tool without a URL; ``ForbiddenAddressError`` where the document lets an
    argument choose the host.
    """
    if not tool.url:
        raise InvalidArgumentsError(
            f"{tool.api} is known by its document only and has no URL: import it again with --server https://its-host,"
            " or use the replay executor"
        )
    groups = _grouped(tool, arguments)
    headers = {parameter.wire_name: _header(parameter, value) for parameter, value in groups.header}
    if groups.cookie:
        headers["Cookie"] = "; ".join(text for one, value in groups.cookie for text in cookie_pairs(one, value))
    body, media = body_of(tool, groups.body)
    if body is not None and not any(name.lower() == "content-type" for name in headers):
        headers["Content-Type"] = media
    query = query_text(pair for parameter, value in groups.query for pair in pairs(parameter, value))
    known = {parameter.name: parameter for parameter in tool.parameters}
    secret = {name for name, parameter in known.items() if need_of(parameter).kind == "secret"}
    given = {name: value for name, value in arguments.items() if value is not None}
    return Outgoing(
        method=tool.method.upper(),
        url=_with_query(_url(tool.url, groups.path), query),
        headers=headers,
        body=body,
        keyed=not secret.isdisjoint(given),
        named=any(
            name not in known or known[name].default != value for name, value in given.items() if name not in secret
        ),
    )


def _grouped(tool: ToolDoc, arguments: JsonObject) -> _Groups:
    known = {parameter.name: parameter for parameter in tool.parameters}
    given: dict[str, tuple[Parameter, JsonValue]] = {}
    for name, value in arguments.items():
        parameter = known.get(name) or Parameter(name=name)
        if value is not None or (parameter.nullable and parameter.location == "body"):
            given[name] = (parameter, value)
    placed = _placed(tool.url, [name for name, (one, _) in given.items() if one.location in ("path", "query", "body")])
    groups = _Groups()
    for name, (parameter, value) in given.items():
        if name in placed:
            groups.path[placed[name]] = (parameter, value)
        else:
            _place(groups, parameter, value)
    return groups


def _place(groups: _Groups, parameter: Parameter, value: JsonValue) -> None:
    location: Location = parameter.location
    match location:
        case "query":
            groups.query.append((parameter, value))
        case "header":
            groups.header.append((parameter, value))
        case "cookie":
            groups.cookie.append((parameter, value))
        case "body":
            groups.body.append((parameter, value))
        case "path":
            name = parameter.wire_name
            raise InvalidArgumentsError(f"{name} is a path parameter, but the URL has no place {{{name}}} for it")


def _placed(url: str, given: Iterable[str]) -> dict[str, str]:
    """Return the arguments that the URL has a placeholder for, with the placeholder's name.

    The names are equal, or differ in case only, as in some catalogues.
    """
    places = _PLACEHOLDER.findall(url)
    folded = {place.casefold(): place for place in places}
    exact = {name: name for name in given if name in places}
    alike = {name: folded[name.casefold()] for name in given if name not in exact and name.casefold() in folded}
    return exact | {name: place for name, place in alike.items() if place not in exact}


def _url(template: str, values: dict[str, tuple[Parameter, JsonValue]]) -> str:
    """Return the URL template with every placeholder filled. Each value remains inside its segment."""
    try:
        authority = urlsplit(template).netloc
    except ValueError as error:
        raise ForbiddenAddressError(f"the URL cannot be read ({error}); correct the tool's document") from error
    if "{" in authority or "{" in template.partition("://")[0]:
        raise ForbiddenAddressError("the tool's URL lets an argument choose the host; correct the tool's document")
    absent = list(dict.fromkeys(name for name in _PLACEHOLDER.findall(template) if name not in values))
    if absent:
        raise InvalidArgumentsError(f"the URL needs a value for: {', '.join(absent)}")
    filled = _PLACEHOLDER.sub(lambda found: path_text(*values[found[1]]), template)
    if not _of_catalogue(template, filled):
        raise InvalidArgumentsError("these path values would make another URL than the catalogue's; give others")
    return filled


def _of_catalogue(template: str, filled: str) -> bool:
    """Return whether a filled URL keeps its template: same host, same number of segments, no new ``.`` or ``..``."""
    asked, known = urlsplit(filled), urlsplit(template)
    segments, places = asked.path.split("/"), known.path.split("/")
    climbing = [segment for segment in segments if segment in (".", "..")]
    return (
        (asked.scheme, asked.netloc) == (known.scheme, known.netloc)
        and len(segments) == len(places)
        and climbing == [place for place in places if place in (".", "..")]
    )


def _with_query(url: str, query: str) -> str:
    """Return the URL with the values added to its own query; a fragment is never sent."""
    url = url.partition("#")[0]
    return f"{url}{'&' if '?' in url else '?'}{query}" if query else url


def _header(parameter: Parameter, value: JsonValue) -> str:
    name, text = parameter.wire_name, header_text(parameter, value)
    if not _HEADER_NAME.fullmatch(name) or name.lower() in _OURS:
        raise InvalidArgumentsError(f"{name} cannot be sent as a header")
    if not text.isascii() or any(ord(character) < 32 or ord(character) == 127 for character in text):
        raise InvalidArgumentsError(f"{name} is sent as a header: plain ASCII without line breaks, please")
    return text.strip()
