"""Guarded HTTP client for JSON, for servers that a user named, as in OAuth.

It makes one attempt, limits size and time, and follows no redirects.
"""

import asyncio
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import cast

import httpx
import orjson

from agent.execution.http.guard import AddressGuard
from agent.execution.http.guarded_client import build_guarded_client
from agent.execution.http.response import IncomingBody, read_response
from agent.execution.json_client import JsonHttpResponse
from agent.execution.redaction import Redactor, redact_logs
from domain.errors import ForbiddenAddressError, NoAnswerError
from domain.model import JsonObject


@dataclass(frozen=True, slots=True)
class JsonClientLimits:
    """Limits of one request."""

    size: int = 262_144
    """Most bytes of the response."""
    seconds: float = 15.0
    """Seconds for the request and its response."""
    connect_seconds: float = 5.0


@dataclass(frozen=True, slots=True)
class _JsonRequest:
    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    body: bytes | None = None


class GuardedJsonClient:
    """Sends requests over one guarded client, created by the first request and open until ``close``."""

    def __init__(self, guard: AddressGuard, limits: JsonClientLimits | None = None) -> None:
        self._guard = guard
        self._limits = limits or JsonClientLimits()
        self._client: httpx.AsyncClient | None = None

    async def get(self, url: str) -> JsonHttpResponse:
        """Return the response to a GET."""
        return await self._request(_JsonRequest("GET", url), ())

    async def post_form(self, url: str, form: Mapping[str, str], headers: Mapping[str, str], secrets: Iterable[str]) -> JsonHttpResponse:  # fmt: skip
        """Send a form; ``secrets`` are values that no log and no error may show."""
        body = str(httpx.QueryParams(dict(form))).encode()
        content_type = {"Content-Type": "application/x-www-form-urlencoded"}
        return await self._request(_JsonRequest("POST", url, {**content_type, **headers}, body), secrets)

    async def post_json(self, url: str, body: JsonObject, headers: Mapping[str, str] | None = None) -> JsonHttpResponse:
        """Send JSON, with further ``headers`` that hold no secrets."""
        all_headers = {"Content-Type": "application/json", **(headers or {})}
        return await self._request(_JsonRequest("POST", url, all_headers, orjson.dumps(body)), ())

    async def close(self) -> None:
        """Close the client; idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _request(self, request: _JsonRequest, secrets: Iterable[str]) -> JsonHttpResponse:
        self._guard.check_url(request.url)
        host = httpx.URL(request.url).host
        redactor = Redactor((*secrets, request.headers.get("Authorization", "").partition(" ")[2]))
        with redact_logs(redactor):
            try:
                async with asyncio.timeout(self._limits.seconds):
                    return await self._send(request, redactor)
            except (TimeoutError, httpx.TimeoutException):
                raise NoAnswerError(f"{host} did not answer within {self._limits.seconds:g} seconds") from None
            except (httpx.TransportError, httpx.InvalidURL) as error:
                message = redactor.redact(str(error) or type(error).__name__)
                raise NoAnswerError(f"{host} was not reached ({message[:300]})") from None

    async def _send(self, request: _JsonRequest, redactor: Redactor) -> JsonHttpResponse:
        client = self._get_client()
        try:
            http_request = client.build_request(
                request.method, request.url, headers=dict(request.headers), content=request.body
            )
        except ValueError as error:  # a host's name that cannot be encoded
            raise ForbiddenAddressError(f"the address cannot be read ({redactor.redact(str(error))[:200]})") from None
        response = await client.send(http_request, stream=True)
        try:
            incoming = await read_response(response, self._limits.size)
        finally:
            await response.aclose()
        host = http_request.url.host
        if response.has_redirect_location:
            raise NoAnswerError(f"{host} redirects, which is not followed; give the address that it leads to")
        if incoming.truncated or incoming.transfer_error:
            reason = incoming.transfer_error or f"it is longer than {self._limits.size:,} bytes"
            raise NoAnswerError(f"the answer of {host} cannot be used: {redactor.redact(reason)}")
        return JsonHttpResponse(
            response.status_code, _parse_json_object(incoming), response.headers.get("www-authenticate", "")[:4000]
        )

    def _get_client(self) -> httpx.AsyncClient:
        if self._client is None:
            timeout = httpx.Timeout(self._limits.seconds, connect=self._limits.connect_seconds)
            headers = {"User-Agent": "footpath", "Accept": "application/json", "Accept-Encoding": "identity"}
            self._client = build_guarded_client(self._guard, timeout=timeout, headers=headers)
        return self._client


def _parse_json_object(incoming: IncomingBody) -> JsonObject | None:
    try:
        parsed = cast("object", orjson.loads(incoming.text))
    except orjson.JSONDecodeError:
        return None
    return cast("JsonObject", parsed) if isinstance(parsed, dict) else None
