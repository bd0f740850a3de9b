"""What a call needs that no model decides: keys, and the value that tells a repeated write. The caller supplies it."""

import re
from collections.abc import Collection, Sequence
from typing import Literal, Protocol
from urllib.parse import urlsplit

from agent.execution.secrets import Secrets
from agent.parameters.needs import need_of
from domain.tool import STDIO, Credential, Parameter, ToolDoc
from graph.identifiers import words
from graph.importers.openapi_security import secret_name

_IDEMPOTENCY = re.compile(r"(?:x-)?idempotency-key", re.IGNORECASE)
_SECRET_WORDS = frozenset(
    {
        "key",
        "token",
        "secret",
        "password",
        "passphrase",
        "auth",
        "authorization",
        "credential",
        "credentials",
        "signature",
        "session",
        "sid",
        "jwt",
        "pin",
    }
)
_PLACES: dict[str, Literal["header", "query", "cookie"]] = {"header": "header", "query": "query", "cookie": "cookie"}


class SecretNames(Protocol):
    """What is known of secrets without their values."""

    async def has(self, name: str) -> bool:
        """Whether there is a secret of this name, wherever it may be sent."""
        ...

    def advice(self, name: str, host: str, port: int, what: str = "a key") -> str:
        """How a user gives this secret a value for this host."""
        ...


class NamesOnce:
    """Secrets of which each name is looked up once: many tools of one API share their keys, and each look-up may read a database."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._known: dict[str, bool] = {}

    async def has(self, name: str) -> bool:
        """Whether there was one when it was first asked for."""
        if name not in self._known:
            self._known[name] = await self._secrets.has(name)
        return self._known[name]

    def advice(self, name: str, host: str, port: int, what: str = "a key") -> str:
        """As the secrets say it."""
        return self._secrets.advice(name, host, port, what)


def secret_for(tool: ToolDoc, parameter: Parameter) -> str:
    """Return the name of the secret that fills a parameter for all calls; empty where only a request or a result may fill it.

    These are keys in header, query or cookie, and whatever else stands in a header or cookie: a client sends it with each call, and who
    asks in words does not know of it.
    """
    if parameter.location not in _PLACES or _is_idempotency(parameter):
        return ""
    if parameter.location == "query" and not _is_key(parameter):
        return ""
    return secret_name(tool.toolset, parameter.name)


def secrets_wanted(tool: ToolDoc) -> dict[str, Parameter]:
    """Return the required parameters that a secret fills, by its name; those that have a default are none of them."""
    return {
        name: parameter
        for parameter in tool.required
        if parameter.default is None and (name := secret_for(tool, parameter))
    }


def wanted_credentials(tool: ToolDoc) -> tuple[Credential, ...]:
    """Return the credentials that the required parameters become whose secrets are kept."""
    return _credentials(tool, list(secrets_wanted(tool).values()))


async def advise_on_secrets(
    tool: ToolDoc, secrets: SecretNames, names: Collection[str] | None = None
) -> tuple[str, ...]:
    """Say of each required parameter that a secret would fill how its value is given; of those whose secret is there nothing.

    ``names``: of the parameters that it is about; None: all.
    """
    wanted = {secret: one for secret, one in secrets_wanted(tool).items() if names is None or one.name in names}
    if not wanted or not tool.host or tool.host.startswith(STDIO):
        return ()
    try:
        parts = urlsplit(tool.url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:  # no call goes there either
        return ()
    lacking = [(name, parameter) for name, parameter in wanted.items() if not await secrets.has(name)]
    return tuple(secrets.advice(name, host, port, parameter.wire_name) for name, parameter in lacking)


async def with_supplied(tool: ToolDoc, secrets: SecretNames) -> ToolDoc:
    """The document as a run uses it: its parameters are those that a request or an earlier result has to fill.

    A header ``Idempotency-Key`` gets a value with each call, which makes a write repeatable. A parameter that a secret may fill becomes a
    credential where that secret is there; else it stays, missing.
    """
    header = next((p.wire_name for p in tool.parameters if _is_idempotency(p)), tool.idempotency_header)
    parameters = [parameter for parameter in tool.parameters if not _is_idempotency(parameter)]
    found = [p for p in parameters if (name := secret_for(tool, p)) and await secrets.has(name)]
    if not found and header == tool.idempotency_header:
        return tool
    return tool.model_copy(
        update={
            "parameters": tuple(parameter for parameter in parameters if parameter not in found),
            "credentials": (*tool.credentials, *_credentials(tool, found)),
            "idempotency_header": header,
        }
    )


def _is_key(parameter: Parameter) -> bool:
    return need_of(parameter).kind == "secret"


def _may_be_secret(parameter: Parameter) -> bool:
    """Whether answers must not show the value: a user's name or a language they may, and whatever is called a key they may not."""
    return _is_key(parameter) or not _SECRET_WORDS.isdisjoint(words(parameter.name))


def _is_idempotency(parameter: Parameter) -> bool:
    return parameter.location == "header" and bool(_IDEMPOTENCY.fullmatch(parameter.wire_name))


def _credentials(tool: ToolDoc, keys: Sequence[Parameter]) -> tuple[Credential, ...]:
    return tuple(
        Credential(
            secret=secret_for(tool, key), place=_PLACES[key.location], name=key.wire_name, hidden=_may_be_secret(key)
        )
        for key in keys
    )
