"""The HTTP client under the vendor's SDK: it sends only what the protocol needs, and limits the size of answers.

An endpoint from the settings belongs to the operator and often runs on this machine, so no address guard applies. An
endpoint that an administrator has set up is connected to only where ``AddressResolver`` allows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable

import httpx2

AddressResolver = Callable[[str, int], Awaitable[list[str]]]
"""Resolves a host and port to the addresses to connect to.

Raises ``ForbiddenAddressError`` if it may not be reached, and ``socket.gaierror`` if it is unknown.
"""

RESPONSE_LIMIT = 4_194_304
"""Bytes of one answer; a whole context window is far below."""

_READ_BY_THE_SDK = "x-stainless-raw-response"
_ALLOWED_HEADERS = frozenset(
    {"host", "accept", "content-type", "content-length", "connection", "transfer-encoding", _READ_BY_THE_SDK}
)
"""Headers that are sent.

The SDK adds others that describe the machine or that environment variables ask for; they are removed. The last one is
the SDK's note to itself, without which it cannot read the answer; it reveals nothing.
"""


class OversizedAnswerError(httpx2.HTTPError):
    """An answer is longer than its limit."""


class _LimitedStream(httpx2.AsyncByteStream):
    """Stream of an answer that fails once it is longer than ``limit`` bytes."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        remaining = self._limit
        async for chunk in self._stream:
            remaining -= len(chunk)
            if remaining < 0:
                raise OversizedAnswerError(f"the answer is longer than {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


class CheckedTransport(httpx2.AsyncHTTPTransport):
    """Connects to the addresses that were checked, whatever the name resolves to a moment later.

    TLS is negotiated for the name.
    """

    def __init__(self, addresses: AddressResolver) -> None:
        super().__init__(trust_env=False)
        self._addresses = addresses

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Return the answer from the first address that accepts a connection."""
        named_url, failure = request.url, None
        request.extensions = {**request.extensions, "sni_hostname": named_url.host}
        for address in await resolve_addresses(self._addresses, request):
            request.url = named_url.copy_with(host=address)
            try:
                return await super().handle_async_request(request)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                failure = error
            finally:
                request.url = named_url
        raise failure or httpx2.ConnectError(f"{named_url.host} has no address", request=request)


async def resolve_addresses(addresses: AddressResolver, request: httpx2.Request) -> list[str]:
    """Return the addresses to which a request may be sent. Raises as ``addresses``."""
    return await addresses(request.url.host, request.url.port or (443 if request.url.scheme == "https" else 80))


def build_http_client(
    api_key: str,
    timeout: float,
    *,
    use_environment: bool,
    limit: int | None = None,
    addresses: AddressResolver | None = None,
) -> httpx2.AsyncClient:
    """Build a client that follows no redirects and asks for no compression.

    A redirect would carry the key elsewhere, and compression would evade the limit.

    Args:
        api_key: sent as a bearer token; empty for none.
        timeout: seconds between two bytes.
        use_environment: use the proxies and certificates that environment variables name.
        limit: bytes of one answer; None for :data:`RESPONSE_LIMIT`.
        addresses: where the client may connect to; None for anywhere. A proxy connects by itself, so then only the name
            is checked beforehand.
    """

    async def clean_request(request: httpx2.Request) -> None:
        if addresses is not None and use_environment:
            await resolve_addresses(addresses, request)
        for name in [name for name in request.headers if name.lower() not in _ALLOWED_HEADERS]:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        request.headers["user-agent"] = "footpath"
        if api_key:
            request.headers["authorization"] = f"Bearer {api_key}"

    async def limit_response(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx2.DecodingError("the answer is compressed, which was not asked for", request=response.request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _LimitedStream(response.stream, limit or RESPONSE_LIMIT)

    return httpx2.AsyncClient(
        transport=None if addresses is None or use_environment else CheckedTransport(addresses),
        timeout=httpx2.Timeout(timeout, connect=min(5.0, timeout)),
        trust_env=use_environment,
        follow_redirects=False,
        event_hooks={"request": [clean_request], "response": [limit_response]},
    )
