"""A document's credentials put into a request: by name, to allowed hosts, and in nothing but the request."""

import base64
import hmac
import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote, urlsplit

from agent.execution.http.request import Outgoing
from agent.execution.redaction import Redactor
from agent.execution.secrets import Secrets
from domain.errors import SecretError
from domain.plan import Binding
from domain.tool import Credential, ToolDoc

_SALT = secrets.token_bytes(16)
_COOKIE_VALUE = re.compile(r"[!#-+\--:<-\[\]-~]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class Keyed:
    """A request with its credentials, which its representation does not show.

    ``sent``: names of secrets with their values. ``bindings``: which secrets went where. ``advice``: what a refused caller could set, of credentials that are optional.
    ``caller``: the same for calls with the same keys, and no key can be told from it; empty without one.
    """

    request: Outgoing = field(repr=False)
    redactor: Redactor = field(default_factory=Redactor)
    bindings: tuple[Binding, ...] = ()
    advice: tuple[str, ...] = ()
    caller: str = ""
    sent: tuple[tuple[str, str], ...] = field(default=(), repr=False)


async def keyed(request: Outgoing, tool: ToolDoc, secrets: Secrets) -> Keyed:
    """The request with the tool's credentials.

    Raises ``SecretError`` where a required one is not there, or may not or cannot be sent there: nothing has been sent then.
    """
    parts = urlsplit(request.url)
    encrypted = parts.scheme == "https"
    host, port = parts.hostname or "", parts.port or (443 if encrypted else 80)
    keys: list[str] = []
    hidden: list[str] = []
    sent: list[tuple[str, str]] = []
    bindings: list[Binding] = []
    advice: list[str] = []
    for credential in tool.credentials:
        try:
            value = await secrets.value(credential.secret, host, port, encrypted=encrypted)
            if value is None:
                raise SecretError(secrets.advice(credential.secret, host, port))
            request = _with(request, credential, value)
        except SecretError as error:
            if credential.required:
                raise
            advice.append(str(error))
            continue
        keys.append(value)
        hidden += _parts(credential, value) if credential.hidden else ()
        sent.append((credential.secret, value))
        bindings.append(Binding(parameter=credential.name, origin="secret", reference=credential.secret))
    request = replace(request, keyed=request.keyed or bool(bindings))
    caller = _caller(keys) if request.keyed else ""
    return Keyed(request, Redactor(hidden), tuple(bindings), tuple(advice), caller, tuple(sent))


def _caller(values: Sequence[str]) -> str:
    """A digest of the keys that a process alone can make."""
    return hmac.new(_SALT, "\0".join(values).encode(), "sha256").hexdigest()


def _parts(credential: Credential, value: str) -> Sequence[str]:
    """What must never be shown of a value: of ``user:password`` the password by itself, too."""
    return (value, value.partition(":")[2]) if credential.basic else (value,)


def _with(request: Outgoing, credential: Credential, value: str) -> Outgoing:
    value = _basic(value) if credential.basic else credential.prefix + value
    match credential.place:
        case "header":
            return _with_header(request, credential, value)
        case "cookie":
            return _with_cookie(request, credential, value)
        case "query":
            return replace(request, url=_with_query(request.url, credential.name, value))


def _basic(value: str) -> str:
    return f"Basic {base64.b64encode(value.encode()).decode()}"


def _with_header(request: Outgoing, credential: Credential, value: str) -> Outgoing:
    if not value.isascii() or not value.isprintable() or not _HEADER_NAME.fullmatch(credential.name):
        raise SecretError(f"the secret {credential.secret} cannot be sent as a header: plain ASCII in one line, please")
    others = {name: text for name, text in request.headers.items() if name.lower() != credential.name.lower()}
    return replace(request, headers={**others, credential.name: value})


def _with_cookie(request: Outgoing, credential: Credential, value: str) -> Outgoing:
    if not _COOKIE_VALUE.fullmatch(value) or not _HEADER_NAME.fullmatch(credential.name):
        raise SecretError(
            f"the secret {credential.secret} cannot be sent as a cookie: no spaces, quotes, commas, semicolons"
        )
    held = next((name for name in request.headers if name.lower() == "cookie"), "Cookie")
    before = request.headers.get(held, "").split("; ")
    others = [cookie for cookie in before if cookie and cookie.partition("=")[0] != credential.name]
    return replace(request, headers={**request.headers, held: "; ".join([*others, f"{credential.name}={value}"])})


def _with_query(url: str, name: str, value: str) -> str:
    """The URL with the value in place of whatever an argument put there."""
    start, _, query = url.partition("?")
    key = quote(name, safe="")
    others = [pair for pair in query.split("&") if pair and pair.partition("=")[0] != key]
    pairs = [*others, f"{key}={quote(value, safe='')}"]
    return f"{start}?{'&'.join(pairs)}"
