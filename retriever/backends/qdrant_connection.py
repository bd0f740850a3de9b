"""Connection to a Qdrant server over HTTP, gRPC or in local mode, and the classification of its errors.

Connections of one event loop to one address share a client. Errors say what to do.
"""

import asyncio
import re
import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit
from weakref import WeakKeyDictionary

import orjson

from domain.errors import StoreRefusedError, StoreUnreachableError, StoreVersionError, UnavailableError, UsageError

_MAX_MESSAGE_CHARS = 200
"""Characters of a server's message that are shown."""
_LOCAL_MISSING = re.compile(r"Collection \S+ not found")
"""Message of the client's local mode for a missing collection."""


@dataclass(frozen=True, slots=True)
class QdrantFailure:
    """A failed request."""

    status: int | None
    """HTTP status; None if nothing answered, 408 for a timeout, 200 for an answer that is not Qdrant's."""
    text: str
    """The server's or the client's message, shortened."""

    @property
    def lacks_collection(self) -> bool:
        """Return whether the collection is missing; another 404 may come from a misrouted proxy."""
        return self.status == HTTPStatus.NOT_FOUND and "collection" in self.text.casefold()

    @property
    def is_temporary(self) -> bool:
        """Return whether the same request may succeed later: the server is down, restarting or overloaded."""
        status = self.status
        return status is None or status in (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.TOO_MANY_REQUESTS) or status >= 500


def classify_error(error: Exception) -> QdrantFailure | None:
    """Classify an exception that the client raised; None for any other.

    The failure's text is shortened, and never holds a header that was sent, such as the key.
    """
    import grpc
    import httpx
    from qdrant_client.common.client_exceptions import ResourceExhaustedResponse
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse

    match error:
        case ValueError() if _LOCAL_MISSING.fullmatch(str(error)):
            return QdrantFailure(HTTPStatus.NOT_FOUND, str(error))
        case UnexpectedResponse():
            return QdrantFailure(error.status_code or int(HTTPStatus.BAD_GATEWAY), _extract_server_message(error))
        case ResourceExhaustedResponse():
            return QdrantFailure(HTTPStatus.TOO_MANY_REQUESTS, "too many requests")
        case ResponseHandlingException():
            return classify_error(error.source) or _build_unreadable_failure(error.source)
        case grpc.aio.AioRpcError():
            return _classify_grpc_error(error)
        case httpx.TimeoutException() | TimeoutError():
            return QdrantFailure(HTTPStatus.REQUEST_TIMEOUT, "no answer in time")
        case httpx.TransportError() | OSError() | ssl.SSLError():
            return QdrantFailure(None, _shorten_message(str(error) or type(error).__name__))
        case ValueError():
            return _build_unreadable_failure(error)
        case _:
            return None


def is_connection_dropped(error: Exception) -> bool:
    """Return whether the connection was closed during the request, as a server does with idle ones."""
    import httpx
    from qdrant_client.http.exceptions import ResponseHandlingException

    source = error.source if isinstance(error, ResponseHandlingException) else error
    return isinstance(source, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)


def _build_unreadable_failure(error: Exception) -> QdrantFailure:
    """Return the failure for an answer that the client cannot read."""
    return QdrantFailure(HTTPStatus.OK, _shorten_message(f"{type(error).__name__}: {error}"))


def _classify_grpc_error(error: Any) -> QdrantFailure:
    import grpc

    text = _shorten_message(error.details() or "no details")
    match error.code():
        case grpc.StatusCode.UNAVAILABLE:
            return QdrantFailure(None, f"gRPC: {text}")
        case grpc.StatusCode.DEADLINE_EXCEEDED:
            return QdrantFailure(HTTPStatus.REQUEST_TIMEOUT, text)
        case grpc.StatusCode.UNAUTHENTICATED:
            return QdrantFailure(HTTPStatus.UNAUTHORIZED, text)
        case grpc.StatusCode.PERMISSION_DENIED:
            return QdrantFailure(HTTPStatus.FORBIDDEN, text)
        case grpc.StatusCode.NOT_FOUND:
            return QdrantFailure(HTTPStatus.NOT_FOUND, text)
        case grpc.StatusCode.RESOURCE_EXHAUSTED:
            return QdrantFailure(HTTPStatus.TOO_MANY_REQUESTS, text)
        case grpc.StatusCode.INVALID_ARGUMENT | grpc.StatusCode.FAILED_PRECONDITION | grpc.StatusCode.ALREADY_EXISTS:
            return QdrantFailure(HTTPStatus.BAD_REQUEST, text)
        case grpc.StatusCode.UNIMPLEMENTED:
            return QdrantFailure(HTTPStatus.OK, text)
        case _:
            return QdrantFailure(HTTPStatus.INTERNAL_SERVER_ERROR, text)


def _extract_server_message(error: Any) -> str:
    """Return the server's message: Qdrant's ``status.error``, or the page of a proxy in front of it."""
    try:
        message = orjson.loads(error.content)["status"]["error"]
    except (ValueError, KeyError, TypeError):
        message = error.content.decode(errors="replace").strip() or error.reason_phrase
    return _shorten_message(f"{error.status_code}: {message}")


def _shorten_message(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"


if TYPE_CHECKING:
    from qdrant_client import AsyncQdrantClient

MIN_SERVER_VERSION = (1, 16)
"""Oldest supported server version, the first that stores metadata with a collection."""

LOCAL_URL = ":memory:"
"""Address of the client's local mode, which tests use."""

_DEFAULT_GRPC_PORT = 6334
_DEFAULT_HTTP_PORTS = (None, 80, 443, 6333)

_MAX_IDLE_CONNECTIONS, _IDLE_SECONDS = 20, 4.0
"""Maximum of idle connections, and seconds to keep them; a server closes them after 5 seconds."""

Result = TypeVar("Result")


class MissingCollectionError(UnavailableError):
    """The requested collection does not exist."""


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """Address of a server, with the options of its client.

    Raises:
        UsageError: the key cannot be sent in a header.
    """

    url: str
    api_key: str = field(default="", repr=False)
    prefer_grpc: bool = False
    grpc_port: int = 0
    """Port of gRPC; 0: see :meth:`effective_grpc_port`."""
    timeout: int = 30
    """Seconds that a request may take."""

    def __post_init__(self) -> None:
        # The HTTP client would refuse the key with a message that shows it.
        if not (self.api_key.isascii() and self.api_key.isprintable() and " " not in self.api_key):
            raise UsageError(
                "the API key of the Qdrant server holds blanks or characters that no HTTP header can carry"
            )

    @property
    def effective_grpc_port(self) -> int:
        """Return the port of gRPC: the configured one, else Qdrant's 6334.

        With a custom HTTP port it is the one after that, as with Qdrant's defaults 6333 and 6334.
        """
        port = urlsplit(self.url).port
        return self.grpc_port or (_DEFAULT_GRPC_PORT if port in _DEFAULT_HTTP_PORTS else port + 1)


class _SharedClient:
    """Client that all connections to one address in one event loop share."""

    def __init__(self) -> None:
        self.client: AsyncQdrantClient | None = None
        self.users = set[QdrantConnection]()
        self.lock = asyncio.Lock()


_shared_clients = WeakKeyDictionary[asyncio.AbstractEventLoop, dict[QdrantAddress, _SharedClient]]()


def _get_shared_client(address: QdrantAddress) -> _SharedClient:
    """Return the client that connections to an address share within the running event loop.

    In local mode return a new one, because there the client is the server.
    """
    if address.url == LOCAL_URL:
        return _SharedClient()
    return _shared_clients.setdefault(asyncio.get_running_loop(), {}).setdefault(address, _SharedClient())


class QdrantConnection:
    """Connection to a server, whose client is shared within the event loop. Safe for concurrent use."""

    def __init__(self, address: QdrantAddress) -> None:
        self.address = address
        self._client: AsyncQdrantClient | None = None
        self._shared: _SharedClient | None = None

    async def open(self) -> None:
        """Connect, and check that a Qdrant server of a supported version answers; idempotent.

        Raises:
            UnavailableError: nothing answers, or something else does. StoreVersionError: the server is too old.
        """
        if self._client is not None:
            return
        shared = _get_shared_client(self.address)
        async with shared.lock:
            if self._client is not None:  # another task opened it while this one waited for the lock
                return
            if shared.client is None:
                shared.client = await self._connect()
            shared.users.add(self)
            self._shared, self._client = shared, shared.client

    async def close(self) -> None:
        """Close the connection; idempotent. The last user of the shared client closes it."""
        shared, self._shared, self._client = self._shared, None, None
        if shared is not None:
            shared.users.discard(self)
            if not shared.users:
                client, shared.client = shared.client, None
                if client is not None:
                    await client.close()

    async def call(self, action: str, request: "Callable[[AsyncQdrantClient], Awaitable[Result]]") -> Result:
        """Send a request. Raises ``UnavailableError``, whose message begins with ``cannot {action}``.

        A request is sent a second time if the server has closed an idle connection, so it must be safe to repeat.
        """
        if self._client is None:
            raise UnavailableError(f"the vector index at {self.address.url} is not open: call setup first").set_part(
                "vectors"
            )
        return await self._send(action, request, self._client)

    async def _send(
        self, action: str, request: "Callable[[AsyncQdrantClient], Awaitable[Result]]", client: "AsyncQdrantClient"
    ) -> Result:
        try:
            try:
                return await request(client)
            except Exception as error:
                if not is_connection_dropped(error):
                    raise
            return await request(client)
        except Exception as error:
            # The client raises its own errors, httpx's, gRPC's and bare ones; any other is a bug of ours.
            if (failure := classify_error(error)) is None:
                raise
            # The client's frames hold its sockets: an error with its traceback would keep them open after close.
            raise self._build_error(action, failure) from error.with_traceback(None)

    async def _connect(self) -> "AsyncQdrantClient":
        """Create a client, and check that a server of a supported version answers."""
        # In a thread: the import takes most of a second, and a client reads certificates.
        client = await asyncio.to_thread(_create_client, self.address)
        try:
            if self.address.url != LOCAL_URL:
                await self._check_server(client)
        except BaseException:
            await client.close()
            raise
        return client

    async def _check_server(self, client: "AsyncQdrantClient") -> None:
        info = await self._send("reach the Qdrant server", lambda client: client.info(), client)
        version = tuple(int(part) for part in info.version.split(".")[:2] if part.isdigit())
        if "qdrant" not in info.title.lower() or len(version) < 2:
            raise UnavailableError(
                f"{self.address.url} answers, but not as a Qdrant server; correct FOOTPATH_VECTOR_URL"
            ).set_part("vectors")
        if version < MIN_SERVER_VERSION:
            raise StoreVersionError(
                f"the Qdrant server at {self.address.url} has version {info.version}; "
                f"Footpath needs {MIN_SERVER_VERSION[0]}.{MIN_SERVER_VERSION[1]} or newer: update the server"
            ).set_part("vectors")

    def _build_error(self, action: str, failure: QdrantFailure) -> UnavailableError:
        url = self.address.url
        match failure.status:
            case None:
                port = " or FOOTPATH_VECTOR_GRPC_PORT" if self.address.prefer_grpc else ""
                reason = (
                    f"nothing answers there ({failure.text}). Start the server, or correct FOOTPATH_VECTOR_URL{port}"
                )
            case HTTPStatus.REQUEST_TIMEOUT:
                reason = (
                    f"no answer within {self.address.timeout} s. See whether the server is overloaded, and run again"
                )
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN if self.address.api_key:
                reason = f"it refuses the API key ({failure.text}). FOOTPATH_VECTOR_API_KEY must be one that may read and write"
            case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
                reason = "it wants an API key: set FOOTPATH_VECTOR_API_KEY"
            case HTTPStatus.NOT_FOUND:
                reason = f"not found ({failure.text}). Is it a Qdrant server, and was its collection deleted? Index the tools again"
            case HTTPStatus.OK:
                reason = f"it answers, but not as a Qdrant server ({failure.text}); correct FOOTPATH_VECTOR_URL"
            case HTTPStatus.TOO_MANY_REQUESTS:
                reason = "it limits the rate of requests; wait a little and run again"
            case status if status >= HTTPStatus.INTERNAL_SERVER_ERROR:
                reason = f"it failed ({failure.text}). See its log and its free disk, and run again"
            case _:
                reason = f"it refused the request ({failure.text})"
        refused = failure.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)
        error_class = (
            StoreUnreachableError if failure.is_temporary else StoreRefusedError if refused else UnavailableError
        )
        error_class = MissingCollectionError if failure.lacks_collection else error_class
        return error_class(f"cannot {action} at {url}: {reason}; what was written is kept").set_part("vectors")


def _create_client(address: QdrantAddress) -> "AsyncQdrantClient":
    import httpx
    from qdrant_client import AsyncQdrantClient

    if address.url == LOCAL_URL:
        return AsyncQdrantClient(location=address.url)
    return AsyncQdrantClient(
        url=address.url,
        # As our own header the key causes no warning on plain HTTP, which is fine within one host or cluster.
        headers={"api-key": address.api_key} if address.api_key else None,
        prefer_grpc=address.prefer_grpc,
        grpc_port=address.effective_grpc_port,
        timeout=address.timeout,
        # By default the client keeps no connection to a local address, though a tunnel to a remote server may begin there.
        limits=httpx.Limits(
            max_connections=None, max_keepalive_connections=_MAX_IDLE_CONNECTIONS, keepalive_expiry=_IDLE_SECONDS
        ),
        # Our own check raises an exception; the client's only warns, from a thread.
        check_compatibility=False,
    )
