"""Translation of failed calls to a model (status, body, causes) into one error that says what to do."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from agent.text import clean
from domain.errors import ForbiddenAddressError, ModelFailure, ModelUnavailableError

RETRIED: frozenset[ModelFailure] = frozenset({"busy", "server", "connection", "dns"})
"""Failures that another attempt may cure.

Never a refusal, and never a timeout, which has used the time already.
"""

_UNREAD = frozenset({"DecodingError", "OversizedAnswerError"})
_BROKEN = frozenset({"RemoteProtocolError", "ReadError", "WriteError", "ConnectionResetError", "APIConnectionError"})
_OF_SERVICE = {
    "URL": "its field Address",
    "NAME": "its field Model",
    "API_KEY": "its field Key",
    "TIMEOUT": "the seconds that an answer may take",
}
"""Names of the settings in the form of a model service."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """The endpoint of a model, as named in errors."""

    url: str
    model: str
    key: str = ""
    """Kept out of every message."""
    settings: str = "FOOTPATH_MODEL"
    """Prefix of its settings' names; empty if an administrator has set it up."""
    offers: str = "chat completions"
    """Service that it is asked for."""

    def setting(self, name: Literal["URL", "NAME", "API_KEY", "TIMEOUT"]) -> str:
        """Return the name of a setting: a variable, or a field of the model service's form."""
        return f"{self.settings}_{name}" if self.settings else _OF_SERVICE[name]

    def told(self, text: str, limit: int = 200) -> str:
        """Return the endpoint's own text, made harmless, without the key, which some endpoints echo in part."""
        return clean(text.replace(self.key, "…") if self.key else text, limit)


def of_status(endpoint: Endpoint, status: int, said: str, headers: Mapping[str, str]) -> ModelUnavailableError:
    """Translate an answer with an error status; ``said`` is the endpoint's message or its whole body."""
    told = f" It said: {endpoint.told(said)}" if said.strip() else ""
    at, lowered = endpoint.url, said.lower()
    if status in (401, 403):
        what = "the endpoint wants another key" if endpoint.key else "the endpoint wants a key"
        return _error(f"{what} ({status} from {at}): set {endpoint.setting('API_KEY')}.{told}", "key", lasting=True)
    if status == 404 and "model" in lowered:
        what = f"no model is called {endpoint.model!r} at {at}: set {endpoint.setting('NAME')}"
        lists = "; scripts/check_model.py lists those there" if endpoint.settings else ""
        return _error(f"{what}{lists}.{told}", "model", lasting=True)
    if status in (404, 405) or 300 <= status < 400:
        location = f", it points to {clean(headers.get('location', ''), 120)}" if headers.get("location") else ""
        what = f"{at} has no {endpoint.offers} ({status}{location}): set {endpoint.setting('URL')} to the whole address"
        return _error(f"{what}, which mostly ends in /v1.{told}", "address", lasting=True)
    if status == 429 and "quota" in lowered:
        return _error(f"the account at {at} has no quota left (429).{told}", "quota", lasting=True)
    if status == 429:
        return _error(f"{at} takes no more requests for now (429).{told}", "busy", wait=_retry_after(headers))
    if status >= 500:
        return _error(f"{at} failed ({status}).{told}", "server", wait=_retry_after(headers))
    return _error(f"{at} refused the request ({status}).{told}", "request")


def of_error(endpoint: Endpoint, error: BaseException) -> ModelUnavailableError:
    """Translate a call that got no answer, or one that cannot be read."""
    at, where, causes = endpoint.url, endpoint.setting("URL"), list(_causes(error))
    forbidden = next((cause for cause in causes if isinstance(cause, ForbiddenAddressError)), None)
    if forbidden is not None:
        return _error(str(forbidden), "address", lasting=True)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        why = next(str(cause) for cause in causes if isinstance(cause, ssl.SSLError))
        advice = "use http:// where the server speaks no TLS; its certificate must be one that this machine trusts"
        return _error(f"no secure connection to {at}: {clean(why)}. In {where}, {advice}", "tls", lasting=True)
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return _error(f"the host of {at} is not known: check {where} and the network", "dns")
    names = {type(cause).__name__ for cause in causes}
    unread = next((cause for cause in causes if type(cause).__name__ in _UNREAD), None)
    if unread is not None:
        return unreadable(endpoint, endpoint.told(str(unread)))
    if any("ConnectTimeout" in name for name in names) or _refused(causes, names):
        return _error(f"nothing answers at {at}: start the model's server, or check {where}", "connection")
    if isinstance(error, TimeoutError) or any("Timeout" in name for name in names):
        return _error(
            f"{at} gave no answer in time: raise {endpoint.setting('TIMEOUT')}, or take a faster model", "timeout"
        )
    if names & _BROKEN:
        return _error(f"{at} broke the connection off", "connection")
    return unreadable(endpoint, endpoint.told(str(error)) or type(error).__name__)


def unreadable(endpoint: Endpoint, why: str) -> ModelUnavailableError:
    """Build the error for an answer that does not follow OpenAI's protocol."""
    what = f"{endpoint.url} did not answer as an OpenAI-compatible endpoint does ({why})"
    return _error(f"{what}: check {endpoint.setting('URL')}, which mostly ends in /v1", "protocol")


def _error(
    message: str, kind: ModelFailure, *, lasting: bool = False, wait: float | None = None
) -> ModelUnavailableError:
    return ModelUnavailableError(message, kind, lasting=lasting, retry_after=wait)


def _refused(causes: list[BaseException], names: set[str]) -> bool:
    return any(isinstance(cause, ConnectionRefusedError) for cause in causes) or "ConnectError" in names


def _causes(error: BaseException) -> Iterator[BaseException]:
    left, seen = [error], set[int]()
    while left:
        cause = left.pop()
        if id(cause) not in seen:  # chains of causes and contexts may form a cycle
            seen.add(id(cause))
            yield cause
            left += [e for e in (cause.__cause__, cause.__context__) if e is not None]


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that the endpoint asks for, from OpenAI's header in milliseconds or the standard one."""
    try:
        if "retry-after-ms" in headers:
            return max(0.0, float(headers["retry-after-ms"]) / 1000)
        return max(0.0, float(headers["retry-after"]))
    except KeyError:
        return None
    except ValueError:
        text = headers.get("retry-after", "")
    try:
        when = parsedate_to_datetime(text)
    except ValueError:
        return None
    return max(0.0, (when.replace(tzinfo=when.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
