"""Values of a call that are supplied without a model: keys from secrets, and the idempotency key of a write."""

import re
from collections.abc import Collection, Sequence
from typing import Literal, Protocol
from urllib.parse import urlsplit

from agent.execution.secret_store import SecretStore
from agent.parameter_needs import derive_need
from domain.tool import STDIO, Credential, Parameter, ToolDoc
from graph.identifiers import split_words
from graph.importers.openapi_security import build_secret_name

_IDEMPOTENCY_HEADER = re.compile(r"(?:x-)?idempotency-key", re.IGNORECASE)
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
_PLACE_BY_LOCATION: dict[str, Literal["header", "query", "cookie"]] = {
    "header": "header",
    "query": "query",
    "cookie": "cookie",
}


class SecretNames(Protocol):
    """Looks up which secrets exist, without their values."""

    async def has(self, name: str) -> bool:
        """Return whether a secret of this name exists, for whatever hosts."""
        ...

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        """Describe how a user sets this secret for this host; ``needed`` names the value that is needed."""
        ...


class CachedSecretNames:
    """Caches whether secrets exist.

    Many tools of one API share their keys, and each look-up may read a database.
    """

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets
        self._has_by_name: dict[str, bool] = {}

    async def has(self, name: str) -> bool:
        """Return whether the secret existed at the first look-up."""
        if name not in self._has_by_name:
            self._has_by_name[name] = await self._secrets.has(name)
        return self._has_by_name[name]

    def build_advice(self, name: str, host: str, port: int, needed: str = "a key") -> str:
        """Return the advice of the underlying secrets."""
        return self._secrets.build_advice(name, host, port, needed)


def find_secret_name(tool: ToolDoc, parameter: Parameter) -> str:
    """Return the name of the secret that fills a parameter; empty if only a request or a result may fill it.

    A secret may fill any parameter in a header or cookie, since clients send these with every call and users who ask in
    words do not know of them. Of the query parameters it fills only keys.
    """
    if parameter.location not in _PLACE_BY_LOCATION or _is_idempotency_header(parameter):
        return ""
    if parameter.location == "query" and not _is_secret_parameter(parameter):
        return ""
    return build_secret_name(tool.toolset, parameter.name)


def find_required_secrets(tool: ToolDoc) -> dict[str, Parameter]:
    """Return the required parameters without a default that a secret fills, by the name of the secret."""
    return {
        name: parameter
        for parameter in tool.required
        if parameter.default is None and (name := find_secret_name(tool, parameter))
    }


def build_required_credentials(tool: ToolDoc) -> tuple[Credential, ...]:
    """Return the credentials that required parameters become once their secrets are stored."""
    return _build_credentials(tool, list(find_required_secrets(tool).values()))


async def describe_missing_secrets(
    tool: ToolDoc, secrets: SecretNames, names: Collection[str] | None = None
) -> tuple[str, ...]:
    """Return a sentence on how to set the secret, for each required parameter whose secret is missing.

    ``names`` limits the parameters that are considered; None means all.
    """
    required = {
        secret: required_parameter
        for secret, required_parameter in find_required_secrets(tool).items()
        if names is None or required_parameter.name in names
    }
    if not required or not tool.host or tool.host.startswith(STDIO):
        return ()
    try:
        parts = urlsplit(tool.url)
        host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:  # no call goes there either
        return ()
    missing = [(name, parameter) for name, parameter in required.items() if not await secrets.has(name)]
    return tuple(secrets.build_advice(name, host, port, parameter.wire_name) for name, parameter in missing)


async def apply_supplied_values(tool: ToolDoc, secrets: SecretNames) -> ToolDoc:
    """Return the document with only those parameters that a request or an earlier result must fill.

    A parameter that a secret may fill becomes a credential if that secret exists and stays a parameter if not. A header
    ``Idempotency-Key`` is filled with a new value for each call, which makes a write safe to retry.
    """
    header = next((p.wire_name for p in tool.parameters if _is_idempotency_header(p)), tool.idempotency_header)
    parameters = [parameter for parameter in tool.parameters if not _is_idempotency_header(parameter)]
    supplied = [p for p in parameters if (name := find_secret_name(tool, p)) and await secrets.has(name)]
    if not supplied and header == tool.idempotency_header:
        return tool
    return tool.model_copy(
        update={
            "parameters": tuple(parameter for parameter in parameters if parameter not in supplied),
            "credentials": (*tool.credentials, *_build_credentials(tool, supplied)),
            "idempotency_header": header,
        }
    )


def _is_secret_parameter(parameter: Parameter) -> bool:
    return derive_need(parameter).kind == "secret"


def _may_be_secret(parameter: Parameter) -> bool:
    """Return whether the value must be removed from answers, judged by the parameter's kind and name."""
    return _is_secret_parameter(parameter) or not _SECRET_WORDS.isdisjoint(split_words(parameter.name))


def _is_idempotency_header(parameter: Parameter) -> bool:
    return parameter.location == "header" and bool(_IDEMPOTENCY_HEADER.fullmatch(parameter.wire_name))


def _build_credentials(tool: ToolDoc, parameters: Sequence[Parameter]) -> tuple[Credential, ...]:
    return tuple(
        Credential(
            secret=find_secret_name(tool, key),
            place=_PLACE_BY_LOCATION[key.location],
            name=key.wire_name,
            hidden=_may_be_secret(key),
        )
        for key in parameters
    )
