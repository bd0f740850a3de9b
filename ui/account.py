"""A session with the server: its tokens, renewed from one place at a time."""

from datetime import UTC, datetime, timedelta
from threading import Lock

import httpx

from ui.language import say
from ui.problems import ServerError, refused, unreached
from ui.replies import LoggedIn, Tokens, User

_EARLY = timedelta(seconds=30)
"""A token is renewed that long before it ends, for what is on its way by then."""


class Account:
    """Shared by all tabs of a browser, and by what they run side by side: a refresh token that is used twice ends the session."""

    def __init__(self, http: httpx.Client, logged_in: LoggedIn) -> None:
        self._http = http
        self._tokens: Tokens = logged_in
        self._lock = Lock()
        self.user: User = logged_in.user

    def bearer(self, stale: str = "") -> str:
        """An access token that counts; ``stale``: one that was just refused.

        Raises:
            ServerError: the session has ended, or the server does not answer.
        """
        with self._lock:
            token = self._tokens.access_token.get_secret_value()
            if token == stale or datetime.now(UTC) >= self._tokens.access_expires_at - _EARLY:
                self._tokens = self._renewed()
                token = self._tokens.access_token.get_secret_value()
            return token

    def _renewed(self) -> Tokens:
        body = {"refresh_token": self._tokens.refresh_token.get_secret_value()}
        try:
            response = self._http.post("/auth/refresh", json=body)
        except httpx.HTTPError as error:
            raise unreached(str(self._http.base_url), error) from error
        if response.status_code == 401:
            raise ServerError(say("your session has ended; log in again"), problem="unauthenticated", status=401)
        if response.is_error:
            raise refused(response)
        return Tokens.model_validate_json(response.content)
