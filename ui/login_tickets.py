"""How a reload stays logged in: the browser keeps a ticket in a cookie, this process keeps what the ticket opens.

The server's tokens never leave this process: a refresh token counts once, so that only one place may hold it. A ticket is 256
random bits and is kept as a hash.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from threading import Lock

from ui.client import Client
from ui.language import COOKIE as LANGUAGE

COOKIE = "footpath_ticket"
_SECONDS = 30 * 24 * 3600.0
_MOST = 10_000


class Tickets:
    """The open tickets of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._open: dict[str, tuple[float, Client]] = {}

    def issue(self, client: Client) -> str:
        """A new ticket. Where there are too many, the oldest ends."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            if len(self._open) >= _MOST:
                del self._open[next(iter(self._open))]
            self._open[_hash(ticket)] = (self._clock(), client)
        return ticket

    def client(self, ticket: str) -> Client | None:
        """Who holds it; None for one that was never issued, is withdrawn or too old."""
        with self._lock:
            found = self._open.get(_hash(ticket))
            if found and self._clock() - found[0] < _SECONDS:
                return found[1]
            self._open.pop(_hash(ticket), None)
            return None

    def withdraw(self, ticket: str) -> None:
        """From now on it opens nothing."""
        with self._lock:
            self._open.pop(_hash(ticket), None)


def kept_by_browser(ticket: str, *, secure: bool) -> str:
    """The script that has the browser keep ``ticket``, or forget it where it is empty."""
    age = int(_SECONDS) if ticket else 0
    end = "; Secure" if secure else ""
    return f'<script>document.cookie = "{COOKIE}={ticket}; Path=/; Max-Age={age}; SameSite=Strict{end}";</script>'


def language_kept(code: str, *, secure: bool) -> str:
    """The script that has the browser keep the chosen language, for who logs in later."""
    end = "; Secure" if secure else ""
    return f'<script>document.cookie = "{LANGUAGE}={code}; Path=/; Max-Age={int(_SECONDS)}; SameSite=Strict{end}";</script>'


def _hash(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
