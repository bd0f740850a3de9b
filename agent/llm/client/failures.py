"""Translation of failed calls to a model (status, body, causes) into one error that says what to do."""

import socket
import ssl
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

from agent.text import clean_text
from domain.errors import ForbiddenAddressError, ModelFailure, ModelUnavailableError

RETRIED_FAILURES: frozenset[ModelFailure] = frozenset({"busy", "server", "connection", "dns"})
"""Failures that another attempt may cure.

Never a refusal, and never a timeout, which has used the time already.
"""

# Compared by name: the classes are in packages that are imported only when a model is first called.
_UNREADABLE_ERRORS = frozenset({"DecodingError", "OversizedAnswerError"})
_CONNECTION_ERRORS = frozenset(
    {"RemoteProtocolError", "ReadError", "WriteError", "ConnectionResetError", "APIConnectionError"}
)
_SERVICE_FIELDS = {
    "URL": "its field Address",
    "NAME": "its field Model",
    "API_KEY": "its field Key",
    "TIMEOUT": "the seconds that an answer may take",
}
"""Names of the settings in the form of a model service."""


@dataclass(frozen=True, slots=True)
class ModelEndpoint:
    """The endpoint of a model, as named in errors."""

    url: str
    model: str
    key: str = ""
    """Kept out of every message."""
    settings: str = "FOOTPATH_MODEL"
    """Prefix of its settings' names; empty if an administrator has set it up."""
    offers: str = "chat completions"
    """Service that it is asked for."""

    def name_setting(self, name: Literal["URL", "NAME", "API_KEY", "TIMEOUT"]) -> str:
        """Return the name of a setting: a variable, or a field of the model service's form."""
        return f"{self.settings}_{name}" if self.settings else _SERVICE_FIELDS[name]

    def quote(self, text: str, limit: int = 200) -> str:
        """Return the endpoint's own text, made harmless, without the key, which some endpoints echo in part."""
        return clean_text(text.replace(self.key, "…") if self.key else text, limit)


def translate_status(
    endpoint: ModelEndpoint, status: int, message: str, headers: Mapping[str, str]
) -> ModelUnavailableError:
    """Translate an answer with an error status; ``message`` is the endpoint's message or its whole body."""
    quoted = f" It said: {endpoint.quote(message)}" if message.strip() else ""
    url, lowered = endpoint.url, message.lower()
    if status in (401, 403):
        what = "the endpoint wants another key" if endpoint.key else "the endpoint wants a key"
        return _build_error(
            f"{what} ({status} from {url}): set {endpoint.name_setting('API_KEY')}.{quoted}", "key", lasting=True
        )
    if status == 404 and "model" in lowered:
        what = f"no model is called {endpoint.model!r} at {url}: set {endpoint.name_setting('NAME')}"
        lists = "; scripts/check_model.py lists those there" if endpoint.settings else ""
        return _build_error(f"{what}{lists}.{quoted}", "model", lasting=True)
    if status in (404, 405) or 300 <= status < 400:
        location = f", it points to {clean_text(headers.get('location', ''), 120)}" if headers.get("location") else ""
        what = f"{url} has no {endpoint.offers} ({status}{location}): set {endpoint.name_setting('URL')} to the whole address"
        return _build_error(f"{what}, which mostly ends in /v1.{quoted}", "address", lasting=True)
    if status == 429 and "quota" in lowered:
        return _build_error(f"the account at {url} has no quota left (429).{quoted}", "quota", lasting=True)
    if status == 429:
        return _build_error(
            f"{url} takes no more requests for now (429).{quoted}", "busy", wait=_parse_retry_after(headers)
        )
    if status >= 500:
        return _build_error(f"{url} failed ({status}).{quoted}", "server", wait=_parse_retry_after(headers))
    return _build_error(f"{url} refused the request ({status}).{quoted}", "request")


def translate_error(endpoint: ModelEndpoint, error: BaseException) -> ModelUnavailableError:
    """Translate a call that got no answer, or one that cannot be read."""
    url, url_setting, causes = endpoint.url, endpoint.name_setting("URL"), list(_iterate_causes(error))
    forbidden = next((cause for cause in causes if isinstance(cause, ForbiddenAddressError)), None)
    if forbidden is not None:
        return _build_error(str(forbidden), "address", lasting=True)
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        why = next(str(cause) for cause in causes if isinstance(cause, ssl.SSLError))
        advice = "use http:// where the server speaks no TLS; its certificate must be one that this machine trusts"
        return _build_error(
            f"no secure connection to {url}: {clean_text(why)}. In {url_setting}, {advice}", "tls", lasting=True
        )
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return _build_error(f"the host of {url} is not known: check {url_setting} and the network", "dns")
    names = {type(cause).__name__ for cause in causes}
    unread = next((cause for cause in causes if type(cause).__name__ in _UNREADABLE_ERRORS), None)
    if unread is not None:
        return build_unreadable_error(endpoint, endpoint.quote(str(unread)))
    if any("ConnectTimeout" in name for name in names) or _is_refused(causes, names):
        return _build_error(f"nothing answers at {url}: start the model's server, or check {url_setting}", "connection")
    if isinstance(error, TimeoutError) or any("Timeout" in name for name in names):
        return _build_error(
            f"{url} gave no answer in time: raise {endpoint.name_setting('TIMEOUT')}, or take a faster model", "timeout"
        )
    if names & _CONNECTION_ERRORS:
        return _build_error(f"{url} broke the connection off", "connection")
    return build_unreadable_error(endpoint, endpoint.quote(str(error)) or type(error).__name__)


def build_unreadable_error(endpoint: ModelEndpoint, reason: str) -> ModelUnavailableError:
    """Build the error for an answer that does not follow OpenAI's protocol."""
    what = f"{endpoint.url} did not answer as an OpenAI-compatible endpoint does ({reason})"
    return _build_error(f"{what}: check {endpoint.name_setting('URL')}, which mostly ends in /v1", "protocol")


def _build_error(
    message: str, kind: ModelFailure, *, lasting: bool = False, wait: float | None = None
) -> ModelUnavailableError:
    return ModelUnavailableError(message, kind, lasting=lasting, retry_after=wait)


def _is_refused(causes: list[BaseException], names: set[str]) -> bool:
    return any(isinstance(cause, ConnectionRefusedError) for cause in causes) or "ConnectError" in names


def _iterate_causes(error: BaseException) -> Iterator[BaseException]:
    pending, seen = [error], set[int]()
    while pending:
        cause = pending.pop()
        if id(cause) not in seen:  # chains of causes and contexts may form a cycle
            seen.add(id(cause))
            yield cause
            pending += [e for e in (cause.__cause__, cause.__context__) if e is not None]


def _parse_retry_after(headers: Mapping[str, str]) -> float | None:
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
