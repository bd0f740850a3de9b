"""Adding a document's credentials to a request, for allowed hosts only, and hiding them everywhere else."""

import base64
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlsplit

from agent.execution.http.request import OutgoingRequest
from agent.execution.redaction import Redactor
from agent.execution.secret_store import SecretStore
from domain.errors import SecretError
from domain.plan import Binding
from domain.tool import Credential, ToolDoc

_SALT = secrets.token_bytes(16)
_COOKIE_VALUE = re.compile(r"[!#-+\--:<-\[\]-~]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class KeyedRequest:
    """Request with its credentials, which ``repr`` does not show."""

    request: OutgoingRequest = field(repr=False)
    redactor: Redactor = field(default_factory=Redactor)
    bindings: tuple[Binding, ...] = ()
    """Names of the secrets, and where they were put."""
    advice: tuple[str, ...] = ()
    """Sentences on how to set missing optional credentials, shown to a caller who is refused."""
    caller_digest: str = ""
    """Digest of the keys, equal for calls with the same keys; empty without keys."""
    sent_values: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Names of secrets with the values that were sent."""


async def add_credentials(request: OutgoingRequest, tool: ToolDoc, secrets: SecretStore) -> KeyedRequest:
    """Return the request with the tool's credentials.

    Raises:
        SecretError: a required credential is missing, not allowed for the host, or cannot be encoded.
    """
    parts = urlsplit(request.url)
    encrypted = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if encrypted else 80)
    key_values: list[str] = []
    hidden_parts: list[str] = []
    sent_values: list[tuple[str, str]] = []
    bindings: list[Binding] = []
    advice: list[str] = []
    for credential in tool.credentials:
        try:
            value = await secrets.get_value(credential.secret, host, port, encrypted=encrypted)
            if value is None:
                raise SecretError(secrets.build_advice(credential.secret, host, port))
            request = _add_credential(request, credential, value)
        except SecretError as error:
            if credential.required:
                raise
            advice.append(str(error))
            continue
        key_values.append(value)
        hidden_parts += _list_hidden_parts(credential, value) if credential.hidden else ()
        sent_values.append((credential.secret, value))
        bindings.append(Binding(parameter=credential.name, origin="secret", reference=credential.secret))
    request = replace(request, keyed=request.keyed or bool(bindings))
    caller_digest = _digest_keys(key_values) if request.keyed else ""
    return KeyedRequest(
        request, Redactor(hidden_parts), tuple(bindings), tuple(advice), caller_digest, tuple(sent_values)
    )


def _digest_keys(values: Sequence[str]) -> str:
    """Return a digest of the keys, salted for this process."""
    return hmac.new(_SALT, "\0".join(values).encode(), "sha256").hexdigest()


def _list_hidden_parts(credential: Credential, value: str) -> Sequence[str]:
    """Return the texts that must never be shown: the value and, for ``user:password``, the password alone too."""
    return (value, value.partition(":")[2]) if credential.basic else (value,)


def _add_credential(request: OutgoingRequest, credential: Credential, value: str) -> OutgoingRequest:
    value = _encode_basic(value) if credential.basic else credential.prefix + value
    match credential.place:
        case "header":
            return _add_header(request, credential, value)
        case "cookie":
            return _add_cookie(request, credential, value)
        case "query":
            return replace(request, url=_add_query_value(request.url, credential.name, value))


def _encode_basic(value: str) -> str:
    return f"Basic {base64.b64encode(value.encode()).decode()}"


def _add_header(request: OutgoingRequest, credential: Credential, value: str) -> OutgoingRequest:
    if not value.isascii() or not value.isprintable() or not _HEADER_NAME.fullmatch(credential.name):
        raise SecretError(f"the secret {credential.secret} cannot be sent as a header: plain ASCII in one line, please")
    other_headers = {name: text for name, text in request.headers.items() if name.lower() != credential.name.lower()}
    return replace(request, headers={**other_headers, credential.name: value})


def _add_cookie(request: OutgoingRequest, credential: Credential, value: str) -> OutgoingRequest:
    if not _COOKIE_VALUE.fullmatch(value) or not _HEADER_NAME.fullmatch(credential.name):
        raise SecretError(
            f"the secret {credential.secret} cannot be sent as a cookie: no spaces, quotes, commas, semicolons"
        )
    header_name = next((name for name in request.headers if name.lower() == "cookie"), "Cookie")
    earlier_cookies = request.headers.get(header_name, "").split("; ")
    other_cookies = [cookie for cookie in earlier_cookies if cookie and cookie.partition("=")[0] != credential.name]
    return replace(
        request, headers={**request.headers, header_name: "; ".join([*other_cookies, f"{credential.name}={value}"])}
    )


def _add_query_value(url: str, name: str, value: str) -> str:
    """Return the URL with the value in its query, replacing any argument of that name."""
    start, _, query = url.partition("?")
    key = quote(name, safe="")
    other_pairs = [pair for pair in query.split("&") if pair and pair.partition("=")[0] != key]
    pairs = [*other_pairs, f"{key}={quote(value, safe='')}"]
    return f"{start}?{'&'.join(pairs)}"
