"""The HTTP client under the vendor's SDK: sends what the protocol needs and nothing else, and reads within bounds.

The endpoint is the operator's own setting, not a tool's or a user's, hence no address guard: models often run on this machine.
"""

from collections.abc import AsyncIterator

import httpx2

RESPONSE_LIMIT = 4_194_304
"""Bytes of one answer; a whole context window is far below."""

_READ_BY_THE_SDK = "x-stainless-raw-response"
_KEPT = frozenset(
    {"host", "accept", "content-type", "content-length", "connection", "transfer-encoding", _READ_BY_THE_SDK}
)
"""The SDK adds what describes the machine, and what other variables of the environment ask for: none of it is sent. One header
is the SDK's note to itself, without which it cannot read the answer; it says nothing of anybody.
"""


class OversizedAnswerError(httpx2.HTTPError):
    """An answer that has no end."""


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream = stream
        self._limit = limit

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._limit
        async for chunk in self._stream:
            left -= len(chunk)
            if left < 0:
                raise OversizedAnswerError(f"the answer is longer than {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()


def plain_client(
    api_key: str, timeout: float, *, use_environment: bool, limit: int | None = None
) -> httpx2.AsyncClient:
    """A client that follows no redirects (the key would travel) and asks for no compression (a bound could be evaded).

    ``timeout``: seconds between two bytes. ``use_environment``: proxies and certificates that environment variables name.
    ``limit``: bytes of one answer, :data:`RESPONSE_LIMIT` where none is given.
    """

    async def only_needed(request: httpx2.Request) -> None:
        for name in [name for name in request.headers if name.lower() not in _KEPT]:
            del request.headers[name]
        request.headers["accept-encoding"] = "identity"
        request.headers["user-agent"] = "footpath"
        if api_key:
            request.headers["authorization"] = f"Bearer {api_key}"

    async def bounded(response: httpx2.Response) -> None:
        if response.headers.get("content-encoding", "identity").lower() != "identity":
            raise httpx2.DecodingError("the answer is compressed, which was not asked for", request=response.request)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Bounded(response.stream, limit or RESPONSE_LIMIT)

    return httpx2.AsyncClient(
        timeout=httpx2.Timeout(timeout, connect=min(5.0, timeout)),
        trust_env=use_environment,
        follow_redirects=False,
        event_hooks={"request": [only_needed], "response": [bounded]},
    )
