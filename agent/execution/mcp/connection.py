"""An open session with one MCP server, and the state of its requests.

The library's context managers must be entered and left in the same task, so each session has a task of its own. What
happens to a request is recorded in its exchange, since the library does not report it.
"""

import asyncio
import logging
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import anyio
import orjson
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp import types
from mcp.client.session import ClientSession
from mcp.shared.exceptions import McpError
from mcp.shared.message import SessionMessage
from pydantic import Field, ValidationError

_log = logging.getLogger(__name__)

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
    failure: str = ""
    """Reason for a missing answer, in words."""
    error: Exception | None = None
    """Exception that kept the request from being sent or answered."""
    retry_after: float | None = None
    """Seconds from ``Retry-After``."""
    session_gone: bool = False
    """True if the server does not know the session, so that it has done nothing."""

    async def handle_trace_event(self, event: str, _info: object) -> None:
        """Handle a trace event of httpcore; once the first header is sent, the server may act."""
        if event.endswith("send_request_headers.started"):
            self.sent = True

    def record_failure(self, reason: str, error: Exception | None = None) -> None:
        """Record the reason for a missing answer, unless one is recorded already."""
        self.failure = self.failure or reason
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


Streams = tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
"""Incoming messages of a server, and the stream for outgoing ones."""
StreamOpener = Callable[[PendingExchanges], AbstractAsyncContextManager[Streams]]
"""Opens the streams to a server; failures are recorded in the pending exchanges."""

_CLIENT_INFO = types.Implementation(name="footpath", version="1")
_NOTIFY_TIMEOUT = 5.0
"""Seconds for sending a notification."""
MAX_NOTIFICATIONS = 1_000
"""Most notifications that a server may send within ``_NOTIFICATION_WINDOW``."""
_NOTIFICATION_WINDOW = 10.0
"""Length of that window in seconds; a server that exceeds it loses its session, and the next call opens another."""


class UnparsedListingPage(types.Result):
    """Page of a tool listing whose tools are not parsed yet, so that a broken tool does not spoil the others."""

    tools: list[Any] = Field(default_factory=list[Any])
    nextCursor: Any = None  # noqa: N815  the name is the protocol's


class UnparsedToolAnswer(types.Result):
    """Answer of a tool whose parts are not parsed yet."""

    content: list[Any] = Field(default_factory=list[Any])
    structuredContent: Any = None  # noqa: N815  the name is the protocol's
    isError: Any = False  # noqa: N815  the name is the protocol's


ResultT = TypeVar("ResultT", bound=types.Result)


class UnansweredError(Exception):
    """A request got no answer; its exchange holds the reason.

    ``code`` is the JSON-RPC error code where the server itself refused the request.
    """

    def __init__(self, reason: str, code: int | None = None) -> None:
        super().__init__(reason)
        self.code = code


class _ExchangeSession(ClientSession):
    """Client session that knows the exchange of each request and cancels abandoned requests.

    ``on_list_changed`` is called when the server reports a changed tool list, at most once per window. ``on_flood`` is
    called when the server exceeds ``MAX_NOTIFICATIONS``, since each notification must be read.
    """

    def __init__(
        self,
        streams: Streams,
        exchanges: PendingExchanges,
        on_list_changed: Callable[[], None],
        on_flood: Callable[[], None],
    ) -> None:
        super().__init__(*streams, message_handler=self._handle_message, client_info=_CLIENT_INFO)
        self._exchanges = exchanges
        self._on_list_changed = on_list_changed
        self._on_flood = on_flood
        self._window_start, self._notification_count, self._list_change_count = 0.0, 0, 0
        self.is_dead = False  # true once no more messages arrive
        self._cancellation_tasks = set[asyncio.Task[None]]()

    async def begin(self, exchange: McpExchange) -> types.InitializeResult:
        """Perform the protocol's handshake."""
        self._exchanges[self._request_id] = exchange
        return await self.initialize()

    async def ask(self, request: types.ClientRequest, answer_type: type[ResultT], exchange: McpExchange) -> ResultT:
        """Send a request and return the answer.

        Raises:
            UnansweredError: the server refused it, the session ended, or the answer is malformed.
        """
        # The library's next id. No other request can take it, since nothing is awaited before send_request takes it.
        request_id = self._request_id
        self._exchanges[request_id] = exchange
        try:
            return await self.send_request(request, answer_type)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError) as error:
            self.is_dead = True
            exchange.record_failure("the session had ended")
            raise UnansweredError(exchange.failure) from error
        except McpError as error:
            self.is_dead = self.is_dead or error.error.code == types.CONNECTION_CLOSED
            if self.is_dead:
                exchange.record_failure("the session ended before the answer came")
            if exchange.failure:
                raise UnansweredError(exchange.failure) from exchange.error
            raise UnansweredError(error.error.message, error.error.code) from None
        except ValidationError as error:
            exchange.record_failure("its answer is not in the protocol's form")
            raise UnansweredError(exchange.failure) from error
        except asyncio.CancelledError:
            self._send_cancellation(request_id)
            raise
        finally:
            self._exchanges.pop(request_id, None)

    def _send_cancellation(self, request_id: int) -> None:
        """Notify the server that nobody waits for the answer any more; it may go on all the same."""
        params = types.CancelledNotificationParams(requestId=request_id, reason="its user or its time ended it")
        notice = types.ClientNotification(types.CancelledNotification(params=params))
        task = asyncio.create_task(self._notify_server(notice))
        self._cancellation_tasks.add(task)
        task.add_done_callback(self._cancellation_tasks.discard)

    async def _notify_server(self, notice: types.ClientNotification) -> None:
        try:
            async with asyncio.timeout(_NOTIFY_TIMEOUT):
                await self.send_notification(notice)
        except Exception as error:  # noqa: BLE001  the session may have ended for any reason
            _log.debug("a server was not told that a call was taken back (%s)", type(error).__name__)

    async def _handle_message(self, message: object) -> None:
        if not isinstance(message, types.ServerNotification):
            return
        now = asyncio.get_running_loop().time()
        if now - self._window_start > _NOTIFICATION_WINDOW:
            self._window_start, self._notification_count, self._list_change_count = now, 0, 0
        self._notification_count += 1
        if self._notification_count > MAX_NOTIFICATIONS:
            self._on_flood()
        elif isinstance(message.root, types.ToolListChangedNotification):
            self._list_change_count += 1
            if self._list_change_count == 1:  # once per window is enough: the list is read later, with all changes
                self._on_list_changed()


class McpConnection:
    """Session with one server, kept open by a task of its own."""

    def __init__(self, open_streams: StreamOpener, on_list_changed: Callable[[], None]) -> None:
        self._open_streams = open_streams
        self._on_list_changed = on_list_changed
        self._exchanges: PendingExchanges = {}
        self._close_requested = asyncio.Event()
        self._ready: asyncio.Future[_ExchangeSession] = asyncio.get_running_loop().create_future()
        self._task: asyncio.Task[None] | None = None
        self.instructions = ""  # the server's instructions to its client
        self.active_calls = 0  # calls in progress
        # When the last call ended, on the loop's clock.
        self.last_used = asyncio.get_running_loop().time()
        self.call_count = 0

    @property
    def is_over(self) -> bool:
        """True once its task has ended or is about to end; it serves no further call."""
        return self._close_requested.is_set() or (self._task is not None and self._task.done())

    async def open(self, exchange: McpExchange) -> None:
        """Connect to the server, or start it.

        Raises:
            UnansweredError: that failed or took too long; the exchange holds the reason.
        """
        self._task = asyncio.create_task(self._run_session(exchange))
        try:
            async with asyncio.timeout_at(exchange.deadline):
                # Shielded: the timeout must not cancel the future that the session's task completes.
                await asyncio.shield(self._ready)
        except TimeoutError as error:
            exchange.record_failure("no answer in time", error)
            self._close_requested.set()
            self._task.cancel()
            raise UnansweredError(exchange.failure) from error

    async def _run_session(self, exchange: McpExchange) -> None:
        """Keep the session open until ``_close_requested`` is set; report a failure to the waiting caller."""
        try:
            async with (
                self._open_streams(self._exchanges) as streams,
                _ExchangeSession(streams, self._exchanges, self._on_list_changed, self._close_requested.set) as session,
            ):
                server_info = await session.begin(exchange)
                self.instructions = server_info.instructions or ""
                self._ready.set_result(session)
                await self._close_requested.wait()
        except Exception as error:  # noqa: BLE001  any failure is reported to the waiting caller, if there is one
            self._fail_opening(exchange, error)
        finally:
            self._close_requested.set()
            if not self._ready.done():
                self._ready.set_exception(UnansweredError(exchange.failure or "it ended before it was open"))
            self._ready.exception()  # marks it as retrieved: the caller may have stopped waiting

    def _fail_opening(self, exchange: McpExchange, error: Exception) -> None:
        if self._ready.done():
            _log.debug("a session ended (%s)", type(error).__name__)
            return
        reason = error.error.message if isinstance(error, McpError) else _describe_error(error)
        exchange.record_failure(reason, error)
        self._ready.set_exception(
            UnansweredError(exchange.failure, error.error.code if isinstance(error, McpError) else None)
        )

    async def ask(self, request: types.ClientRequest, answer_type: type[ResultT], exchange: McpExchange) -> ResultT:
        """Send a request and return the answer.

        Raises:
            UnansweredError: there is no answer, or the session ended before it came.
        """
        session = await asyncio.shield(self._ready)
        request_task = asyncio.create_task(session.ask(request, answer_type, exchange))
        assert self._task is not None  # noqa: S101  it is open
        try:
            # The library may leave requests pending when its session ends, so wait for the session's task as well.
            await asyncio.wait({request_task, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if not request_task.done():
                exchange.record_failure("the session ended before the answer came")
                raise UnansweredError(exchange.failure)
            return request_task.result()
        finally:
            if session.is_dead:
                self._close_requested.set()
            if not request_task.done():
                request_task.cancel()
                await asyncio.wait({request_task})

    async def close(self) -> None:
        """End the session and the process that was started for it; idempotent."""
        self._close_requested.set()
        if self._task is not None:
            await asyncio.wait({self._task})


def _describe_error(error: BaseException) -> str:
    """Describe an error, or the first error of a group."""
    if isinstance(error, OSError):
        return f"it cannot be started ({error.strerror or type(error).__name__})"
    if isinstance(error, BaseExceptionGroup):
        return _describe_error(cast("BaseExceptionGroup[BaseException]", error).exceptions[0])
    return f"{type(error).__name__}: {error}"[:500]
