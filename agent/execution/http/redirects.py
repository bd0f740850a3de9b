"""Redirects: which of them a read follows, and what the others show to be wrong in the tool's document."""

from urllib.parse import urljoin, urlsplit

import httpx

from agent.execution.http.guard import AddressGuard
from agent.execution.http.request import OutgoingRequest
from domain.errors import ForbiddenAddressError
from domain.tool import ToolDoc

MAX_REDIRECTS = 3
_READ_METHODS = frozenset({"GET", "HEAD"})
_DEFAULT_PORTS = {"http": 80, "https": 443}


async def find_next_url(
    response: httpx.Response, tool: ToolDoc, request: OutgoingRequest, guard: AddressGuard
) -> str | None:
    """Return the URL to which a read is redirected; None if there is no redirect or it is not followed.

    A redirect is followed within the same origin, and from http to https of the same host if no key is sent. A change
    is never sent a second time, since the server that redirects it may have made it already.
    """
    if not response.has_redirect_location or not tool.safe or request.method not in _READ_METHODS:
        return None
    try:
        target = str(httpx.URL(urljoin(request.url, response.headers["location"]).partition("#")[0]))
        guard.check_url(target)
        if _get_origin(request.url) == _get_origin(target):
            return target
        if request.keyed or not _is_https_upgrade(request.url, target):
            return None
        # A setting may allow the host for one port only, so the address at port 443 is checked before it is followed.
        await guard.resolve_addresses(urlsplit(target).hostname or "", 443)
    except (ForbiddenAddressError, httpx.InvalidURL, OSError, ValueError):
        return None
    return target


def describe_redirect(location: str, url: str) -> str:
    """Describe a redirect that was not followed: its target, and what to correct in the tool's document."""
    note = f"redirects to {location[:300]}, which is not followed"
    try:
        target = urljoin(url, location)
        path, target_path = urlsplit(url).path, urlsplit(target).path
        same_origin, upgrade = _get_origin(url) == _get_origin(target), _is_https_upgrade(url, target)
    except ValueError:
        return note
    if upgrade and path.rstrip("/") == target_path.rstrip("/"):
        return f"{note}: write https in the server's address in the tool's document"
    if same_origin and path != target_path and path.rstrip("/") == target_path.rstrip("/"):
        change = "add a slash at" if target_path.endswith("/") else "remove the slash from"
        return f"{note}: {change} the end of the path in the tool's document"
    return note


def _is_https_upgrade(url: str, target: str) -> bool:
    """Return whether the target is the same host by https instead of http, both at their default ports."""
    (scheme, host, port), target_origin = _get_origin(url), _get_origin(target)
    return (scheme, port) == ("http", 80) and target_origin == ("https", host, 443)


def _get_origin(url: str) -> tuple[str, str, int]:
    """Return scheme, host and port; raise ``ValueError`` if the URL cannot be parsed."""
    parts = urlsplit(url)
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
