"""What is written into the audit log, and how: before a change is made, with its end as soon as there is one.

Written is every change of an administrator but those of their own talks and account, every change that only authors may make, and every change that a program makes with a
token. Of what was sent only fields are told that can hold no secret.
"""

import logging
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from pydantic.types import JsonValue
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from domain.errors import FootpathError
from domain.model import JsonObject
from server.bodies import STREAMED
from server.storage.accounts import Role, User
from server.storage.audit import AuditedAction, AuditLog

_log = logging.getLogger(__name__)
_ENTRY = "footpath.audit"
READS = frozenset({"GET", "HEAD", "OPTIONS"})
_OWN = frozenset({"me", "auth", "conversations", "runs", "plans"})
"""Tags of operations on one's own account and talks."""
_TOLD = frozenset(
    {
        "role",
        "disabled",
        "note",
        "kind",
        "target",
        "mark",
        "place",
        "field",
        "entity",
        "reason",
        "shared",
        "tools",
        "hosts",
        "name",
        "grant",
    }
    | {"scopes", "visible_to", "keys_of", "watch_minutes", "enabled", "default", "days", "purpose", "decision"}
)
_LONGEST = 200
_MOST = 20


class Written:
    """A request's entry. ``said``: routes may add what the request does not tell, such as the name behind an id."""

    def __init__(self, audit: AuditLog, entry: str, said: JsonObject) -> None:
        self.said = said
        self._audit = audit
        self._entry = entry

    async def ended(self, status: int) -> None:
        """Where the rows cannot be reached, the entry stays without an end: what it tells of may have been done."""
        try:
            await self._audit.finish(self._entry, status, self.said)
        except FootpathError as error:
            _log.warning("an entry of the audit log has no end: %s", error)


def is_written(method: str, tags: frozenset[str], needs: Role, user: User) -> bool:
    """Whether what somebody who is logged in may do is for the log. ``needs``: the role without which it may not be made."""
    if method in READS:
        return False
    return needs != "user" or (user.role == "admin" and not tags & _OWN)


async def write(request: Request, audit: AuditLog, user: User, label: str | None) -> None:
    """Before the operation is begun. ``label``: of the program's token; None: somebody has logged in. Raises as the rows do: then nothing is done."""
    route = request.scope["route"]
    said = {**{name: str(value) for name, value in request.path_params.items()}, **told(await _body(request))}
    deed = AuditedAction(
        user_id=user.id,
        name=user.name,
        role=user.role,
        via="session" if label is None else "token",
        label=label or "",
        operation=route.name,
        about=route.summary or route.name,
        path=f"{request.method} {request.url.path}"[:500],
        said=said,
    )
    request.scope[_ENTRY] = Written(audit, await audit.begin(deed), said)


def note(request: Request, **said: JsonValue) -> None:
    """Add to the request's entry, where there is one."""
    if (written := request.scope.get(_ENTRY)) is not None:
        written.said.update(said)


def told(body: object) -> JsonObject:
    """What of a body may be told: short values of fields that are known to hold no secret."""
    if not isinstance(body, Mapping):
        return {}
    given: Mapping[str, Any] = body  # pyright: ignore[reportUnknownVariableType]
    return {name: short for name, value in given.items() if name in _TOLD and (short := _short(value)) is not None}


def _short(value: object) -> JsonValue:
    match value:
        case bool() | int() | float():
            return value
        case str():
            return value[:_LONGEST]
        case list():
            items: list[object] = value  # pyright: ignore[reportUnknownVariableType]
            return [one[:_LONGEST] for one in items[:_MOST] if isinstance(one, str)]
        case _:
            return None


async def _body(request: Request) -> object:
    if (request.method, request.url.path) in STREAMED or not await request.body():
        return None
    try:
        return await request.json()
    except ValueError:
        return None


class Ends:
    """Around the operations: an entry gets its end before the answer goes out, so that who has the answer finds it there."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def told_first(message: Message) -> None:
            written = scope.get(_ENTRY)
            if message["type"] == "http.response.start" and isinstance(written, Written):
                await written.ended(message["status"])
            await send(message)

        try:
            await self._app(scope, receive, told_first)
        except Exception:
            written = scope.get(_ENTRY)
            if isinstance(written, Written):
                await written.ended(500)
            raise
