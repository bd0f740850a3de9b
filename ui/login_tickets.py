"""How a reload stays logged in: the browser keeps a ticket in a cookie, this process keeps what the ticket opens.

The server's tokens never leave this process: a refresh token counts once, so that only one place may hold it. A ticket is 256
random bits and is kept as a hash. No script of the page sees it: the page draws a code that counts once, the browser sends the code to
a route of the page's server (``ui/page_server.py``), and its answer sets the cookie.
"""

import hashlib
import secrets
import time
from collections.abc import Callable
from threading import Lock

from ui.client import Client
from ui.language import COOKIE as LANGUAGE

COOKIE = "footpath_ticket"
SECONDS = 30 * 24 * 3600
"""For which a ticket counts, and the browser keeps it."""
TICKET_PATH = "/login-ticket"
"""Where the page's server sets and removes the cookie."""
HANDOVER_TYPE = "application/vnd.footpath.handover"
"""Content type of a code that is sent there. Browsers let pages of other origins send only a few types, which this is none of."""
_HANDOVER_SECONDS = 60.0
_MOST = 10_000


class Tickets:
    """The open tickets of this process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._open: dict[str, tuple[float, Client]] = {}
        self._offers: dict[str, tuple[float, str]] = {}
        """Codes by ticket, until the browser has redeemed them."""
        self._kept = set[str]()
        """Hashes of the open tickets that a browser was given."""

    def issue(self, client: Client) -> str:
        """A new ticket. Where there are too many, the oldest ends."""
        ticket = secrets.token_urlsafe(32)
        with self._lock:
            if len(self._open) >= _MOST:
                self._remove(next(iter(self._open)))
            self._open[_hash(ticket)] = (self._clock(), client)
        return ticket

    def client(self, ticket: str) -> Client | None:
        """Who holds it; None for one that was never issued, is withdrawn or too old."""
        with self._lock:
            found = self._open.get(_hash(ticket))
            if found and self._clock() - found[0] < SECONDS:
                return found[1]
            self._remove(_hash(ticket))
            return None

    def withdraw(self, ticket: str) -> None:
        """From now on it opens nothing."""
        with self._lock:
            self._offers.pop(ticket, None)
            self._remove(_hash(ticket))

    def offer(self, ticket: str) -> str:
        """Return the code by which the browser gets an open ticket; the same one until it is redeemed or too old, empty once the browser has the ticket."""
        with self._lock:
            hashed, now = _hash(ticket), self._clock()
            if hashed not in self._open or hashed in self._kept:
                return ""
            self._offers = {one: (at, code) for one, (at, code) in self._offers.items() if now - at < _HANDOVER_SECONDS}
            _, code = self._offers.setdefault(ticket, (now, secrets.token_urlsafe(32)))
            return code

    def redeem(self, code: str) -> str:
        """Return the ticket that a code stands for, once; empty for one that was never given, is too old or was redeemed."""
        with self._lock:
            now = self._clock()
            for ticket, (at, offered) in self._offers.items():
                if secrets.compare_digest(offered.encode(), code.encode()) and now - at < _HANDOVER_SECONDS:
                    del self._offers[ticket]
                    self._kept.add(_hash(ticket))
                    return ticket
            return ""

    def _remove(self, hashed: str) -> None:
        self._open.pop(hashed, None)
        self._kept.discard(hashed)


def build_keeping_script(code: str) -> str:
    """Return the script by which the browser gets its cookie for a code."""
    options = f'{{method: "POST", headers: {{"Content-Type": "{HANDOVER_TYPE}"}}, body: "{code}"}}'
    return f'<script>fetch("{TICKET_PATH}", {options});</script>'


FORGETTING_SCRIPT = f'<script>fetch("{TICKET_PATH}", {{method: "DELETE"}});</script>'
"""Has the browser forget its ticket."""


def language_kept(code: str, *, secure: bool) -> str:
    """The script that has the browser keep the chosen language, for who logs in later."""
    end = "; Secure" if secure else ""
    return f'<script>document.cookie = "{LANGUAGE}={code}; Path=/; Max-Age={SECONDS}; SameSite=Strict{end}";</script>'


def _hash(ticket: str) -> str:
    return hashlib.sha256(ticket.encode()).hexdigest()
