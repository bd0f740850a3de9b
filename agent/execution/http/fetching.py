"""Guarded fetch of a document from an untrusted URL, with limits on size and time."""

import asyncio
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from agent.execution.http.charsets import decoded
from agent.execution.http.client import guarded_client
from agent.execution.http.guard import Guard
from agent.execution.http.response import decompressed
from domain.errors import BrokenInputError, ForbiddenAddressError, UnavailableError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one fetch, with all its redirects."""

    size: int = 32 * MIB
    """Bytes, both as sent and decompressed."""
    seconds: float = 40.0
    redirects: int = 3


async def fetch(address: str, guard: Guard, limits: FetchLimits | None = None) -> bytes:
    """Return the document at a URL, as UTF-8 where it is text.

    Every address on the way is checked before a connection to it.

    Raises:
        ForbiddenAddressError: the URL, or one that it redirects to, may not be reached.
        UnavailableError: no document came, or not in time.
        BrokenInputError: the response is no document.
    """
    limits = limits or FetchLimits()
    headers = {
        "User-Agent": "footpath",
        "Accept": "application/json, application/yaml;q=0.9, text/*;q=0.8, */*;q=0.5",
        "Accept-Encoding": "identity",
    }
    timeout = httpx.Timeout(limits.seconds, connect=5.0)
    try:
        async with (
            asyncio.timeout(limits.seconds),
            guarded_client(guard, timeout=timeout, headers=headers) as client,
        ):
            return await _followed(client, guard, address, limits)
    except TimeoutError:
        raise UnavailableError(
            f"{address} did not send its document within {limits.seconds:.0f} s; try again later, or give the document as a file"
        ) from None
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ForbiddenAddressError(
            f"{address[:300]} is no address that can be called ({error}); correct it"
        ) from error
    except httpx.TransportError as error:
        said = str(error) or type(error).__name__
        raise UnavailableError(f"{address} cannot be fetched ({said}); is the address right?") from error


async def _followed(client: httpx.AsyncClient, guard: Guard, address: str, limits: FetchLimits) -> bytes:
    here = address
    for _ in range(limits.redirects + 1):
        guard.check_url(here)
        async with client.stream("GET", here) as response:
            if not response.has_redirect_location:
                return await _content(response, here, limits)
            there = urljoin(here, response.headers["location"]).partition("#")[0]
        if urlsplit(here).scheme == "https" and urlsplit(there).scheme != "https":
            raise ForbiddenAddressError(
                f"{here} redirects to {there[:300]}, which is not encrypted; give an https address"
            )
        here = there
    raise UnavailableError(
        f"{address} redirects more than {limits.redirects} times, in the end to {here[:300]}; give the document's own address"
    )


async def _content(response: httpx.Response, address: str, limits: FetchLimits) -> bytes:
    if response.status_code != 200:
        raise UnavailableError(f"{address} answers with HTTP {response.status_code}; {_cure(response.status_code)}")
    if response.headers.get("content-type", "").strip().lower().startswith("text/event-stream"):
        raise BrokenInputError(
            "is a stream of events and no document, as MCP servers of the former transport (HTTP with SSE) answer; add an MCP server as a"
            " source of the server, by the address of its streamable HTTP endpoint, often /mcp",
            file=address,
        )
    chunks: list[bytes] = []
    size = 0
    async for chunk in response.aiter_raw():
        size += len(chunk)
        if size > limits.size:
            raise _too_large(address, limits)
        chunks.append(chunk)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    data, more, problem = decompressed(b"".join(chunks), encoding, limits.size + 1, whole=True)
    if problem:
        raise BrokenInputError(f"{problem}; give a document that is not compressed", file=address)
    if more or len(data) > limits.size:
        raise _too_large(address, limits)
    if not data.strip():
        raise BrokenInputError("is empty; give the address of the document itself", file=address)
    charset = (response.charset_encoding or "utf-8").lower()
    return data if charset in ("utf-8", "utf8", "ascii", "us-ascii") else decoded(data, charset, whole=True)[0].encode()


def _too_large(address: str, limits: FetchLimits) -> BrokenInputError:
    return BrokenInputError(
        f"is larger than the {limits.size // MIB} MiB that a source's document may have (FOOTPATH_SOURCE_BYTES);"
        " give a smaller one, with the operations that are needed",
        file=address,
    )


def _cure(status: int) -> str:
    if status in (401, 403):
        return "it wants a login, which is not sent to fetch a document: give the document as a file"
    if status in (404, 410):
        return "give the address of the document itself (often /openapi.json)"
    if status in (405, 406):
        return "no document is read there; if an MCP server listens there, add it as a source of the server"
    return "try again later, or give the document as a file"
