"""Embeddings from any OpenAI-compatible URL, through OpenAI's SDK with its retries off; rows are not normalised."""

import asyncio
import json
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from agent.llm.client.failures import ModelEndpoint, build_unreadable_error
from agent.llm.client.retrying import retry_call
from agent.llm.client.sdk import call_guarded

if TYPE_CHECKING:
    from openai import AsyncOpenAI

    from agent.llm.client.transport import AddressResolver

_BYTES_PER_NUMBER = 32
"""Bytes of one number in an answer, generously."""


@dataclass(frozen=True, slots=True)
class EmbeddingParameters:
    """Address of an embedding service and how to call it."""

    url: str
    name: str
    api_key: str = ""
    timeout: float = 60.0
    """Seconds for one attempt."""
    attempts: int = 3
    """Attempts of one call, the first included."""
    dimension: int | None = None
    """Requested with each call, if given."""
    response_limit: int | None = None
    """Bytes of one answer."""
    use_environment: bool = False
    """Use the proxies and certificates that environment variables name."""
    addresses: "AddressResolver | None" = None
    """Resolves the host to the addresses that may be connected to.

    None for a service from the settings, which is connected to wherever it is.
    """

    @property
    def error_endpoint(self) -> ModelEndpoint:
        """The endpoint as errors name it."""
        settings = "FOOTPATH_EMBEDDING" if self.addresses is None else ""
        return ModelEndpoint(self.url, self.name, self.api_key, settings=settings, offers="embeddings")


def compute_response_limit(texts: int, dimension: int) -> int:
    """Return the bytes that an answer with so many vectors may have."""
    return 1_048_576 + texts * dimension * _BYTES_PER_NUMBER


class OpenaiEmbeddings:
    """Client shared by the runs of a process; it is built at the first call, as the import takes a second."""

    def __init__(
        self, parameters: EmbeddingParameters, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self.name = parameters.name
        self._parameters = parameters
        self._sleep = sleep
        self._error_endpoint = parameters.error_endpoint
        self._client: AsyncOpenAI | None = None
        self._opening = asyncio.Lock()

    async def embed(self, texts: Sequence[str]) -> list[NDArray[np.float64]]:
        """Return one row for each text, in order, whatever its length and its numbers.

        Raises:
            ModelUnavailableError: the service gave no usable answer; the message says what to do and never holds the key.
        """
        client = await self._get_client()

        async def ask() -> bytes:
            raw_embeddings = client.embeddings.with_raw_response
            dimension = self._parameters.dimension
            if dimension is None:
                answer = await raw_embeddings.create(input=list(texts), model=self.name, encoding_format="float")
            else:
                answer = await raw_embeddings.create(
                    input=list(texts), model=self.name, encoding_format="float", dimensions=dimension
                )
            return answer.content

        async def call_once() -> bytes:
            return await call_guarded(self._error_endpoint, ask, self._parameters.timeout)

        body = await retry_call(call_once, self._parameters.attempts, math.inf, self._sleep)
        return await asyncio.to_thread(self._parse_rows, body, len(texts))

    async def close(self) -> None:
        """Close the connections; the service may be called again."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _parse_rows(self, body: bytes, count: int) -> list[NDArray[np.float64]]:
        try:
            data: list[dict[str, Any]] = json.loads(body)["data"]
            rows = {int(entry["index"]): np.asarray(entry["embedding"], np.float64) for entry in data}
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            quoted = self._error_endpoint.quote(body[:400].decode("utf-8", "replace"), 80)
            raise build_unreadable_error(self._error_endpoint, f"in place of embeddings it sent {quoted!r}") from error
        if len(data) != count or set(rows) != set(range(count)):
            raise build_unreadable_error(
                self._error_endpoint, f"it sent {len(data)} vectors for {count} texts, or numbered them wrongly"
            )
        return [rows[place] for place in range(count)]

    async def _get_client(self) -> "AsyncOpenAI":
        # Calls at the same time must not build a client each; the import runs in a thread, as it blocks.
        async with self._opening:
            if self._client is None:
                self._client = await asyncio.to_thread(_build_client, self._parameters)
            return self._client


def _build_client(parameters: EmbeddingParameters) -> "AsyncOpenAI":
    from openai import AsyncOpenAI

    from agent.llm.client.transport import build_http_client

    http = build_http_client(
        parameters.api_key,
        parameters.timeout,
        use_environment=parameters.use_environment,
        limit=parameters.response_limit,
        addresses=parameters.addresses,
    )
    # Without a key, the SDK would take one from the environment. The HTTP client below it sends the real one.
    return AsyncOpenAI(base_url=parameters.url, api_key=parameters.api_key or "none", http_client=http, max_retries=0)
