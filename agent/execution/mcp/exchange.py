"""State of one request to an MCP server, recorded outside of the protocol's library."""

from dataclasses import dataclass
from typing import cast

import orjson

NO_ANSWER_CODE = -32_099
"""JSON-RPC code of the error given to the library for a missing answer; the reason is in the exchange."""


@dataclass(slots=True)
class McpExchange:
    """State of one request: whether it was sent, and why it got no answer."""

    deadline: float
    """Time on the event loop's clock."""
    sent: bool = False
    """True once the request may have reached the server; it stays true."""
    status: int | None = None
    """HTTP status of the response."""
    fault: str = ""
    """Reason for a missing answer, in words."""
    error: Exception | None = None
    """Exception that kept the request from being sent or answered."""
    retry_after: float | None = None
    """Seconds from ``Retry-After``."""
    session_gone: bool = False
    """True if the server does not know the session, so that it has done nothing."""

    async def trace(self, event: str, _info: object) -> None:
        """Handle a trace event of httpcore; once the first header is sent, the server may act."""
        if event.endswith("send_request_headers.started"):
            self.sent = True

    def record_failure(self, reason: str, error: Exception | None = None) -> None:
        """Record the reason for a missing answer, unless one is recorded already."""
        self.fault = self.fault or reason
        self.error = self.error or error


PendingExchanges = dict[int, McpExchange]
"""Exchanges of one connection that are not answered yet, by request id."""


def parse_request_id(message: bytes) -> int | None:
    """Return the id of a JSON-RPC message if it has the form of this client's ids, else None."""
    try:
        value: object = orjson.loads(message)
    except orjson.JSONDecodeError:
        return None
    raw_id: object = cast(dict[str, object], value).get("id") if isinstance(value, dict) else None
    if isinstance(raw_id, str) and raw_id.isascii() and raw_id.isdecimal() and len(raw_id) < 16:
        return int(raw_id)
    return raw_id if isinstance(raw_id, int) and not isinstance(raw_id, bool) else None


def build_error_message(request_id: int, reason: str) -> bytes:
    """Build the JSON-RPC error that the library receives in place of an answer."""
    return orjson.dumps(
        {"jsonrpc": "2.0", "id": request_id, "error": {"code": NO_ANSWER_CODE, "message": reason[:1000]}}
    )
