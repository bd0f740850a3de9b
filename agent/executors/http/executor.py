"""The HTTP executor: one guarded client; time, size and repetition bounded; what happened is said, not guessed."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agent.executor import CallOutcome, CallResult
from agent.executors.http.classes import outcome_of, outcome_of_error, retry_after
from agent.executors.http.guard import Guard, Resolver, resolve
from agent.executors.http.incoming import read
from agent.executors.http.outgoing import Outgoing, outgoing
from agent.executors.http.transport import PinnedTransport
from domain.errors import InvalidArgumentsError
from domain.model import JsonObject
from domain.tool import IDEMPOTENT_METHODS, ToolDoc

_SENDING = "send_request_headers.started"


@dataclass(frozen=True, slots=True)
class HttpParameters:
    """``timeout``: seconds for a call, its repetitions and waits included. ``response_limit``: bytes that are read.

    ``attempts``: how often a repeatable call is tried. ``allow_hosts``: ``host:port`` or ``host`` exempt from the address guard.
    ``longest_wait``: seconds; a server that asks for more is not tried again.
    """

    timeout: float = 20.0
    response_limit: int = 1_048_576
    attempts: int = 3
    allow_hosts: frozenset[str] = frozenset()
    connect_timeout: float = 5.0
    read_timeout: float = 15.0
    first_wait: float = 0.3
    longest_wait: float = 8.0


@dataclass(slots=True)
class _Call:
    """One call in progress. ``deadline`` is on the loop's clock; ``sent`` stays true once a request may have left."""

    request: Outgoing
    deadline: float
    repeatable: bool
    sent: bool = False

    async def trace(self, event: str, _info: object) -> None:
        if event.endswith(_SENDING):
            self.sent = True


@dataclass(frozen=True, slots=True)
class _Try:
    """What one attempt gave. ``asked_wait``: seconds from ``Retry-After``, if any. ``again``: another attempt could help."""

    outcome: CallOutcome
    body: str = ""
    status: int | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    asked_wait: float | None = None
    again: bool = False


class HttpExecutor:
    """Calls tools over HTTP. The client is made with the first call and lives until ``close``."""

    name = "http"

    def __init__(
        self,
        parameters: HttpParameters | None = None,
        *,
        resolver: Resolver = resolve,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._parameters = parameters or HttpParameters()
        self._guard = Guard(self._parameters.allow_hosts, resolver)
        self._sleep = sleep
        self._client: httpx.AsyncClient | None = None

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """Call a tool. Repeated only where its method makes that safe, or where nothing was sent.

        Raises ``ForbiddenAddressError`` and ``InvalidArgumentsError`` (a value that cannot stand where it belongs) before
        anything is sent.
        """
        started = time.perf_counter()
        request = outgoing(tool, arguments)
        self._guard.check_url(request.url)
        deadline = asyncio.get_running_loop().time() + self._parameters.timeout
        call = _Call(request, deadline, request.method in IDEMPOTENT_METHODS)
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._parameters.attempts),
            wait=self._wait,
            retry=retry_if_result(lambda last: self._worth_repeating(last, call)),
            sleep=self._sleep,
            retry_error_callback=_last_result,
        )
        last: _Try = await retrying(self._attempt, call)
        attempts = int(retrying.statistics.get("attempt_number", 1))
        note = "; ".join(part for part in last.notes if part)
        return CallResult(last.outcome, last.body, last.status, attempts, note, time.perf_counter() - started)

    async def close(self) -> None:
        """Close the client; idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    def _open(self) -> httpx.AsyncClient:
        if self._client is None:
            chosen = self._parameters
            limits = httpx.Timeout(chosen.read_timeout, connect=chosen.connect_timeout, pool=chosen.connect_timeout)
            transport = PinnedTransport(self._guard, httpx.create_ssl_context(trust_env=False))
            headers = {
                "User-Agent": "footpath",
                "Accept": "application/json, text/*;q=0.8, */*;q=0.5",
                "Accept-Encoding": "identity",
            }
            self._client = httpx.AsyncClient(
                transport=transport, timeout=limits, headers=headers, follow_redirects=False, trust_env=False
            )
        return self._client

    async def _attempt(self, call: _Call) -> _Try:
        try:
            async with asyncio.timeout_at(call.deadline):
                return await self._send(call)
        except (httpx.TransportError, TimeoutError) as error:
            return self._unanswered(error, call)

    async def _send(self, call: _Call) -> _Try:
        request = call.request
        client = self._open()
        try:
            built = client.build_request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.body,
                extensions={"trace": call.trace},
            )
        except httpx.InvalidURL as error:
            raise InvalidArgumentsError(f"the call's URL cannot be built: {error}") from error
        response = await client.send(built, stream=True)
        try:
            outcome = outcome_of(response.status_code, keyed=request.keyed, repeatable=call.repeatable)
            incoming = await read(response, self._parameters.response_limit)
        finally:
            await response.aclose()
        if incoming.broken and call.repeatable:
            return _Try("transient", "", response.status_code, (incoming.broken,), again=True)
        notes = (incoming.broken, _said(response), incoming.note)
        wait = retry_after(response.headers.get("retry-after"))
        return _Try(
            outcome, incoming.text, response.status_code, notes, wait, again=outcome == "transient" and call.repeatable
        )

    def _unanswered(self, error: Exception, call: _Call) -> _Try:
        outcome = outcome_of_error(error, sent=call.sent, repeatable=call.repeatable)
        what = str(error) or type(error).__name__
        timed_out = isinstance(error, (TimeoutError, httpx.TimeoutException))
        note = f"no answer in time ({what})" if timed_out else f"no answer ({what})"
        if outcome == "unknown":
            note += "; the request was sent, so it is not known whether it took effect; it was not repeated"
        return _Try(outcome, notes=(note,), again=outcome == "transient")

    def _worth_repeating(self, last: _Try, call: _Call) -> bool:
        left = call.deadline - asyncio.get_running_loop().time()
        wait = last.asked_wait or 0.0
        return last.again and wait <= self._parameters.longest_wait and wait < left

    def _wait(self, state: RetryCallState) -> float:
        last = state.outcome.result() if state.outcome else None
        if isinstance(last, _Try) and last.asked_wait is not None:
            return last.asked_wait
        chosen = self._parameters
        return wait_random_exponential(multiplier=chosen.first_wait, max=chosen.longest_wait)(state)


def _last_result(state: RetryCallState) -> _Try:
    assert state.outcome is not None  # noqa: S101 tenacity calls this after an attempt only
    last: _Try = state.outcome.result()
    return replace(last, notes=(*last.notes, f"given up after {state.attempt_number} attempts"))


def _said(response: httpx.Response) -> str:
    """What the status line and headers tell beyond the body."""
    if response.is_redirect:
        target = response.headers.get("location", "")[:300]
        return f"HTTP {response.status_code}: redirects to {target}, which is not followed"
    wait = response.headers.get("retry-after")
    if response.status_code >= 400 and wait:
        return f"HTTP {response.status_code}; the server asks to wait: {wait[:60]}"
    return f"HTTP {response.status_code}" if response.status_code >= 400 else ""
