"""Executor of calls to MCP servers, with the same guard, limits and outcomes as calls over HTTP."""

import asyncio
import time
from dataclasses import dataclass, replace

from mcp import types

from agent.execution.error_bodies import classify_error_message, find_error_message
from agent.execution.executor import CallResult
from agent.execution.http.host_limits import HostPausedError
from agent.execution.http.outcomes import LOCAL_FAILURE_NOTE
from agent.execution.mcp.connection import McpExchange, UnansweredError, UnparsedToolAnswer
from agent.execution.mcp.endpoint import McpEndpoint, resolve_endpoint
from agent.execution.mcp.results import classify_error_code, classify_unanswered_call, render_answer
from agent.execution.mcp.sessions import McpSessions, SessionsBusyError
from agent.execution.redaction import redact_logs
from agent.execution.secret_store import EnvironmentSecrets, SecretStore
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.tool import Parameter, ToolDoc

_UNKNOWN_EFFECT_NOTE = "the call was sent, so it is not known whether it took effect"

_NOT_REPEATED_NOTE = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


@dataclass(frozen=True, slots=True)
class _McpAttemptResult:
    """Result of one attempt at a call."""

    outcome: CallOutcome
    body: str = ""
    status: int | None = None
    notes: tuple[str, ...] = ()
    reached: bool = True
    may_retry: bool = False
    """True if another attempt may be made: nothing was done, or repeating it does no harm."""
    call_sent: bool = True
    """False if only the requests that open a session were sent, and not the call itself."""


class McpExecutor:
    """Calls tools of MCP servers for one caller, over the process's pool of sessions.

    A session serves only calls of the same ``owner``.
    """

    name = "mcp"

    def __init__(self, sessions: McpSessions, *, secrets: SecretStore | None = None, owner: str = "") -> None:
        self._sessions = sessions
        self._secrets = secrets or EnvironmentSecrets({})
        self._owner = owner

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is made
        """Call a tool, and once more if its session was gone or a read in an older session got no answer.

        A secret that is missing, or may not be sent to this server, gives a ``caller_fault`` whose note says what to
        set.

        Raises:
            ForbiddenAddressError: the address may not be called; nothing was sent.
            InvalidArgumentsError: the arguments or the tool's address are wrong; nothing was sent.
        """
        started = time.perf_counter()
        parameters = self._sessions.parameters
        try:
            endpoint = await resolve_endpoint(
                tool, self._sessions.guard, self._secrets, self._owner, parameters.commands
            )
        except SecretError as error:
            return CallResult("caller_fault", "", attempts=0, note=str(error), seconds=time.perf_counter() - started)
        deadline = asyncio.get_running_loop().time() + parameters.http.timeout
        request = _build_call_request(tool, arguments)
        # The library logs requests and headers, so keys are removed from its log records.
        with redact_logs(endpoint.redactor):
            attempts, last = 1, await self._try_call(tool, endpoint, request, deadline)
            if parameters.http.attempts > 1:
                endpoint, last = await self._renew_keys(tool, endpoint, last)
                if last.may_retry:
                    attempts, last = 2, await self._try_call(tool, endpoint, request, deadline)
        notes = "; ".join(endpoint.redactor.redact(note) for note in last.notes if note)
        return CallResult(
            last.outcome, last.body, last.status, attempts, notes, time.perf_counter() - started, endpoint.bindings, last.reached
        )  # fmt: skip

    async def close(self) -> None:
        """Do nothing: the sessions belong to the process, which closes idle ones."""

    async def _renew_keys(
        self, tool: ToolDoc, endpoint: McpEndpoint, attempt: _McpAttemptResult
    ) -> tuple[McpEndpoint, _McpAttemptResult]:
        """Obtain new keys after a refusal (401); return the endpoint with them, and the attempt.

        The attempt is marked for repetition unless the call may have changed something.
        """
        if attempt.status != 401 or not endpoint.sent_secrets:
            return endpoint, attempt
        try:
            renewals = [await self._secrets.replace_refused(name, value) for name, value in endpoint.sent_secrets]
            if not any(renewals):
                return endpoint, attempt
            if attempt.call_sent and not tool.repeatable:
                return endpoint, replace(attempt, notes=(*attempt.notes, _NOT_REPEATED_NOTE))
            renewed_endpoint = await resolve_endpoint(
                tool, self._sessions.guard, self._secrets, self._owner, self._sessions.parameters.commands
            )
        except SecretError as error:
            return endpoint, replace(attempt, notes=(*attempt.notes, str(error)))
        return renewed_endpoint, replace(attempt, may_retry=True)

    async def _try_call(
        self, tool: ToolDoc, endpoint: McpEndpoint, request: types.ClientRequest, deadline: float
    ) -> _McpAttemptResult:
        opening_exchange, call_exchange = McpExchange(deadline), McpExchange(deadline)
        http = self._sessions.parameters.http
        caller = "\0".join(endpoint.key)
        try:
            async with (
                asyncio.timeout_at(deadline),
                self._sessions.hosts.hold_turn(endpoint.place, http.longest_wait, caller),
            ):
                return await self._ask_server(tool, endpoint, request, opening_exchange, call_exchange)
        except (HostPausedError, SessionsBusyError) as error:
            return _McpAttemptResult("transient", notes=(f"not called: {error}",))
        except TimeoutError:
            call_exchange.record_failure("no answer in time")
            return _build_unanswered_result(tool, endpoint, call_exchange, None)

    async def _ask_server(
        self,
        tool: ToolDoc,
        endpoint: McpEndpoint,
        request: types.ClientRequest,
        opening_exchange: McpExchange,
        call_exchange: McpExchange,
    ) -> _McpAttemptResult:
        try:
            async with self._sessions.acquire(endpoint, opening_exchange) as connection:
                was_used, connection.call_count = connection.call_count > 0, connection.call_count + 1
                try:
                    answer = await connection.ask(request, UnparsedToolAnswer, call_exchange)
                except UnansweredError as error:
                    self._pause_if_requested(endpoint, call_exchange)
                    result = _build_unanswered_result(tool, endpoint, call_exchange, error)
                    if not (call_exchange.session_gone or connection.is_over):
                        return result
                    self._sessions.discard(endpoint, connection)
                    # Only a session that served calls before can be stale; a new one that fails would fail again.
                    has_no_effect = call_exchange.session_gone or not call_exchange.sent
                    return replace(result, may_retry=was_used and (has_no_effect or tool.safe))
        except UnansweredError as error:
            self._pause_if_requested(endpoint, opening_exchange)
            return _build_unopened_result(endpoint, opening_exchange, error)
        return self._read_answer(tool, endpoint, answer, call_exchange)

    def _pause_if_requested(self, endpoint: McpEndpoint, exchange: McpExchange) -> None:
        if exchange.retry_after and exchange.status in (429, 503):
            caller = "\0".join(endpoint.key) if exchange.status == 429 else ""
            self._sessions.hosts.pause(endpoint.place, exchange.retry_after, caller)

    def _read_answer(
        self, tool: ToolDoc, endpoint: McpEndpoint, answer: UnparsedToolAnswer, exchange: McpExchange
    ) -> _McpAttemptResult:
        rendered = render_answer(
            answer.content, answer.structuredContent, self._sessions.parameters.http.response_limit
        )
        text = endpoint.redactor.redact(rendered.text)
        notes = [*rendered.notes, rendered.unusable]
        outcome: CallOutcome = "ok"
        if answer.isError is True:
            outcome = classify_error_message(text)
            notes.insert(0, f'the tool says that it failed: "{" ".join(text.split())[:300]}"')
            if _is_unknown_tool(text):
                outcome = "gone"
        elif rendered.unusable and tool.safe:
            outcome = "caller_fault"
        elif error_message := find_error_message(text):
            outcome = classify_error_message(error_message)
            notes.insert(0, f"the answer is an error: {error_message}")
        return _McpAttemptResult(outcome, text, exchange.status, tuple(notes))


def _is_unknown_tool(text: str) -> bool:
    return text.strip().lower().startswith("unknown tool")


def _build_call_request(tool: ToolDoc, arguments: JsonObject) -> types.ClientRequest:
    """Build the request of a call; null is sent only for a parameter that may be null.

    Raises:
        InvalidArgumentsError: a field of a spread object has the name of a parameter.
    """
    parameters_by_name = {parameter.name: parameter for parameter in tool.parameters}
    wire_arguments: JsonObject = {}
    spread_fields: JsonObject = {}
    for name, value in arguments.items():
        parameter = parameters_by_name.get(name, Parameter(name=name))
        if parameter.spread and isinstance(value, dict):
            spread_fields |= value
        elif value is not None or parameter.nullable or parameter.type == "any":
            wire_arguments[parameter.wire_name] = value
    wire_names = {parameter.wire_name for parameter in tool.parameters if not parameter.spread}
    if clashes := sorted(wire_names & spread_fields.keys()):
        spread = next(parameter.name for parameter in tool.parameters if parameter.spread)
        raise InvalidArgumentsError(
            f"{spread} holds {', '.join(clashes)[:200]}, which {tool.api} has as a parameter of its own; give the value there"
        )
    wire_arguments |= spread_fields
    return types.ClientRequest(
        types.CallToolRequest(params=types.CallToolRequestParams(name=tool.api, arguments=wire_arguments))
    )


def _build_unanswered_result(
    tool: ToolDoc, endpoint: McpEndpoint, exchange: McpExchange, error: UnansweredError | None
) -> _McpAttemptResult:
    """Build the result of a call that got a protocol error, or no answer."""
    if isinstance(exchange.error, ForbiddenAddressError):
        raise exchange.error
    if error is not None and error.code is not None and not exchange.failure:
        outcome = classify_error_code(error.code, str(error), safe=tool.safe)
        note = f'the server refuses it: "{" ".join(str(error).split())[:300]}" (code {error.code})'
        return _McpAttemptResult(
            outcome, "", exchange.status, (note, _UNKNOWN_EFFECT_NOTE if outcome == "unknown" else "")
        )
    outcome = classify_unanswered_call(exchange, keyed=endpoint.has_key, safe=tool.safe)
    hint = {"unknown": _UNKNOWN_EFFECT_NOTE, "unreached": LOCAL_FAILURE_NOTE}.get(outcome, "")
    advice = endpoint.advice if exchange.status in (401, 403) else ()
    reached = exchange.sent or exchange.status is not None
    return _McpAttemptResult(outcome, "", exchange.status, (exchange.failure, hint, *advice), reached)


def _build_unopened_result(
    endpoint: McpEndpoint, opening_exchange: McpExchange, error: UnansweredError
) -> _McpAttemptResult:
    """Build the result of a call that was not made because no session could be opened."""
    if isinstance(opening_exchange.error, ForbiddenAddressError):
        raise opening_exchange.error
    outcome = classify_unanswered_call(opening_exchange, keyed=endpoint.has_key, safe=True)
    hint = LOCAL_FAILURE_NOTE if outcome == "unreached" else ""
    advice = endpoint.advice if opening_exchange.status in (401, 403) else ()
    reached = opening_exchange.sent or opening_exchange.status is not None
    return _McpAttemptResult(
        outcome,
        "",
        opening_exchange.status,
        (f"no session with the server: {error}", hint, *advice),
        reached,
        call_sent=False,
    )
