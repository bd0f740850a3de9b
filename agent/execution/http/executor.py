"""Executor of calls over HTTP: retries within limits, redirects, refused keys, and cautious outcomes.

An outcome claims no more than is known: a write whose answer was lost is ``unknown``, not failed.
"""

import asyncio
import time
from dataclasses import dataclass, replace
from urllib.parse import urlsplit
from uuid import uuid4

import httpx
from tenacity import AsyncRetrying, RetryCallState, retry_if_result, stop_after_attempt
from tenacity.wait import wait_random_exponential

from agent.execution.executor import CallResult
from agent.execution.host_memory import MIN_REFUSED_OWNERS, HostAnswer, HostMemory
from agent.execution.http.attempt import AttemptResult, CallInProgress, conclude_attempts, judge_failure, judge_response
from agent.execution.http.credentials import add_credentials
from agent.execution.http.guard import AddressGuard, Resolver, resolve_host
from agent.execution.http.guarded_client import build_guarded_client
from agent.execution.http.host_limits import EventLoopClock, HostLimits, HostPausedError
from agent.execution.http.missing_routes import MissingRouteDetector
from agent.execution.http.redirects import MAX_REDIRECTS, find_next_url
from agent.execution.http.request import OutgoingRequest, build_request
from agent.execution.http.response import IncomingBody, read_response
from agent.execution.redaction import redact_logs
from agent.execution.secret_store import EnvironmentSecrets, SecretStore
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.model import JsonObject
from domain.tool import ToolDoc

NEW_KEY_NOTE = "its key was refused and obtained anew; the call was made once more with it"
_NOT_REPEATED_NOTE = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


async def renew_refused_keys(
    call: CallInProgress, attempt: AttemptResult, secrets: SecretStore
) -> AttemptResult | None:
    """Replace keys that were refused (401).

    Return None if the call should be sent once more with the new keys, else the attempt. A refusal should mean that
    nothing was done, but not every server keeps to that, so only repeatable calls are sent again.
    """
    if attempt.status != 401 or not call.keyed_request.sent_values:
        return attempt
    try:
        replacements = [await secrets.replace_refused(name, value) for name, value in call.keyed_request.sent_values]
        if not any(replacements):
            return attempt
        if not call.tool.repeatable:
            return replace(attempt, notes=(*attempt.notes, _NOT_REPEATED_NOTE))
        call.keyed_request = await add_credentials(call.keyed_request.request, call.tool, secrets)
    except SecretError as error:
        return replace(attempt, notes=(*attempt.notes, str(error)))
    return None


def count_refusal(call: CallInProgress, attempt: AttemptResult, memory: HostMemory, owner: str) -> AttemptResult:
    """Count a 403 against the tool once enough owners with different keys were refused and none was answered since."""
    if attempt.outcome != "refused" or attempt.status != 403:
        return attempt
    if not memory.record_refusal(call.tool.id, owner, call.keyed_request.caller_digest):
        return attempt
    note = f"{MIN_REFUSED_OWNERS} owners of keys or more were refused (403), each with another key, so the tool is taken to be closed"
    return replace(attempt, outcome="transient", notes=(*attempt.notes, note))


_MAX_PROBE_SECONDS = 3.0
"""Seconds for a probe that finds out how a host answers a path that cannot exist."""
_MAX_PROBE_BYTES = 200_000
"""Most bytes read of the probe's answer."""


@dataclass(frozen=True, slots=True)
class HttpParameters:
    """Limits of calls over HTTP."""

    timeout: float = 20.0
    """Seconds for a call, including its retries and waits."""
    response_limit: int = 1_048_576
    """Most bytes read of a response."""
    attempts: int = 3
    """Most attempts of a repeatable call."""
    allow_hosts: frozenset[str] = frozenset()
    """Hosts exempt from the address guard, as ``host:port`` or ``host``."""
    connect_timeout: float = 5.0
    read_timeout: float = 15.0
    first_wait: float = 0.3
    longest_wait: float = 8.0
    """Most seconds before a retry; if a server asks for more, the call is not retried."""
    host_concurrency: int = 4
    """Most concurrent calls to one host."""
    host_rate: float | None = None
    """Most calls per second to one host; None for no limit."""
    host_pause: float = 300.0
    """Most seconds for which a host may pause its calls."""


class HttpExecutor:
    """Calls tools over HTTP; the client is created by the first call and lives until ``close``."""

    name = "http"

    def __init__(
        self,
        parameters: HttpParameters | None = None,
        *,
        secrets: SecretStore | None = None,
        resolver: Resolver = resolve_host,
        clock: EventLoopClock | None = None,
        memory: HostMemory | None = None,
        owner: str = "",
    ) -> None:
        """Create the executor.

        ``memory`` is shared by all executors of a process. ``owner`` is the person whose keys the calls use, empty if
        unknown.
        """
        self._parameters = parameters or HttpParameters()
        self._secrets = secrets or EnvironmentSecrets({})
        self._guard = AddressGuard(self._parameters.allow_hosts, resolver)
        self._clock = clock or EventLoopClock()
        self._hosts = HostLimits(
            self._parameters.host_concurrency, self._parameters.host_rate, self._clock, longest_pause=self._parameters.host_pause
        )  # fmt: skip
        self._client: httpx.AsyncClient | None = None
        self._memory = memory or HostMemory()
        self._owner = owner
        self._route_detector = MissingRouteDetector(self._memory, self._probe_host)

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is made
        """Call a tool, with retries only if its document makes them safe or nothing was sent.

        A secret that is missing, or not allowed for the host, gives a ``caller_fault`` whose note says what to set.

        Raises:
            ForbiddenAddressError: the address may not be called; nothing was sent.
            InvalidArgumentsError: a value cannot be encoded where it belongs; nothing was sent.
        """
        started = time.perf_counter()
        try:
            call = await self._prepare_call(tool, arguments)
        except SecretError as error:
            return CallResult("caller_fault", "", attempts=0, note=str(error), seconds=time.perf_counter() - started)
        with redact_logs(call.keyed_request.redactor):
            first = await self._send_with_retries(call)
            last = await renew_refused_keys(call, first, self._secrets) or await self._send_once_more(call)
            last = await self._route_detector.judge(call, last)
        last = count_refusal(call, last, self._memory, self._owner)
        return CallResult(
            last.outcome, last.body, last.status, call.attempts, "; ".join(last.notes), time.perf_counter() - started,
            call.keyed_request.bindings, last.reached,
        )  # fmt: skip

    async def close(self) -> None:
        """Close the client; idempotent."""
        client, self._client = self._client, None
        if client is not None:
            await client.aclose()

    async def _prepare_call(self, tool: ToolDoc, arguments: JsonObject) -> CallInProgress:
        """Return the call, checked and with its keys.

        The idempotency key is made here, so that all attempts of a write carry the same one.
        """
        try:
            request = build_request(tool, arguments)
            self._guard.check_url(request.url)
            (urlsplit(request.url).hostname or "").encode("idna")  # fails here rather than while sending
        except ValueError as error:
            raise ForbiddenAddressError(f"the URL cannot be read ({error}); correct the tool's document") from error
        if tool.idempotency_header:
            request = replace(request, headers={**request.headers, tool.idempotency_header: str(uuid4())})
        parts = urlsplit(request.url)
        host_port = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        deadline = asyncio.get_running_loop().time() + self._parameters.timeout
        return CallInProgress(tool, await add_credentials(request, tool, self._secrets), host_port, deadline)

    async def _send_once_more(self, call: CallInProgress) -> AttemptResult:
        with redact_logs(call.keyed_request.redactor):
            attempt = await self._send_with_retries(call)
        return replace(attempt, notes=(*attempt.notes, NEW_KEY_NOTE))

    async def _send_with_retries(self, call: CallInProgress) -> AttemptResult:
        retrying = AsyncRetrying(
            stop=stop_after_attempt(self._parameters.attempts),
            wait=self._choose_wait,
            retry=retry_if_result(lambda last: self._should_retry(last, call)),
            sleep=self._clock.sleep,
            retry_error_callback=_get_last_attempt,
        )
        last: AttemptResult = await retrying(self._make_attempt, call)
        attempts = int(retrying.statistics.get("attempt_number", 1))
        return conclude_attempts(last, call, given_up=last.retriable and attempts >= self._parameters.attempts)

    async def _make_attempt(self, call: CallInProgress) -> AttemptResult:
        has_turn = False
        try:
            turn = self._hosts.hold_turn(
                call.host_port, self._parameters.longest_wait, call.keyed_request.caller_digest
            )
            async with asyncio.timeout_at(call.deadline), turn:
                has_turn = True
                attempt = await self._send(call)
        except HostPausedError as error:
            return AttemptResult("transient", notes=(f"not called: {error}",))
        except (httpx.TransportError, TimeoutError) as error:
            if not has_turn:
                return AttemptResult("transient", notes=(f"not called: {call.host_port} had no turn for it in time",))
            attempt = judge_failure(error, call)
        call.may_have_taken_effect = call.may_have_taken_effect or attempt.outcome == "unknown"
        return attempt

    async def _send(self, call: CallInProgress) -> AttemptResult:
        call.attempts += 1
        response, incoming = await self._send_following_redirects(call)
        attempt = judge_response(response, incoming, call)
        if attempt.requested_wait and attempt.status in (429, 503):
            self._hosts.pause(
                call.host_port,
                attempt.requested_wait,
                call.keyed_request.caller_digest if attempt.status == 429 else "",
            )
        return attempt

    async def _send_following_redirects(self, call: CallInProgress) -> tuple[httpx.Response, IncomingBody]:
        """Send the request and follow the redirects that :func:`find_next_url` allows."""
        request, redirects = call.keyed_request.request, 0
        while True:
            response = await self._get_client().send(self._build_request(call, request), stream=True)
            try:
                url = await find_next_url(response, call.tool, request, self._guard)
                if url is None or redirects == MAX_REDIRECTS:
                    return response, await read_response(response, self._parameters.response_limit)
            finally:
                await response.aclose()
            request, redirects = replace(request, url=url), redirects + 1

    def _build_request(self, call: CallInProgress, request: OutgoingRequest) -> httpx.Request:
        try:
            return self._get_client().build_request(
                request.method,
                request.url,
                headers=request.headers,
                content=request.body,
                extensions={"trace": call.handle_trace_event},
            )
        except (httpx.InvalidURL, ValueError) as error:  # a host's name that cannot be encoded is a ValueError
            message = call.keyed_request.redactor.redact(str(error))
            raise InvalidArgumentsError(f"the call's URL cannot be built: {message}") from None

    async def _probe_host(self, call: CallInProgress, method: str, url: str) -> HostAnswer | None:
        """Send a probe without keys or arguments to a call's host, within its limits and the call's time.

        Return None if there is no usable answer.
        """
        deadline = min(call.deadline, asyncio.get_running_loop().time() + _MAX_PROBE_SECONDS)
        try:
            async with asyncio.timeout_at(deadline), self._hosts.hold_turn(call.host_port, _MAX_PROBE_SECONDS):
                response = await self._get_client().send(self._get_client().build_request(method, url), stream=True)
                try:
                    incoming = await read_response(response, min(self._parameters.response_limit, _MAX_PROBE_BYTES))
                finally:
                    await response.aclose()
        except (
            HostPausedError,
            ForbiddenAddressError,
            httpx.TransportError,
            httpx.InvalidURL,
            TimeoutError,
            ValueError,
        ):
            return None  # the call itself has its answer; a failed probe decides nothing
        if incoming.transfer_error or response.status_code == 429 or response.status_code >= 500:
            return None
        target, allow = urlsplit(url).path, response.headers.get("allow", "")
        return HostAnswer(response.status_code, incoming.text, method, target, allow_header=allow)

    def _get_client(self) -> httpx.AsyncClient:
        if self._client is None:
            parameters = self._parameters
            timeout = httpx.Timeout(
                parameters.read_timeout, connect=parameters.connect_timeout, pool=parameters.connect_timeout
            )
            self._client = build_guarded_client(self._guard, timeout=timeout, headers={
                "User-Agent": "footpath",
                "Accept": "application/json, text/*;q=0.8, */*;q=0.5",
                "Accept-Encoding": "identity",
            })  # fmt: skip
        return self._client

    def _should_retry(self, attempt: AttemptResult, call: CallInProgress) -> bool:
        remaining = call.deadline - asyncio.get_running_loop().time()
        wait = attempt.requested_wait or 0.0
        return attempt.retriable and wait <= self._parameters.longest_wait and wait < remaining

    def _choose_wait(self, state: RetryCallState) -> float:
        attempt = _get_last_attempt(state)
        if attempt.requested_wait is not None:
            return attempt.requested_wait
        parameters = self._parameters
        return wait_random_exponential(multiplier=parameters.first_wait, max=parameters.longest_wait)(state)


def _get_last_attempt(state: RetryCallState) -> AttemptResult:
    assert state.outcome is not None  # noqa: S101 tenacity asks only after an attempt
    last: AttemptResult = state.outcome.result()
    return last
