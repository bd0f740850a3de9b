"""Second check: the address that a tool's calls go to."""

import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from admission.findings import PLACELESS, failed, passed, warned
from domain.errors import ForbiddenAddressError
from domain.source import Finding
from domain.tool import STDIO, ToolDoc

Reach = Callable[[str], Awaitable[None]]
"""Checks that an address, with all that its name resolves to, may be called.

Raises ``ForbiddenAddressError``, and ``OSError`` for an unknown name.
"""

_PLACE = re.compile(r"\{[^{}]*\}")


async def check_address(tool: ToolDoc, declared: str, reach: Reach) -> list[Finding]:
    """Check the address of a tool.

    The second argument is the host that the source was declared to be at; empty if none was.
    """
    if not tool.url:
        return [failed("address", *PLACELESS)]
    if tool.url.startswith(STDIO):
        return [passed("address", f"it is spoken with by {tool.host}, which an administrator allowed", host=tool.host)]
    parts = urlsplit(tool.url)
    if "{" in parts.netloc or "{" in parts.scheme:
        told = "an argument would choose the host that it is called at"
        return [failed("address", told, "write the host into the servers of the document")]
    try:
        await reach(_PLACE.sub("x", tool.url))
    except ForbiddenAddressError as error:
        return [
            failed(
                "address",
                f"{tool.address or tool.url[:200]} may not be called: {error.reason}",
                _cure(error),
                host=tool.host,
            )
        ]
    except (OSError, UnicodeError) as error:
        said = error.strerror if isinstance(error, socket.gaierror) else str(error)
        told = f"{tool.host} has no address ({said})"
        return [
            failed(
                "address",
                told,
                "correct the servers of the document, or try again when the host is there",
                host=tool.host,
            )
        ]
    found = [*_encrypted(tool), *_declared(tool, declared)]
    return found or [passed("address", f"its calls go to {tool.address}", host=tool.host)]


def _cure(error: ForbiddenAddressError) -> str:
    if error.place:
        allowing = f"an administrator of this server may add {error.place} to its setting FOOTPATH_ALLOW_HOSTS"
        return f"give the public address of the service; where this one is meant, {allowing} and start it anew"
    return "correct the servers of the document"


def _encrypted(tool: ToolDoc) -> Iterator[Finding]:
    parts = urlsplit(tool.url)
    if parts.scheme == "https" or _loopback(parts.hostname or ""):
        return
    if tool.credentials:
        yield failed(
            "address",
            "it sends a key over http, for everybody on the way to read",
            "give its https address",
            host=tool.host,
        )
    else:
        yield failed(
            "address",
            "it is called over http, so that its answers may be anybody's",
            "give its https address",
            host=tool.host,
        )


def _loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _declared(tool: ToolDoc, declared: str) -> Iterator[Finding]:
    if not declared or tool.host == declared:
        return
    told = f"it is called at {tool.host}, while its source is said to be at {declared}"
    if tool.credentials:
        advice = f"give the source the address https://{tool.host} if its keys belong there; else correct the servers of the document"
        yield failed("address", told, advice, host=tool.host, declared=declared)
    else:
        yield warned("address", told, "look whether the service is really there", host=tool.host, declared=declared)
