"""Classification of HTTP statuses and failures by what they show about a tool's availability."""

import errno
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from domain.plan import CallOutcome

_TRANSIENT_STATUSES = frozenset({408, 425, 429})
_NOT_BEGUN_STATUSES = frozenset({501, 503, 505})
"""Server errors for a request that was not begun: not implemented, busy, unsupported version of HTTP."""
_NO_ROUTE_ERRNOS = frozenset({errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL})
"""Connection errors by which this machine's own network reports that it has no route to an address."""
LOCAL_FAILURE_NOTE = "this machine found no way there, which says nothing of the tool"


def classify_status(status: int, *, keyed: bool, safe: bool, has_values: bool) -> CallOutcome:
    """Classify an answered call.

    ``keyed`` says that a key was sent, ``has_values`` that values of the call were sent (in the path, query or body).

    - A write that ends in an error of the server (500) or of a gateway (502, 504) may have taken effect before it
      failed: ``unknown``. 503 and 429 refuse a call before it begins.
    - The refusal of a key says nothing about the tool: ``refused``.
    - A 404 to a call with values may be about them or about the path: ``undecided``, until
      :mod:`agent.execution.http.missing_routes` has compared it with other answers.
    - A 408 is a fault of the server: ``transient``.
    - A redirect that was not followed is the client's decision and no evidence against the tool: ``caller_fault``.
    """
    if 200 <= status < 300:
        return "ok"
    if status >= 500 and status not in _NOT_BEGUN_STATUSES and not safe:
        return "unknown"
    if keyed and status in (401, 403, 429):
        return "refused"
    if is_transient_status(status):
        return "transient"
    if status in (404, 410):
        return "undecided" if has_values and status == 404 else "gone"
    return "caller_fault"


def is_transient_status(status: int) -> bool:
    """Return whether a status reports a fault that may be gone at the next attempt."""
    return status in _TRANSIENT_STATUSES or status >= 500


def classify_failure(error: BaseException, *, sent: bool, safe: bool) -> CallOutcome:
    """Classify a call that got no answer; ``sent`` says that the request may have reached the server."""
    if not sent and is_local_failure(error):
        return "unreached"
    return "unknown" if sent and not safe else "transient"


def is_local_failure(error: BaseException) -> bool:
    """Return whether a connection failed on this machine, for lack of an address or a route to it."""
    causes = list(_iterate_causes(error))
    return any(
        isinstance(cause, socket.gaierror) or getattr(cause, "errno", None) in _NO_ROUTE_ERRNOS for cause in causes
    )


def is_unknown_host(error: BaseException) -> bool:
    """Return whether the host's name is unknown, as opposed to a temporary failure to resolve it."""
    return any(
        isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN for cause in _iterate_causes(error)
    )


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__ or current.__context__


def parse_retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Return the seconds of a ``Retry-After`` header, a number or a date; None if it cannot be read."""
    text = (header or "").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        retry_date = parsedate_to_datetime(text)
        retry_date = retry_date if retry_date.tzinfo else retry_date.replace(tzinfo=UTC)
        return max(0.0, (retry_date - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):  # no date, or one beyond the calendar
        return None
