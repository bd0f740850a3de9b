"""Judgement of one attempt at a call: its outcome, whether it took effect, and whether a retry could help."""

from dataclasses import dataclass, field, replace

import httpx

from agent.execution.error_bodies import classify_error_message, extract_error_text, find_error_message
from agent.execution.http.credentials import KeyedRequest
from agent.execution.http.outcomes import (
    LOCAL_FAILURE_NOTE,
    classify_failure,
    classify_status,
    is_transient_status,
    is_unknown_host,
    parse_retry_after,
)
from agent.execution.http.redirects import describe_redirect
from agent.execution.http.response import IncomingBody
from domain.plan import CallOutcome
from domain.tool import ToolDoc

_SEND_STARTED_EVENT = "send_request_headers.started"


@dataclass(slots=True)
class CallInProgress:
    """One call in progress, over all its attempts."""

    tool: ToolDoc
    keyed_request: KeyedRequest
    host_port: str
    """``host:port``."""
    deadline: float
    """Time on the event loop's clock."""
    attempts: int = 0
    """Number of attempts begun."""
    sent: bool = False
    """True once any attempt may have sent its request."""
    may_have_taken_effect: bool = False
    """True once an attempt of a write may have taken effect without an answer that says so."""

    async def handle_trace_event(self, event: str, _info: object) -> None:
        """Handle a trace event of httpcore; once the first header is sent, the server may act."""
        if event.endswith(_SEND_STARTED_EVENT):
            self.sent = True


@dataclass(frozen=True, slots=True)
class AttemptResult:
    """Result of one attempt."""

    outcome: CallOutcome
    body: str = ""
    status: int | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    requested_wait: float | None = None
    """Seconds from ``Retry-After``."""
    retriable: bool = False
    """True if another attempt could help."""
    reached: bool = True
    """False if the request did not leave this machine."""


def judge_response(response: httpx.Response, incoming: IncomingBody, call: CallInProgress) -> AttemptResult:
    """Judge an attempt that got a response, complete or not."""
    tool, status = call.tool, response.status_code
    outcome = _classify_status(status, call)
    if incoming.transfer_error:
        return _judge_broken_response(status, incoming, call)
    if outcome == "ok" and incoming.ends_early and tool.safe:
        return AttemptResult("transient", "", status, (f"HTTP {status}, {incoming.note}",), retriable=True)
    text = call.keyed_request.redactor.redact(incoming.text, truncated=incoming.truncated)
    notes = [_describe_status(response, text, call), incoming.note]
    if outcome == "ok" and incoming.unusable_reason and tool.safe:
        outcome = "caller_fault"  # a write took effect, whatever its answer looks like
    elif outcome == "ok" and not incoming.truncated and (error_message := find_error_message(text)):
        outcome = classify_error_message(error_message)
        notes.insert(0, f"HTTP {status}, but the answer is an error: {error_message}")
    elif outcome == "unknown":
        notes.append(_UNKNOWN_EFFECT_NOTE)
    if status in (401, 403):
        notes += call.keyed_request.advice
    retriable = is_transient_status(status) and tool.repeatable
    wait = parse_retry_after(response.headers.get("retry-after"))
    return _redact_notes(
        call, AttemptResult(outcome, text, status, (*notes, incoming.unusable_reason), wait, retriable=retriable)
    )


def _classify_status(status: int, call: CallInProgress) -> CallOutcome:
    request = call.keyed_request.request
    return classify_status(status, keyed=request.keyed, safe=call.tool.safe, has_values=request.has_values)


def _judge_broken_response(status: int, incoming: IncomingBody, call: CallInProgress) -> AttemptResult:
    """Judge a response that broke off; a write with a success status was accepted, but its effect is unknown."""
    tool = call.tool
    outcome: CallOutcome = "transient" if tool.safe else "unknown"
    if status >= 300 and not tool.repeatable:
        outcome = _classify_status(status, call)
    text = "" if tool.safe else call.keyed_request.redactor.redact(incoming.text, truncated=True)
    doubt_note = _INCOMPLETE_ANSWER_NOTE if status < 300 else _UNKNOWN_EFFECT_NOTE
    notes = (f"HTTP {status}", incoming.transfer_error, doubt_note if outcome == "unknown" else "")
    return _redact_notes(call, AttemptResult(outcome, text, status, notes, retriable=tool.repeatable))


def judge_failure(error: Exception, call: CallInProgress) -> AttemptResult:
    """Judge an attempt that got no response."""
    outcome = classify_failure(error, sent=call.sent, safe=call.tool.safe)
    message = str(error) or type(error).__name__
    timed_out = isinstance(error, (TimeoutError, httpx.TimeoutException))
    note = f"no answer in time ({message})" if timed_out else f"no answer ({message})"
    retriable = call.tool.repeatable if call.sent else not is_unknown_host(error)
    explanation = {"unknown": _UNKNOWN_EFFECT_NOTE, "unreached": LOCAL_FAILURE_NOTE}.get(outcome, "")
    return _redact_notes(
        call, AttemptResult(outcome, notes=(note, explanation), retriable=retriable, reached=call.sent)
    )


def conclude_attempts(last_attempt: AttemptResult, call: CallInProgress, *, given_up: bool) -> AttemptResult:
    """Conclude all attempts; a write that may have taken effect in an earlier one is never reported as failed."""
    notes = [note for note in last_attempt.notes if note]
    if given_up:
        notes.append(f"given up after {call.attempts} attempts")
    if call.may_have_taken_effect and last_attempt.outcome not in ("ok", "unknown"):
        notes.append(f"an earlier attempt may have taken effect: {_UNKNOWN_EFFECT_NOTE}")
        return replace(last_attempt, outcome="unknown", notes=tuple(notes))
    if last_attempt.outcome == "unknown" and not call.tool.repeatable:
        notes.append("it was not repeated")
    return replace(last_attempt, notes=tuple(notes))


_INCOMPLETE_ANSWER_NOTE = (
    "it was accepted, but not all of the answer came, so it is not known whether it took effect as meant"
)
_UNKNOWN_EFFECT_NOTE = "the request was sent, so it is not known whether it took effect"


def _redact_notes(call: CallInProgress, attempt: AttemptResult) -> AttemptResult:
    """Remove secrets from the attempt's notes, since servers echo them in bodies, headers and URLs."""
    notes = tuple(call.keyed_request.redactor.redact(note) for note in attempt.notes if note)
    return replace(attempt, notes=notes)


def _describe_status(response: httpx.Response, text: str, call: CallInProgress) -> str:
    """Describe the status and headers, and the message of an error body; empty for a plain success."""
    status = response.status_code
    if response.has_redirect_location:
        location = call.keyed_request.redactor.redact(response.headers.get("location", ""))
        return f"HTTP {status}: {describe_redirect(location, str(response.request.url))}"
    if 200 <= status < 300:
        return ""
    wait = call.keyed_request.redactor.redact(response.headers.get("retry-after", ""))[:60]
    wait_text = f"; the server asks to wait: {wait}" if wait and status >= 400 else ""
    error_text = extract_error_text(text)
    return f"HTTP {status}{wait_text}" + (f'; it says "{error_text}"' if error_text else "")
