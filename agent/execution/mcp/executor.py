"""Executor of calls to MCP servers, with the same guard, limits and outcomes as calls over HTTP."""

import asyncio
import time
from dataclasses import dataclass, replace

from mcp import types

from agent.execution.error_bodies import classify_error_message, find_error_message
from agent.execution.executor import CallResult
from agent.execution.http.host_limits import HostPausedError
from agent.execution.http.log_redaction import redact_logs
from agent.execution.http.outcomes import LOCAL_FAILURE_NOTE
from agent.execution.mcp.connection import ToolAnswer, UnansweredError
from agent.execution.mcp.endpoint import McpEndpoint, resolve_endpoint
from agent.execution.mcp.exchange import McpExchange
from agent.execution.mcp.results import classify_error_code, classify_fault, render_answer
from agent.execution.mcp.sessions import McpSessions, SessionsBusyError
from agent.execution.secret_store import EnvironmentSecrets, SecretStore
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.tool import Parameter, ToolDoc

_UNKNOWN_EFFECT = "the call was sent, so it is not known whether it took effect"

_NOT_REPEATED = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


@dataclass(frozen=True, slots=True)
class _AttemptResult:
    """Result of one attempt at a call."""

    outcome: CallOutcome
    body: str = ""
    status: int | None = None
    notes: tuple[str, ...] = ()
    reached: bool = True
    anew: bool = False
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
        request = _build_request(tool, arguments)
        # The library logs requests and headers, so keys are removed from its log records.
        with redact_logs(endpoint.redactor):
            attempts, last = 1, await self._try_call(tool, endpoint, request, deadline)
            if parameters.http.attempts > 1:
                endpoint, last = await self._renew_keys(tool, endpoint, last)
                if last.anew:
                    attempts, last = 2, await self._try_call(tool, endpoint, request, deadline)
        notes = "; ".join(endpoint.redactor.redact(note) for note in last.notes if note)
        return CallResult(
            last.outcome, last.body, last.status, attempts, notes, time.perf_counter() - started, endpoint.bindings, last.reached
        )  # fmt: skip

    async def close(self) -> None:
        """Do nothing: the sessions belong to the process, which closes idle ones."""

    async def _renew_keys(
        self, tool: ToolDoc, endpoint: McpEndpoint, last: _AttemptResult
    ) -> tuple[McpEndpoint, _AttemptResult]:
        """Obtain new keys after a refusal (401); return the endpoint with them, and the attempt.

        The attempt is marked for repetition unless the call may have changed something.
        """
        if last.status != 401 or not endpoint.sent_secrets:
            return endpoint, last
        try:
            renewals = [await self._secrets.replace_refused(name, value) for name, value in endpoint.sent_secrets]
            if not any(renewals):
                return endpoint, last
            if last.call_sent and not tool.repeatable:
                return endpoint, replace(last, notes=(*last.notes, _NOT_REPEATED))
            renewed_endpoint = await resolve_endpoint(
                tool, self._sessions.guard, self._secrets, self._owner, self._sessions.parameters.commands
            )
        except SecretError as error:
            return endpoint, replace(last, notes=(*last.notes, str(error)))
        return renewed_endpoint, replace(last, anew=True)

    async def _try_call(
        self, tool: ToolDoc, endpoint: McpEndpoint, request: types.ClientRequest, deadline: float
    ) -> _AttemptResult:
        opening, asking = McpExchange(deadline), McpExchange(deadline)
        http = self._sessions.parameters.http
        caller = "\0".join(endpoint.key)
        try:
            async with (
                asyncio.timeout_at(deadline),
                self._sessions.hosts.hold_turn(endpoint.place, http.longest_wait, caller),
            ):
                return await self._ask_server(tool, endpoint, request, opening, asking)
        except (HostPausedError, SessionsBusyError) as error:
            return _AttemptResult("transient", notes=(f"not called: {error}",))
        except TimeoutError:
            asking.record_failure("no answer in time")
            return _build_unanswered_result(tool, endpoint, asking, None)

    async def _ask_server(
        self,
        tool: ToolDoc,
        endpoint: McpEndpoint,
        request: types.ClientRequest,
        opening: McpExchange,
        asking: McpExchange,
    ) -> _AttemptResult:
        try:
            async with self._sessions.acquire(endpoint, opening) as connection:
                used_before, connection.call_count = connection.call_count > 0, connection.call_count + 1
                try:
                    answer = await connection.ask(request, ToolAnswer, asking)
                except UnansweredError as error:
                    self._pause(endpoint, asking)
                    result = _build_unanswered_result(tool, endpoint, asking, error)
                    if not (asking.session_gone or connection.is_over):
                        return result
                    self._sessions.discard(endpoint, connection)
                    # Only a session that served calls before can be stale; a new one that fails would fail again.
                    undone = asking.session_gone or not asking.sent
                    return replace(result, anew=used_before and (undone or tool.safe))
        except UnansweredError as error:
            self._pause(endpoint, opening)
            return _build_unopened_result(endpoint, opening, error)
        return self._read_answer(tool, endpoint, answer, asking)

    def _pause(self, endpoint: McpEndpoint, exchange: McpExchange) -> None:
        if exchange.retry_after and exchange.status in (429, 503):
            caller = "\0".join(endpoint.key) if exchange.status == 429 else ""
            self._sessions.hosts.pause(endpoint.place, exchange.retry_after, caller)

    def _read_answer(
        self, tool: ToolDoc, endpoint: McpEndpoint, answer: ToolAnswer, exchange: McpExchange
    ) -> _AttemptResult:
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
        elif complaint := find_error_message(text):
            outcome = classify_error_message(complaint)
            notes.insert(0, f"the answer is an error: {complaint}")
        return _AttemptResult(outcome, text, exchange.status, tuple(notes))


def _is_unknown_tool(text: str) -> bool:
    return text.strip().lower().startswith("unknown tool")


def _build_request(tool: ToolDoc, arguments: JsonObject) -> types.ClientRequest:
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
) -> _AttemptResult:
    """Build the result of a call that got a protocol error, or no answer."""
    if isinstance(exchange.error, ForbiddenAddressError):
        raise exchange.error
    if error is not None and error.code is not None and not exchange.fault:
        outcome = classify_error_code(error.code, str(error), safe=tool.safe)
        note = f'the server refuses it: "{" ".join(str(error).split())[:300]}" (code {error.code})'
        return _AttemptResult(outcome, "", exchange.status, (note, _UNKNOWN_EFFECT if outcome == "unknown" else ""))
    outcome = classify_fault(exchange, keyed=endpoint.has_key, safe=tool.safe)
    hint = {"unknown": _UNKNOWN_EFFECT, "unreached": LOCAL_FAILURE_NOTE}.get(outcome, "")
    advice = endpoint.advice if exchange.status in (401, 403) else ()
    reached = exchange.sent or exchange.status is not None
    return _AttemptResult(outcome, "", exchange.status, (exchange.fault, hint, *advice), reached)


def _build_unopened_result(endpoint: McpEndpoint, opening: McpExchange, error: UnansweredError) -> _AttemptResult:
    """Build the result of a call that was not made because no session could be opened."""
    if isinstance(opening.error, ForbiddenAddressError):
        raise opening.error
    outcome = classify_fault(opening, keyed=endpoint.has_key, safe=True)
    hint = LOCAL_FAILURE_NOTE if outcome == "unreached" else ""
    advice = endpoint.advice if opening.status in (401, 403) else ()
    reached = opening.sent or opening.status is not None
    return _AttemptResult(
        outcome, "", opening.status, (f"no session with the server: {error}", hint, *advice), reached, call_sent=False
    )
