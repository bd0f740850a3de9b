"""What an HTTP status, or the lack of one, says of a tool (DESIGN section 3, availability)."""

import errno
import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from domain.plan import CallOutcome

_TRANSIENT = frozenset({408, 425, 429})
_REFUSED = frozenset({501, 503, 505})
"""Errors of a server that say it did not begin: not implemented, busy, a version of HTTP it does not speak."""
_NO_ROUTE = frozenset({errno.ENETUNREACH, errno.ENETDOWN, errno.EHOSTUNREACH, errno.EADDRNOTAVAIL})
"""Errors of a connection by which this machine's own network says that there is no way to an address."""
HERE = "this machine found no way there, which says nothing of the tool"


def outcome_of(status: int, *, keyed: bool, safe: bool, named: bool) -> CallOutcome:
    """The class of an answered call. ``keyed``: a key went along. ``named``: the call's own values did (a path, a query, a body).

    A write that ends in an error of the server (500) or of a gateway before it (502, 504) may have taken effect before it
    failed: unknown. 503 and 429 refuse a call before it begins. What is refused to one key says nothing of the tool. A 404 to a call with
    values may be about them or about the path: undecided, until :mod:`agent.execution.http.missing_routes` has compared it. A 408 is
    trouble of the server's, and counts. A redirect that is not followed is our doing and no evidence either.
    """
    if 200 <= status < 300:
        return "ok"
    if status >= 500 and status not in _REFUSED and not safe:
        return "unknown"
    if keyed and status in (401, 403, 429):
        return "refused"
    if may_pass(status):
        return "transient"
    if status in (404, 410):
        return "undecided" if named and status == 404 else "gone"
    return "caller_fault"


def may_pass(status: int) -> bool:
    """Whether a status tells of trouble that the next attempt may not meet."""
    return status in _TRANSIENT or status >= 500


def outcome_of_error(error: BaseException, *, sent: bool, safe: bool) -> CallOutcome:
    """The class of a call that got no answer. ``sent``: the request may have reached the server."""
    if not sent and at_this_end(error):
        return "unreached"
    return "unknown" if sent and not safe else "transient"


def at_this_end(error: BaseException) -> bool:
    """Whether a connection failed for want of an address or of a way there: nobody was asked, so nobody else is to blame."""
    causes = list(_causes(error))
    return any(isinstance(one, socket.gaierror) or getattr(one, "errno", None) in _NO_ROUTE for one in causes)


def no_such_name(error: BaseException) -> bool:
    """Whether the host's name does not resolve, and not only for the moment."""
    return any(isinstance(cause, socket.gaierror) and cause.errno != socket.EAI_AGAIN for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def retry_after(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds that a ``Retry-After`` header asks for, in either of its forms; None where it says nothing readable."""
    text = (header or "").strip()
    if text.isdecimal() and text.isascii():
        return float(text[:9])
    try:
        when = parsedate_to_datetime(text)
        when = when if when.tzinfo else when.replace(tzinfo=UTC)
        return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())
    except (ValueError, OverflowError):  # no date, or one beyond the calendar
        return None
