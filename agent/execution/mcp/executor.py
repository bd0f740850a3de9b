"""Calls of tools of MCP servers, with the guards, limits and outcomes of calls over HTTP."""

import asyncio
import time
from dataclasses import dataclass, replace

from mcp import types

from agent.execution.error_bodies import refusal, refused
from agent.execution.executor import CallResult
from agent.execution.http.host_limits import HostPausedError
from agent.execution.http.log_redaction import unlogged
from agent.execution.http.outcomes import HERE
from agent.execution.mcp.connection import Answer, UnansweredError
from agent.execution.mcp.endpoint import Endpoint, endpoint_of
from agent.execution.mcp.exchange import Exchange
from agent.execution.mcp.results import outcome_of_code, outcome_of_fault, said
from agent.execution.mcp.sessions import BusyError, McpSessions
from agent.execution.secrets import EnvironmentSecrets, Secrets
from domain.errors import ForbiddenAddressError, InvalidArgumentsError, SecretError
from domain.model import JsonObject
from domain.plan import CallOutcome
from domain.tool import Parameter, ToolDoc

_NOT_KNOWN = "the call was sent, so it is not known whether it took effect"

_NOT_AGAIN = (
    "its key was refused and obtained anew; the call changes something, so it was not made once more: ask for it again"
)


@dataclass(frozen=True, slots=True)
class _Try:
    """Result of one attempt at a call."""

    outcome: CallOutcome
    body: str = ""
    status: int | None = None
    notes: tuple[str, ...] = ()
    reached: bool = True
    anew: bool = False
    """A further attempt in a new session is allowed: nothing was done, or repeating it does no harm."""
    asked: bool = True
    """The call itself was sent, and not only the requests that open a session."""


class McpExecutor:
    """Executor of one caller, over the sessions that all callers of the process share.

    A session is used only for calls of the same ``owner``.
    """

    name = "mcp"

    def __init__(self, sessions: McpSessions, *, secrets: Secrets | None = None, owner: str = "") -> None:
        self._sessions = sessions
        self._secrets = secrets or EnvironmentSecrets({})
        self._owner = owner

    async def call(self, tool: ToolDoc, arguments: JsonObject, identity: str = "") -> CallResult:  # noqa: ARG002  # each call is made
        """Call a tool; once more when its session was gone, or when a read got no answer.

        A secret that is missing, or may not be sent to this server, gives a ``caller_fault`` whose note says what to set.

        Raises:
            ForbiddenAddressError: the address may not be called; nothing was sent.
            InvalidArgumentsError: the arguments or the tool's address are wrong; nothing was sent.
        """
        started = time.perf_counter()
        parameters = self._sessions.parameters
        try:
            endpoint = await endpoint_of(tool, self._sessions.guard, self._secrets, self._owner, parameters.commands)
        except SecretError as error:
            return CallResult("caller_fault", "", attempts=0, note=str(error), seconds=time.perf_counter() - started)
        deadline = asyncio.get_running_loop().time() + parameters.http.timeout
        request = _request(tool, arguments)
        # The library logs requests and headers, so the keys are masked in its log records meanwhile.
        with unlogged(endpoint.redactor):
            attempts, last = 1, await self._attempt(tool, endpoint, request, deadline)
            if parameters.http.attempts > 1:
                endpoint, last = await self._with_new_keys(tool, endpoint, last)
                if last.anew:
                    attempts, last = 2, await self._attempt(tool, endpoint, request, deadline)
        notes = "; ".join(endpoint.redactor.clean(note) for note in last.notes if note)
        return CallResult(
            last.outcome, last.body, last.status, attempts, notes, time.perf_counter() - started, endpoint.bindings, last.reached
        )  # fmt: skip

    async def close(self) -> None:
        """Do nothing: the process owns the sessions and closes them when they are idle."""

    async def _with_new_keys(self, tool: ToolDoc, endpoint: Endpoint, last: _Try) -> tuple[Endpoint, _Try]:
        """Obtain new keys after a refusal (401) and return the endpoint with them.

        A call that may have changed something is not marked for repetition.
        """
        if last.status != 401 or not endpoint.sent:
            return endpoint, last
        try:
            new = [await self._secrets.refused(name, value) for name, value in endpoint.sent]
            if not any(new):
                return endpoint, last
            if last.asked and not tool.repeatable:
                return endpoint, replace(last, notes=(*last.notes, _NOT_AGAIN))
            again = await endpoint_of(
                tool, self._sessions.guard, self._secrets, self._owner, self._sessions.parameters.commands
            )
        except SecretError as error:
            return endpoint, replace(last, notes=(*last.notes, str(error)))
        return again, replace(last, anew=True)

    async def _attempt(self, tool: ToolDoc, endpoint: Endpoint, request: types.ClientRequest, deadline: float) -> _Try:
        opening, asking = Exchange(deadline), Exchange(deadline)
        http = self._sessions.parameters.http
        caller = "\0".join(endpoint.key)
        try:
            async with (
                asyncio.timeout_at(deadline),
                self._sessions.hosts.turn(endpoint.place, http.longest_wait, caller),
            ):
                return await self._asked(tool, endpoint, request, opening, asking)
        except (HostPausedError, BusyError) as error:
            return _Try("transient", notes=(f"not called: {error}",))
        except TimeoutError:
            asking.failed("no answer in time")
            return _unanswered(tool, endpoint, asking, None)

    async def _asked(
        self, tool: ToolDoc, endpoint: Endpoint, request: types.ClientRequest, opening: Exchange, asking: Exchange
    ) -> _Try:
        try:
            async with self._sessions.of(endpoint, opening) as connection:
                used_before, connection.calls = connection.calls > 0, connection.calls + 1
                try:
                    answer = await connection.ask(request, Answer, asking)
                except UnansweredError as error:
                    self._pause(endpoint, asking)
                    found = _unanswered(tool, endpoint, asking, error)
                    if not (asking.gone or connection.over):
                        return found
                    self._sessions.leave(endpoint, connection)
                    # Only a session that served calls before can be stale; a new one that fails would fail again.
                    undone = asking.gone or not asking.sent
                    return replace(found, anew=used_before and (undone or tool.safe))
        except UnansweredError as error:
            self._pause(endpoint, opening)
            return _not_opened(endpoint, opening, error)
        return self._answered(tool, endpoint, answer, asking)

    def _pause(self, endpoint: Endpoint, exchange: Exchange) -> None:
        if exchange.asked_wait and exchange.status in (429, 503):
            caller = "\0".join(endpoint.key) if exchange.status == 429 else ""
            self._sessions.hosts.pause(endpoint.place, exchange.asked_wait, caller)

    def _answered(self, tool: ToolDoc, endpoint: Endpoint, answer: Answer, exchange: Exchange) -> _Try:
        read = said(answer.content, answer.structuredContent, self._sessions.parameters.http.response_limit)
        text = endpoint.redactor.clean(read.text)
        notes = [*read.notes, read.unusable]
        outcome: CallOutcome = "ok"
        if answer.isError is True:
            outcome = refused(text)
            notes.insert(0, f'the tool says that it failed: "{" ".join(text.split())[:300]}"')
            if _no_tool(text):
                outcome = "gone"
        elif read.unusable and tool.safe:
            outcome = "caller_fault"
        elif complaint := refusal(text):
            outcome = refused(complaint)
            notes.insert(0, f"the answer is an error: {complaint}")
        return _Try(outcome, text, exchange.status, tuple(notes))


def _no_tool(text: str) -> bool:
    return text.strip().lower().startswith("unknown tool")


def _request(tool: ToolDoc, arguments: JsonObject) -> types.ClientRequest:
    """Build the request; null is sent only for a parameter that may be null.

    Raises:
        InvalidArgumentsError: a field of a spread object has the name of a parameter.
    """
    known = {parameter.name: parameter for parameter in tool.parameters}
    sent: JsonObject = {}
    further: JsonObject = {}
    for name, value in arguments.items():
        parameter = known.get(name, Parameter(name=name))
        if parameter.spread and isinstance(value, dict):
            further |= value
        elif value is not None or parameter.nullable or parameter.type == "any":
            sent[parameter.wire_name] = value
    taken = {parameter.wire_name for parameter in tool.parameters if not parameter.spread}
    if clashes := sorted(taken & further.keys()):
        spread = next(parameter.name for parameter in tool.parameters if parameter.spread)
        raise InvalidArgumentsError(
            f"{spread} holds {', '.join(clashes)[:200]}, which {tool.api} has as a parameter of its own; give the value there"
        )
    sent |= further
    return types.ClientRequest(types.CallToolRequest(params=types.CallToolRequestParams(name=tool.api, arguments=sent)))


def _unanswered(tool: ToolDoc, endpoint: Endpoint, exchange: Exchange, error: UnansweredError | None) -> _Try:
    """Build the result of a call that got a protocol error, or no answer."""
    if isinstance(exchange.error, ForbiddenAddressError):
        raise exchange.error
    if error is not None and error.code is not None and not exchange.fault:
        outcome = outcome_of_code(error.code, str(error), safe=tool.safe)
        note = f'the server refuses it: "{" ".join(str(error).split())[:300]}" (code {error.code})'
        return _Try(outcome, "", exchange.status, (note, _NOT_KNOWN if outcome == "unknown" else ""))
    outcome = outcome_of_fault(exchange, keyed=endpoint.keyed, safe=tool.safe)
    told = {"unknown": _NOT_KNOWN, "unreached": HERE}.get(outcome, "")
    advice = endpoint.advice if exchange.status in (401, 403) else ()
    reached = exchange.sent or exchange.status is not None
    return _Try(outcome, "", exchange.status, (exchange.fault, told, *advice), reached)


def _not_opened(endpoint: Endpoint, opening: Exchange, error: UnansweredError) -> _Try:
    """Build the result of a call that was not made because no session opened: nothing has changed."""
    if isinstance(opening.error, ForbiddenAddressError):
        raise opening.error
    outcome = outcome_of_fault(opening, keyed=endpoint.keyed, safe=True)
    told = HERE if outcome == "unreached" else ""
    advice = endpoint.advice if opening.status in (401, 403) else ()
    reached = opening.sent or opening.status is not None
    return _Try(
        outcome, "", opening.status, (f"no session with the server: {error}", told, *advice), reached, asked=False
    )
