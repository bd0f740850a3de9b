"""Keys that tools of sources want, and that whoever has to keep them has not kept, or has to consent to again."""

from collections.abc import Awaitable, Callable, Iterable

from pydantic import Field

from agent.execution.secret_store import SecretStore
from agent.execution.supplied_values import build_required_credentials
from domain.model import Model
from domain.tool import Credential, OAuthFlow, ToolDoc
from server.sources.visibility import may_use
from server.storage.accounts import User
from server.storage.storage import Storage
from server.storage.vault import ToolKey

_MOST_TOOLS = 20
"""Of one key that are named."""


class NeededKey(Model):
    """``flows``: ways to obtain it that the tools' documents name."""

    name: str
    source_id: str | None = Field(description="Kept with this source of mine; null: with my own keys.")
    hosts: tuple[str, ...] = Field(description="Where calls would send it.")
    tools: tuple[str, ...] = Field(description="Some of those that want it.")
    required: bool = Field(description="Whether one of them cannot be called without.")
    lapsed: str = Field(description="Why it needs consent again; empty: there is none.")
    flows: tuple[OAuthFlow, ...]


Wants = dict[tuple[str | None, str], list[tuple[ToolDoc, Credential]]]
"""By the source that has to lend it (None: its caller) and its name: the tools that want a key."""


async def keys_needed(
    user: User, storage: Storage, secrets_of: Callable[[str], Awaitable[SecretStore]]
) -> list[NeededKey]:
    """By name. Raises ``UnavailableError`` where some tool is offered and there is no store."""
    wants = await _wants(user, storage)
    if not wants:
        return []
    secrets = await secrets_of(user.id)
    kept: dict[str | None, dict[str, ToolKey]] = {None: _by_name(await storage.tool_keys.list_all(user.id))}
    found: list[NeededKey] = []
    for (source, name), wanted in sorted(wants.items(), key=lambda one: (one[0][1], one[0][0] or "")):
        if source not in kept:
            kept[source] = _by_name(await storage.source_keys.list_all(str(source)))
        own = kept[source].get(name)
        there = own is not None or (source is None and await secrets.has(name))
        if not there or (own is not None and own.lapsed):
            found.append(_needed(name, source, wanted, own.lapsed if own else ""))
    return found


async def _wants(user: User, storage: Storage) -> Wants:
    uses = await storage.source_offers.list_access()
    found: Wants = {}
    for one in await storage.source_offers.list_all():
        use = uses.get(one.source_id)
        if use is None or not may_use(use, user):
            continue
        if use.keys_of == "source" and use.author_id != user.id:
            continue
        lender = one.source_id if use.keys_of == "source" else None
        by_parameter = (
            build_required_credentials(one.doc) if lender is None else ()
        )  # a source's keys fill no parameter
        for credential in (*one.doc.credentials, *by_parameter):
            found.setdefault((lender, credential.secret), []).append((one.doc, credential))
    return found


def _needed(name: str, source: str | None, wanted: list[tuple[ToolDoc, Credential]], lapsed: str) -> NeededKey:
    docs = [doc for doc, _ in wanted]
    return NeededKey(
        name=name,
        source_id=source,
        hosts=tuple(dict.fromkeys(doc.host for doc in docs if doc.host)),
        tools=tuple(doc.id for doc in docs[:_MOST_TOOLS]),
        required=any(credential.required for _, credential in wanted),
        lapsed=lapsed,
        flows=_together(flow for _, credential in wanted for flow in credential.flows),
    )


def _together(flows: Iterable[OAuthFlow]) -> tuple[OAuthFlow, ...]:
    """One of each way, with all scopes that any of the tools wants."""
    found: dict[tuple[str, str, str], OAuthFlow] = {}
    for flow in flows:
        way = (flow.grant, flow.authorize_url, flow.token_url)
        before = found.get(way, flow).scopes
        found[way] = flow.model_copy(update={"scopes": tuple(dict.fromkeys((*before, *flow.scopes)))})
    return tuple(found.values())


def _by_name(keys: list[ToolKey]) -> dict[str, ToolKey]:
    return {key.name: key for key in keys}
