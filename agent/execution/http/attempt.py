"""Judgement of one attempt of a call: its outcome, whether it took effect, and whether a retry could help."""

from dataclasses import dataclass, field, replace

import httpx

from agent.execution.error_bodies import complaint, refusal, refused
from agent.execution.http.credentials import Keyed
from agent.execution.http.outcomes import HERE, may_pass, no_such_name, outcome_of, outcome_of_error, retry_after
from agent.execution.http.redirects import describe_redirect
from agent.execution.http.response import Incoming
from domain.plan import CallOutcome
from domain.tool import ToolDoc

_SENDING = "send_request_headers.started"


@dataclass(slots=True)
class Call:
    """One call in progress, over all its attempts."""

    tool: ToolDoc
    keyed: Keyed
    place: str
    """``host:port``."""
    deadline: float
    """Time on the event loop's clock."""
    tries: int = 0
    """Attempts begun."""
    sent: bool = False
    """True once any attempt may have sent its request."""
    doubtful: bool = False
    """True once an attempt of a write may have taken effect without an answer that says so."""

    async def trace(self, event: str, _info: object) -> None:
        """Handle a trace event of httpcore: from the first header sent, the server may act."""
        if event.endswith(_SENDING):
            self.sent = True


@dataclass(frozen=True, slots=True)
class Try:
    """Result of one attempt."""

    outcome: CallOutcome
    body: str = ""
    status: int | None = None
    notes: tuple[str, ...] = field(default_factory=tuple)
    asked_wait: float | None = None
    """Seconds from ``Retry-After``."""
    again: bool = False
    """Another attempt could help."""
    reached: bool = True


def answered(response: httpx.Response, incoming: Incoming, call: Call) -> Try:
    """Judge an attempt that got a response, complete or not."""
    tool, status = call.tool, response.status_code
    outcome = _class(status, call)
    if incoming.broken:
        return _broken(status, incoming, call)
    if outcome == "ok" and incoming.ends_early and tool.safe:
        return Try("transient", "", status, (f"HTTP {status}, {incoming.note}",), again=True)
    text = call.keyed.redactor.clean(incoming.text, cut=incoming.cut)
    notes = [_said(response, text, call), incoming.note]
    if outcome == "ok" and incoming.unusable and tool.safe:
        outcome = "caller_fault"  # a write took effect, whatever its answer looks like
    elif outcome == "ok" and not incoming.cut and (said := refusal(text)):
        outcome = refused(said)
        notes.insert(0, f"HTTP {status}, but the answer is an error: {said}")
    elif outcome == "unknown":
        notes.append(_NOT_KNOWN)
    if status in (401, 403):
        notes += call.keyed.advice
    retriable = may_pass(status) and tool.repeatable
    wait = retry_after(response.headers.get("retry-after"))
    return _shown(call, Try(outcome, text, status, (*notes, incoming.unusable), wait, again=retriable))


def _class(status: int, call: Call) -> CallOutcome:
    request = call.keyed.request
    return outcome_of(status, keyed=request.keyed, safe=call.tool.safe, named=request.named)


def _broken(status: int, incoming: Incoming, call: Call) -> Try:
    """Judge a response that broke off. A write with a success status was accepted, but its effect is not known."""
    tool = call.tool
    outcome: CallOutcome = "transient" if tool.safe else "unknown"
    if status >= 300 and not tool.repeatable:
        outcome = _class(status, call)
    text = "" if tool.safe else call.keyed.redactor.clean(incoming.text, cut=True)
    doubt = _NOT_WHOLE if status < 300 else _NOT_KNOWN
    notes = (f"HTTP {status}", incoming.broken, doubt if outcome == "unknown" else "")
    return _shown(call, Try(outcome, text, status, notes, again=tool.repeatable))


def unanswered(error: Exception, call: Call) -> Try:
    """Judge an attempt that got no response."""
    outcome = outcome_of_error(error, sent=call.sent, safe=call.tool.safe)
    what = str(error) or type(error).__name__
    timed_out = isinstance(error, (TimeoutError, httpx.TimeoutException))
    note = f"no answer in time ({what})" if timed_out else f"no answer ({what})"
    again = call.tool.repeatable if call.sent else not no_such_name(error)
    told = {"unknown": _NOT_KNOWN, "unreached": HERE}.get(outcome, "")
    return _shown(call, Try(outcome, notes=(note, told), again=again, reached=call.sent))


def concluded(last: Try, call: Call, *, given_up: bool) -> Try:
    """Conclude all attempts: a write that may have taken effect in an earlier one must not be reported as failed."""
    notes = [note for note in last.notes if note]
    if given_up:
        notes.append(f"given up after {call.tries} attempts")
    if call.doubtful and last.outcome not in ("ok", "unknown"):
        notes.append(f"an earlier attempt may have taken effect: {_NOT_KNOWN}")
        return replace(last, outcome="unknown", notes=tuple(notes))
    if last.outcome == "unknown" and not call.tool.repeatable:
        notes.append("it was not repeated")
    return replace(last, notes=tuple(notes))


_NOT_WHOLE = "it was accepted, but not all of the answer came, so it is not known whether it took effect as meant"
_NOT_KNOWN = "the request was sent, so it is not known whether it took effect"


def _shown(call: Call, found: Try) -> Try:
    """Return the attempt without secrets in its notes: servers echo them in bodies, headers and URLs."""
    notes = tuple(call.keyed.redactor.clean(note) for note in found.notes if note)
    return replace(found, notes=notes)


def _said(response: httpx.Response, text: str, call: Call) -> str:
    """Describe the status and headers, and the message of an error body; empty for a plain success."""
    status = response.status_code
    if response.has_redirect_location:
        location = call.keyed.redactor.clean(response.headers.get("location", ""))
        return f"HTTP {status}: {describe_redirect(location, str(response.request.url))}"
    if 200 <= status < 300:
        return ""
    wait = call.keyed.redactor.clean(response.headers.get("retry-after", ""))[:60]
    asks = f"; the server asks to wait: {wait}" if wait and status >= 400 else ""
    says = complaint(text)
    return f"HTTP {status}{asks}" + (f'; it says "{says}"' if says else "")
