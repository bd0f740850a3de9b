"""What a call needs that no model decides: keys, and the value that tells a repeated write. The caller supplies it."""

import re
from collections.abc import Sequence
from typing import Literal

from agent.execution.secrets import Secrets
from agent.parameters.needs import need_of
from domain.tool import Credential, Parameter, ToolDoc
from graph.importers.openapi_security import secret_name

_IDEMPOTENCY = re.compile(r"(?:x-)?idempotency-key", re.IGNORECASE)
_PLACES: dict[str, Literal["header", "query", "cookie"]] = {"header": "header", "query": "query", "cookie": "cookie"}


async def with_supplied(tool: ToolDoc, secrets: Secrets) -> ToolDoc:
    """The document as a run uses it: its parameters are those that a request or an earlier result has to fill.

    A header ``Idempotency-Key`` gets a value with each call, which makes a write repeatable. A key that is declared as a parameter
    (older catalogues do) becomes a credential where a secret ``<toolset>_<parameter>`` is there; else it stays, missing.
    """
    header = next((p.wire_name for p in tool.parameters if _is_idempotency(p)), tool.idempotency_header)
    parameters = [parameter for parameter in tool.parameters if not _is_idempotency(parameter)]
    keys = [p for p in parameters if p.location in _PLACES and need_of(p).kind == "secret"]
    found = [p for p in keys if await secrets.has(secret_name(tool.toolset, p.name))]
    if not found and header == tool.idempotency_header:
        return tool
    return tool.model_copy(
        update={
            "parameters": tuple(parameter for parameter in parameters if parameter not in found),
            "credentials": (*tool.credentials, *_credentials(tool, found)),
            "idempotency_header": header,
        }
    )


def _is_idempotency(parameter: Parameter) -> bool:
    return parameter.location == "header" and bool(_IDEMPOTENCY.fullmatch(parameter.wire_name))


def _credentials(tool: ToolDoc, keys: Sequence[Parameter]) -> tuple[Credential, ...]:
    return tuple(
        Credential(secret=secret_name(tool.toolset, key.name), place=_PLACES[key.location], name=key.wire_name)
        for key in keys
    )
