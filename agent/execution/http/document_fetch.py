"""Guarded fetch of a document from an untrusted URL, with limits on size and time."""

import asyncio
from dataclasses import dataclass
from urllib.parse import urljoin, urlsplit

import httpx

from agent.execution.http.guard import AddressGuard
from agent.execution.http.guarded_client import build_guarded_client
from agent.execution.http.response import decode_text, decompress
from domain.errors import BrokenInputError, ForbiddenAddressError, UnavailableError

MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class FetchLimits:
    """Limits of one fetch, including all its redirects."""

    size: int = 32 * MIB
    """Most bytes, both as sent and decompressed."""
    seconds: float = 40.0
    redirects: int = 3


async def fetch_guarded(address: str, guard: AddressGuard, limits: FetchLimits | None = None) -> bytes:
    """Return the document at a URL; text in another declared charset is converted to UTF-8.

    Every address on the way is checked before a connection is made to it.

    Raises:
        ForbiddenAddressError: the URL, or one that it redirects to, may not be called.
        UnavailableError: no document came, or not in time.
        BrokenInputError: the response is not a document.
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
            build_guarded_client(guard, timeout=timeout, headers=headers) as client,
        ):
            return await _follow_redirects(client, guard, address, limits)
    except TimeoutError:
        raise UnavailableError(
            f"{address} did not send its document within {limits.seconds:.0f} s; try again later, or give the document as a file"
        ) from None
    except (httpx.InvalidURL, UnicodeError) as error:
        raise ForbiddenAddressError(
            f"{address[:300]} is no address that can be called ({error}); correct it"
        ) from error
    except httpx.TransportError as error:
        message = str(error) or type(error).__name__
        raise UnavailableError(f"{address} cannot be fetched ({message}); is the address right?") from error


async def _follow_redirects(client: httpx.AsyncClient, guard: AddressGuard, address: str, limits: FetchLimits) -> bytes:
    url = address
    for _ in range(limits.redirects + 1):
        guard.check_url(url)
        async with client.stream("GET", url) as response:
            if not response.has_redirect_location:
                return await _read_content(response, url, limits)
            target = urljoin(url, response.headers["location"]).partition("#")[0]
        if urlsplit(url).scheme == "https" and urlsplit(target).scheme != "https":
            raise ForbiddenAddressError(
                f"{url} redirects to {target[:300]}, which is not encrypted; give an https address"
            )
        url = target
    raise UnavailableError(
        f"{address} redirects more than {limits.redirects} times, in the end to {url[:300]}; give the document's own address"
    )


async def _read_content(response: httpx.Response, address: str, limits: FetchLimits) -> bytes:
    if response.status_code != 200:
        raise UnavailableError(
            f"{address} answers with HTTP {response.status_code}; {_suggest_remedy(response.status_code)}"
        )
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
            raise _build_too_large_error(address, limits)
        chunks.append(chunk)
    encoding = response.headers.get("content-encoding", "").strip().lower()
    data, more, problem = decompress(b"".join(chunks), encoding, limits.size + 1, complete=True)
    if problem:
        raise BrokenInputError(f"{problem}; give a document that is not compressed", file=address)
    if more or len(data) > limits.size:
        raise _build_too_large_error(address, limits)
    if not data.strip():
        raise BrokenInputError("is empty; give the address of the document itself", file=address)
    charset = (response.charset_encoding or "utf-8").lower()
    return (
        data
        if charset in ("utf-8", "utf8", "ascii", "us-ascii")
        else decode_text(data, charset, complete=True)[0].encode()
    )


def _build_too_large_error(address: str, limits: FetchLimits) -> BrokenInputError:
    return BrokenInputError(
        f"is larger than the {limits.size // MIB} MiB that a source's document may have (FOOTPATH_SOURCE_BYTES);"
        " give a smaller one, with the operations that are needed",
        file=address,
    )


def _suggest_remedy(status: int) -> str:
    if status in (401, 403):
        return "it wants a login, which is not sent to fetch a document: give the document as a file"
    if status in (404, 410):
        return "give the address of the document itself (often /openapi.json)"
    if status in (405, 406):
        return "no document is read there; if an MCP server listens there, add it as a source of the server"
    return "try again later, or give the document as a file"
