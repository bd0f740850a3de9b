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
from agent.execution.host_memory import HostAnswer, HostMemory
from agent.execution.http.attempt import AttemptResult, CallInProgress, conclude_attempts, judge_failure, judge_response
from agent.execution.http.client import build_guarded_client
from agent.execution.http.credentials import add_credentials
from agent.execution.http.guard import AddressGuard, Resolver, resolve_host
from agent.execution.http.host_limits import Clock, HostLimits, HostPausedError
from agent.execution.http.log_redaction import redact_logs
from agent.execution.http.missing_routes import MissingRouteDetector
from agent.execution.http.redirects import MAX_REDIRECTS, find_next_url
from agent.execution.http.refused_keys import NEW_KEY_NOTE, renew_refused_keys, weigh_refusal
from agent.execution.http.request import OutgoingRequest, build_request
from agent.execution.http.response import IncomingBody, read_response
from agent.execution.secret_store import EnvironmentSecrets, SecretStore
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.model import JsonObject
from domain.tool import ToolDoc

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
        clock: Clock | None = None,
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
        self._clock = clock or Clock()
        self._hosts = HostLimits(
            self._parameters.host_concurrency, self._parameters.host_rate, self._clock, longest_pause=self._parameters.host_pause
        )  # fmt: skip
        self._client: httpx.AsyncClient | None = None
        self._memory = memory or HostMemory()
        self._owner = owner
        self._routes = MissingRouteDetector(self._memory, self._probe_host)

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
            last = await self._routes.judge(call, last)
        last = weigh_refusal(call, last, self._memory, self._owner)
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
        place = f"{parts.hostname}:{parts.port or (443 if parts.scheme == 'https' else 80)}"
        deadline = asyncio.get_running_loop().time() + self._parameters.timeout
        return CallInProgress(tool, await add_credentials(request, tool, self._secrets), place, deadline)

    async def _send_once_more(self, call: CallInProgress) -> AttemptResult:
        with redact_logs(call.keyed_request.redactor):
            last = await self._send_with_retries(call)
        return replace(last, notes=(*last.notes, NEW_KEY_NOTE))

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
        sending = False
        try:
            turn = self._hosts.hold_turn(
                call.host_port, self._parameters.longest_wait, call.keyed_request.caller_digest
            )
            async with asyncio.timeout_at(call.deadline), turn:
                sending = True
                last = await self._send(call)
        except HostPausedError as error:
            return AttemptResult("transient", notes=(f"not called: {error}",))
        except (httpx.TransportError, TimeoutError) as error:
            if not sending:
                return AttemptResult("transient", notes=(f"not called: {call.host_port} had no turn for it in time",))
            last = judge_failure(error, call)
        call.may_have_taken_effect = call.may_have_taken_effect or last.outcome == "unknown"
        return last

    async def _send(self, call: CallInProgress) -> AttemptResult:
        call.attempts += 1
        response, incoming = await self._send_following_redirects(call)
        last = judge_response(response, incoming, call)
        if last.requested_wait and last.status in (429, 503):
            self._hosts.pause(
                call.host_port, last.requested_wait, call.keyed_request.caller_digest if last.status == 429 else ""
            )
        return last

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
                extensions={"trace": call.trace},
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
        if incoming.broken or response.status_code == 429 or response.status_code >= 500:
            return None
        target, allow = urlsplit(url).path, response.headers.get("allow", "")
        return HostAnswer(response.status_code, incoming.text, method, target, allow=allow)

    def _get_client(self) -> httpx.AsyncClient:
        if self._client is None:
            chosen = self._parameters
            limits = httpx.Timeout(chosen.read_timeout, connect=chosen.connect_timeout, pool=chosen.connect_timeout)
            self._client = build_guarded_client(self._guard, timeout=limits, headers={
                "User-Agent": "footpath",
                "Accept": "application/json, text/*;q=0.8, */*;q=0.5",
                "Accept-Encoding": "identity",
            })  # fmt: skip
        return self._client

    def _should_retry(self, last: AttemptResult, call: CallInProgress) -> bool:
        remaining = call.deadline - asyncio.get_running_loop().time()
        wait = last.requested_wait or 0.0
        return last.retriable and wait <= self._parameters.longest_wait and wait < remaining

    def _choose_wait(self, state: RetryCallState) -> float:
        last = _get_last_attempt(state)
        if last.requested_wait is not None:
            return last.requested_wait
        chosen = self._parameters
        return wait_random_exponential(multiplier=chosen.first_wait, max=chosen.longest_wait)(state)


def _get_last_attempt(state: RetryCallState) -> AttemptResult:
    assert state.outcome is not None  # noqa: S101 tenacity asks only after an attempt
    last: AttemptResult = state.outcome.result()
    return last
