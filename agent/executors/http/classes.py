"""What an HTTP status, or the lack of one, says of a tool (DESIGN section 3, availability)."""

import socket
from collections.abc import Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from domain.plan import CallOutcome

_TRANSIENT = frozenset({408, 425, 429})
_REFUSED = frozenset({501, 503, 505})
"""Errors of a server that say it did not begin: not implemented, busy, a version of HTTP it does not speak."""


def outcome_of(status: int, *, keyed: bool, safe: bool) -> CallOutcome:
    """The class of an answered call.

    A write that ends in an error of the server (500) or of a gateway before it (502, 504) may have taken effect before it
    failed: unknown. 503 and 429 refuse a call before it begins. A redirect is not followed, which is our doing and no
    evidence against the tool.
    """
    if 200 <= status < 300:
        return "ok"
    if status >= 500 and status not in _REFUSED and not safe:
        return "unknown"
    if status in _TRANSIENT or status >= 500:
        return "transient"
    if status in (404, 410) or (status in (401, 403) and keyed):
        return "gone"
    return "caller_fault"


def outcome_of_error(error: BaseException, *, sent: bool, safe: bool) -> CallOutcome:
    """The class of a call that got no answer. ``sent``: the request may have reached the server."""
    if not sent and no_such_name(error):
        return "gone"
    return "unknown" if sent and not safe else "transient"


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
    except ValueError:
        return None
    when = when if when.tzinfo else when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())
