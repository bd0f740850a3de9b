"""Addresses of OpenAPI operations: servers, their variables and base paths."""

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from graph.importers.openapi_nodes import Schema, to_list, to_mapping
from graph.importers.openapi_schema import UnsupportedError

_VARIABLE = re.compile(r"\{([^{}]*)\}")


def build_url(server: str, route: str, *holders: Schema) -> str:
    """Return the URL of an operation: the address of a server joined with the route; empty if no address is known.

    ``holders`` are the operation, its path item and the document, of which the first with any servers counts; the first
    usable one of these is taken. ``server`` is the base of relative servers. Variables take their default, or the first
    value of their enum.

    Raises:
        UnsupportedError: servers are named but none can be called; the reason is that of the first.
    """
    problems: list[str] = []
    entries = next((servers for servers in map(_list_servers, holders) if servers), _list_servers({}))
    for entry in entries:
        try:
            base = _resolve_base(to_mapping(entry), server)
        except UnsupportedError as problem:
            problems.append(str(problem))
            continue
        if base:
            return _join_url(base, route)
    if problems:
        raise UnsupportedError(problems[0])
    return _join_url(server, route) if server and not entries else ""


def find_other_server(server: str, url: str) -> str:
    """Return the server that a document names itself, if it is not ``server``; else empty.

    ``server`` has no effect on such a document, since it is the base of relative servers only.
    """
    requested, named = urlsplit(server), urlsplit(url)
    same = (requested.scheme, requested.netloc.lower()) == (named.scheme, named.netloc.lower())
    return "" if same or not named.netloc else f"{named.scheme}://{named.netloc}"


def _list_servers(holder: Schema) -> list[Any]:
    return to_list(holder.get("servers"))


def _resolve_base(entry: Schema, server: str) -> str:
    """Return the address of a server; empty if it is relative and no base is given."""
    raw_url = entry.get("url")
    text = " ".join(raw_url.split()) if isinstance(raw_url, str) else ""
    variables = to_mapping(entry.get("variables"))
    filled = _VARIABLE.sub(lambda found: _choose_variable_value(found[1], to_mapping(variables.get(found[1]))), text)
    try:
        absolute = urljoin(server, filled) if server else filled
        parts = urlsplit(f"https:{absolute}" if absolute.startswith("//") else absolute)
        host = parts.hostname
    except ValueError as error:
        raise UnsupportedError(f"its server {text[:200]!r} is no address ({error})") from error
    if not parts.scheme and not parts.netloc:
        return ""
    if parts.scheme not in ("http", "https") or not host:
        raise UnsupportedError(f"its server {text[:200]!r} is no http or https address")
    return parts.geturl()


def _choose_variable_value(name: str, variable: Schema) -> str:
    for value in (variable.get("default"), *to_list(variable.get("enum"))):
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value):
            return str(value)
    raise UnsupportedError(f"the variable {name[:100]} of its server has no default")


def _join_url(base: str, route: str) -> str:
    """Join base path and route, with the queries of both at the end."""
    start, _, query = base.partition("#")[0].partition("?")
    path, _, more = route.partition("#")[0].partition("?")
    joined = start.rstrip("/") + (path if path.startswith("/") or not path else "/" + path)
    queries = "&".join(part for part in (query, more) if part)
    return f"{joined}?{queries}" if queries else joined
