"""Addresses of OpenAPI operations: servers, their variables and base paths."""

import re
from typing import Any
from urllib.parse import urljoin, urlsplit

from graph.importers.openapi_nodes import Schema, items, mapping
from graph.importers.openapi_schema import UnsupportedError

_VARIABLE = re.compile(r"\{([^{}]*)\}")


def url_of(server: str, route: str, *holders: Schema) -> str:
    """Return the URL of an operation: a server joined with the route; empty if no address is known.

    The server is the first usable one of the first holder that names any. ``server`` is the base of relative servers. Variables take
    their default, or the first value of their enum.

    Raises:
        UnsupportedError: servers are named but none can be called; the reason is that of the first.
    """
    problems: list[str] = []
    named = next((servers for servers in map(_servers, holders) if servers), _servers({}))
    for entry in named:
        try:
            base = _base(mapping(entry), server)
        except UnsupportedError as problem:
            problems.append(str(problem))
            continue
        if base:
            return _joined(base, route)
    if problems:
        raise UnsupportedError(problems[0])
    return _joined(server, route) if server and not named else ""


def elsewhere(server: str, url: str) -> str:
    """Return the address that a document itself names in place of ``server``; empty if they agree.

    ``server`` is for relative servers only.
    """
    given, own = urlsplit(server), urlsplit(url)
    same = (given.scheme, given.netloc.lower()) == (own.scheme, own.netloc.lower())
    return "" if same or not own.netloc else f"{own.scheme}://{own.netloc}"


def _servers(holder: Schema) -> list[Any]:
    return items(holder.get("servers"))


def _base(entry: Schema, server: str) -> str:
    """Return the address of a server; empty if it is relative and no base is given."""
    given = entry.get("url")
    text = " ".join(given.split()) if isinstance(given, str) else ""
    variables = mapping(entry.get("variables"))
    filled = _VARIABLE.sub(lambda found: _value(found[1], mapping(variables.get(found[1]))), text)
    try:
        whole = urljoin(server, filled) if server else filled
        parts = urlsplit(f"https:{whole}" if whole.startswith("//") else whole)
        host = parts.hostname
    except ValueError as error:
        raise UnsupportedError(f"its server {text[:200]!r} is no address ({error})") from error
    if not parts.scheme and not parts.netloc:
        return ""
    if parts.scheme not in ("http", "https") or not host:
        raise UnsupportedError(f"its server {text[:200]!r} is no http or https address")
    return parts.geturl()


def _value(name: str, variable: Schema) -> str:
    for given in (variable.get("default"), *items(variable.get("enum"))):
        if isinstance(given, (str, int)) and not isinstance(given, bool) and str(given):
            return str(given)
    raise UnsupportedError(f"the variable {name[:100]} of its server has no default")


def _joined(base: str, route: str) -> str:
    """Join base path and route, with the queries of both at the end."""
    start, _, query = base.partition("#")[0].partition("?")
    path, _, more = route.partition("#")[0].partition("?")
    joined = start.rstrip("/") + (path if path.startswith("/") or not path else "/" + path)
    queries = "&".join(part for part in (query, more) if part)
    return f"{joined}?{queries}" if queries else joined
