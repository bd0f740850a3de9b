"""Second check: the address that a tool's calls go to."""

import re
import socket
from collections.abc import Awaitable, Callable, Iterator
from ipaddress import ip_address
from urllib.parse import urlsplit

from admission.findings import MISSING_ADDRESS, report_failure, report_pass, report_warning
from domain.errors import ForbiddenAddressError
from domain.tool import STDIO, ToolDoc
from domain.tool_source import Finding

ReachabilityCheck = Callable[[str], Awaitable[None]]
"""Checks that an address, with all that its name resolves to, may be called.

Raises ``ForbiddenAddressError``, and ``OSError`` for an unknown name.
"""

_PLACEHOLDER = re.compile(r"\{[^{}]*\}")


async def check_address(tool: ToolDoc, declared_host: str, check_reachable: ReachabilityCheck) -> list[Finding]:
    """Check the address of a tool. ``declared_host``: the host that the source was declared to be at; may be empty."""
    if not tool.url:
        return [report_failure("address", *MISSING_ADDRESS)]
    if tool.url.startswith(STDIO):
        return [
            report_pass("address", f"it is spoken with by {tool.host}, which an administrator allowed", host=tool.host)
        ]
    parts = urlsplit(tool.url)
    if "{" in parts.netloc or "{" in parts.scheme:
        message = "an argument would choose the host that it is called at"
        return [report_failure("address", message, "write the host into the servers of the document")]
    try:
        await check_reachable(_PLACEHOLDER.sub("x", tool.url))
    except ForbiddenAddressError as error:
        return [
            report_failure(
                "address",
                f"{tool.address or tool.url[:200]} may not be called: {error.reason}",
                _advise_on_address(error),
                host=tool.host,
            )
        ]
    except (OSError, UnicodeError) as error:
        reason = error.strerror if isinstance(error, socket.gaierror) else str(error)
        message = f"{tool.host} has no address ({reason})"
        return [
            report_failure(
                "address",
                message,
                "correct the servers of the document, or try again when the host is there",
                host=tool.host,
            )
        ]
    findings = [*_check_encryption(tool), *_check_declared_host(tool, declared_host)]
    return findings or [report_pass("address", f"its calls go to {tool.address}", host=tool.host)]


def _advise_on_address(error: ForbiddenAddressError) -> str:
    if error.place:
        allowing = f"an administrator of this server may add {error.place} to its setting FOOTPATH_ALLOW_HOSTS"
        return f"give the public address of the service; where this one is meant, {allowing} and start it anew"
    return "correct the servers of the document"


def _check_encryption(tool: ToolDoc) -> Iterator[Finding]:
    parts = urlsplit(tool.url)
    if parts.scheme == "https" or _is_loopback(parts.hostname or ""):
        return
    if tool.credentials:
        yield report_failure(
            "address",
            "it sends a key over http, for everybody on the way to read",
            "give its https address",
            host=tool.host,
        )
    else:
        yield report_failure(
            "address",
            "it is called over http, so that its answers may be anybody's",
            "give its https address",
            host=tool.host,
        )


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _check_declared_host(tool: ToolDoc, declared_host: str) -> Iterator[Finding]:
    if not declared_host or tool.host == declared_host:
        return
    message = f"it is called at {tool.host}, while its source is said to be at {declared_host}"
    if tool.credentials:
        advice = f"give the source the address https://{tool.host} if its keys belong there; else correct the servers of the document"
        yield report_failure("address", message, advice, host=tool.host, declared=declared_host)
    else:
        yield report_warning(
            "address", message, "look whether the service is really there", host=tool.host, declared=declared_host
        )
