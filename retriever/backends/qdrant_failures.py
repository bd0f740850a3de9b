"""Errors of requests to Qdrant, classified by HTTP status."""

import re
import ssl
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any

import orjson

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
            return QdrantFailure(None, _truncate(str(error) or type(error).__name__))
        case ValueError():
            return _build_unreadable_failure(error)
        case _:
            return None


def is_dropped(error: Exception) -> bool:
    """Return whether the connection was closed during the request, as a server does with idle ones."""
    import httpx
    from qdrant_client.http.exceptions import ResponseHandlingException

    source = error.source if isinstance(error, ResponseHandlingException) else error
    return isinstance(source, httpx.RemoteProtocolError | httpx.ReadError | httpx.WriteError)


def _build_unreadable_failure(error: Exception) -> QdrantFailure:
    """Return the failure for an answer that the client cannot read."""
    return QdrantFailure(HTTPStatus.OK, _truncate(f"{type(error).__name__}: {error}"))


def _classify_grpc_error(error: Any) -> QdrantFailure:
    import grpc

    text = _truncate(error.details() or "no details")
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
    return _truncate(f"{error.status_code}: {message}")


def _truncate(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _MAX_MESSAGE_CHARS else text[: _MAX_MESSAGE_CHARS - 1] + "…"
