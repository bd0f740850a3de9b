"""Asking a token address (RFC 6749): how a client says who it is, and what the answer holds."""

import base64
import re
from collections.abc import Mapping
from datetime import datetime, timedelta
from urllib.parse import quote_plus, urlsplit

from pydantic import JsonValue

from agent.execution.json_client import JsonHttpClient, JsonHttpResponse
from agent.execution.redaction import Redactor
from domain.errors import GrantRefusedError, NoAnswerError
from server.storage.key_grants import GrantTerms, GrantTokens

_SECRET_FIELDS = ("client_secret", "code", "code_verifier", "refresh_token")
_PASSING = frozenset({"server_error", "temporarily_unavailable", "slow_down"})
_MARGIN = timedelta(seconds=60)
"""How long before its end a token is renewed; a fifth of its life where that is less."""
_LONGEST_LIFE = timedelta(days=3650)
_WORD = re.compile(r"[A-Za-z0-9_.:/ -]{1,100}")


async def ask_for_tokens(
    exchange: JsonHttpClient, terms: GrantTerms, form: Mapping[str, str], now: datetime
) -> GrantTokens:
    """Tokens for what ``form`` shows. Raises ``GrantRefusedError``, ``NoAnswerError``, ``ForbiddenAddressError``."""
    sent = dict(form)
    if terms.resource:
        sent["resource"] = terms.resource
    headers: dict[str, str] = {}
    if terms.client_auth == "basic":
        pair = f"{quote_plus(terms.client_id)}:{quote_plus(terms.client_secret)}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        sent["client_id"] = terms.client_id
    if terms.client_auth == "post":
        sent["client_secret"] = terms.client_secret
    hidden = [terms.client_secret, *(sent[name] for name in _SECRET_FIELDS if name in sent)]
    answer = await exchange.post_form(terms.token_url, sent, headers, hidden)
    host = urlsplit(terms.token_url).hostname or ""
    return _tokens(answer, host, Redactor(hidden), now)


def _tokens(answer: JsonHttpResponse, host: str, redactor: Redactor, now: datetime) -> GrantTokens:
    body = answer.body
    if answer.status != 200 or body is None or "error" in body:
        raise _failure(answer, host, redactor)
    access, refresh, kind = body.get("access_token"), body.get("refresh_token"), body.get("token_type")
    if not _sendable(access):
        raise NoAnswerError(f"{host} answered without an access token that can be sent in a header")
    if isinstance(kind, str) and kind.lower() != "bearer":
        raise NoAnswerError(f"{host} answered a token of type {shown(kind)}; only bearer tokens can be sent")
    life = _life(body.get("expires_in"))
    return GrantTokens(
        access=str(access),
        refresh=str(refresh) if _sendable(refresh) else "",
        fresh_until=None if life is None else now + life - min(_MARGIN, life / 5),
        ends_at=None if life is None else now + life,
    )


def _failure(answer: JsonHttpResponse, host: str, redactor: Redactor) -> GrantRefusedError | NoAnswerError:
    body = answer.body or {}
    error = body.get("error")
    if not isinstance(error, str) or answer.status >= 500 or answer.status == 429 or error in _PASSING:
        told = f" ({shown(error)})" if isinstance(error, str) else ""
        return NoAnswerError(f"{host} answered HTTP {answer.status}{told} in place of a token")
    said = body.get("error_description")
    described = f": {redactor.redact(shown(said))}" if isinstance(said, str) and said else ""
    return GrantRefusedError(f"{host} gives no token: {redactor.redact(shown(error))}{described}", error)


def shown(text: str) -> str:
    """A stranger's words, short and on one line."""
    return "".join(character if character.isprintable() else " " for character in text[:200]).strip()


def _sendable(value: JsonValue) -> bool:
    return isinstance(value, str) and 0 < len(value) <= 20_000 and value.isascii() and value.isprintable()


def _life(value: JsonValue) -> timedelta | None:
    """How long an access token counts; some servers write the number as a text."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
        return None
    return timedelta(seconds=min(float(value), _LONGEST_LIFE.total_seconds()))
