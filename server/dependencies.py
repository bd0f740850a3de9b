"""What an operation asks for by the type of its parameter: the services, and who is calling.

Each of ``CurrentUser``, ``CurrentAuthor`` and ``CurrentAdmin`` is the user, or the answer is 401 or 403. Whose a thing is, its
repository sees to: another's is not found.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer

from domain.errors import ForbiddenError, UnauthenticatedError, UnavailableError
from domain.model import JsonObject
from server.audit import READS, is_written, write
from server.problems import ROLE
from server.services import Services
from server.sources.visibility import view_as
from server.storage.accounts import ROLES, Role, User
from server.storage.audit import AuditedAction
from server.storage.tokens import Scope
from server.token_scopes import check_scope, find_scope

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="An access token of POST /api/v1/auth/login.")


def services_of(request: Request) -> Services:
    """Those of the application that answers."""
    return request.app.state.services


CurrentServices = Annotated[Services, Depends(services_of)]


@dataclass(frozen=True, slots=True)
class Caller:
    """Who is calling, and in which session. ``program``: the label of a program's token, and ``scopes`` what it may do; None: somebody has logged in."""

    user: User
    session_id: str
    program: str | None = None
    scopes: frozenset[Scope] | None = None

    def may(self, scope: Scope) -> bool:
        """Whether this needs no scope, or the token has it."""
        return self.scopes is None or scope in self.scopes

    @property
    def may_approve(self) -> bool:
        """Whether this caller's answer can approve anything: that of a person who is logged in, never a token's, whatever its scopes."""
        return self.scopes is None


async def caller(
    request: Request, services: CurrentServices, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> Caller:
    """Asked of the database each time, so that what is revoked is revoked now.

    Raises ``UnauthenticatedError``; ``OverLimitError`` where the user asks too fast; ``ForbiddenError`` where a program's token lacks the scope
    that the operation declares. The refusal of a change is in the audit log, too.
    """
    if given is None:
        raise UnauthenticatedError(
            "this needs a token: send Authorization: Bearer …, with what POST /api/v1/auth/login gives"
        )
    user, session_id, program, scopes = await services.storage.tokens.authenticate(given.credentials)
    request.scope[ROLE] = user.role
    services.limits.rates.take(user.id)
    view_as(user)
    if program is not None and request.method not in READS:
        await write(request, services.storage.audit_log, user, program)
    check_scope(scopes, find_scope(request.scope["route"].endpoint))
    return Caller(user, session_id, program, scopes)


async def note_role(
    request: Request, services: CurrentServices, given: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)]
) -> None:
    """Find out who asks where that makes a difference to the words of an answer, and anybody may ask."""
    if given is None:
        return
    with suppress(UnauthenticatedError, UnavailableError):  # then nobody is known to ask
        request.scope[ROLE] = (await services.storage.tokens.authenticate(given.credentials)).user.role


CurrentCaller = Annotated[Caller, Depends(caller)]


async def write_done(caller: Caller, services: Services, operation: str, about: str, said: JsonObject) -> None:
    """Write something that somebody did on their own account into the audit log, where what a program does is written already."""
    if caller.program is not None:
        return
    user = caller.user
    deed = AuditedAction(
        user_id=user.id, name=user.name, role=user.role, via="session", operation=operation, about=about, said=said
    )
    await services.storage.audit_log.begin(deed, 200)


@dataclass(frozen=True, slots=True)
class AtLeast:
    """A dependency: the user, if the role suffices. What is to be in the audit log is written there before the operation begins."""

    role: Role

    async def __call__(self, request: Request, services: CurrentServices, caller: CurrentCaller) -> User:
        if ROLES.index(caller.user.role) < ROLES.index(self.role):
            raise ForbiddenError(f"this needs the role {self.role}; an administrator can give it to you")
        tags = frozenset(map(str, request.scope["route"].tags))
        if caller.program is None and is_written(request.method, tags, self.role, caller.user):
            await write(request, services.storage.audit_log, caller.user, None)
        return caller.user


CurrentUser = Annotated[User, Depends(AtLeast("user"))]
CurrentAuthor = Annotated[User, Depends(AtLeast("author"))]
CurrentAdmin = Annotated[User, Depends(AtLeast("admin"))]


def client_address(request: Request) -> str:
    """Where the request comes from, as far as trusted proxies tell."""
    return request.client.host if request.client else ""


ClientAddress = Annotated[str, Depends(client_address)]
