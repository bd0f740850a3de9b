"""Accounts and invitations, for administrators."""

from datetime import datetime
from typing import Annotated

from fastapi import Query, Request
from pydantic import BaseModel, Field

from domain.errors import NotFoundError
from server.account_removal import AccountRemoval, remove_account
from server.audit import note
from server.dependencies import CurrentAdmin, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId, ShortText
from server.storage.accounts import Invitation, Role, User
from server.storage.tokens import Session
from server.token_scopes import by_token

router = operations("", tag="users", responses=problems(401, 403))
_ENDED = "an administrator ended the session"


class UserChange(BaseModel):
    role: Role | None = None
    disabled: bool | None = None


class InvitationBody(BaseModel):
    role: Role = "user"
    note: ShortText = Field(default="", examples=["for Ada"])
    days: Annotated[
        float | None, Field(gt=0, le=365, description="How long it counts; null: as the server is set.")
    ] = None


class PasswordLink(BaseModel):
    secret: str = Field(description="To be given to the user, who sets a new password with it; it is shown this once.")
    expires_at: datetime


class NewInvitation(Invitation):
    secret: str = Field(description="To be given to the invited person; it is shown this once.")


@router.get("/users", summary="All accounts, in the order they came")
@by_token("administer")
async def users(
    _: CurrentAdmin,
    services: CurrentServices,
    after: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[User]:
    return await services.storage.users.list_page(after or "", limit)


@router.get("/users/{user_id}", summary="One account", responses=problems(404))
@by_token("administer")
async def user(user_id: RowId, _: CurrentAdmin, services: CurrentServices) -> User:
    if (found := await services.storage.users.get(user_id)) is None:
        raise NotFoundError("there is no such user")
    return found


@router.patch("/users/{user_id}", summary="Give a role, disable or enable", responses=problems(404, 409, 503))
async def change_user(
    request: Request, user_id: RowId, body: UserChange, _: CurrentAdmin, services: CurrentServices
) -> User:
    """Where the account is disabled or its role falls, its runs end before their next call. What others share of a disabled account's solutions
    without an administrator's word is withdrawn, and does not come back with the account.
    """
    changed = await services.storage.users.change(user_id, role=body.role, disabled=body.disabled)
    note(request, account=changed.name)
    services.worker.wake()
    if body.disabled:
        await services.agents.withdraw_shared(user_id)
    return changed


@router.delete("/users/{user_id}", summary="Remove an account", responses=problems(404, 409, 503))
async def remove_user(
    request: Request, user_id: RowId, admin: CurrentAdmin, services: CurrentServices
) -> AccountRemoval:
    """With the memories and solutions that are the user's own; where their stores are out of reach, nothing is removed. The answer says what stays."""
    note(request, account=(await user(user_id, admin, services)).name)
    return await remove_account(user_id, services)


@router.post(
    "/users/{user_id}/password-link",
    status_code=201,
    summary="Make a link by which a user sets a new password",
    responses=problems(404),
)
async def password_link(
    request: Request, user_id: RowId, admin: CurrentAdmin, services: CurrentServices
) -> PasswordLink:
    """It counts once, for a day; earlier ones of the user count no more. The old password counts until then."""
    note(request, account=(await user(user_id, admin, services)).name)
    secret, until = await services.storage.password_resets.add(user_id)
    return PasswordLink(secret=secret, expires_at=until)


@router.get("/users/{user_id}/sessions", summary="Where a user is logged in", responses=problems(404))
@by_token("administer")
async def user_sessions(user_id: RowId, admin: CurrentAdmin, services: CurrentServices) -> list[Session]:
    await user(user_id, admin, services)
    return await services.storage.tokens.list_sessions(user_id)


@router.delete(
    "/users/{user_id}/sessions", status_code=204, summary="End all of a user's sessions", responses=problems(404)
)
async def end_user_sessions(request: Request, user_id: RowId, admin: CurrentAdmin, services: CurrentServices) -> None:
    """The user's runs end before their next call."""
    note(request, account=(await user(user_id, admin, services)).name)
    await services.storage.tokens.revoke_with_runs(user_id, None, _ENDED)
    services.worker.wake()


@router.delete(
    "/users/{user_id}/sessions/{session_id}",
    status_code=204,
    summary="End one of a user's sessions",
    responses=problems(404),
)
async def end_user_session(user_id: RowId, session_id: RowId, _: CurrentAdmin, services: CurrentServices) -> None:
    """The runs that were asked for in it end before their next call."""
    if not await services.storage.tokens.revoke_with_runs(user_id, session_id, _ENDED):
        raise NotFoundError("this user has no such session")
    services.worker.wake()


@router.get("/invitations", summary="All invitations, the newest first")
@by_token("administer")
async def invitations(_: CurrentAdmin, services: CurrentServices) -> list[Invitation]:
    return await services.storage.invitations.list_all()


@router.post("/invitations", status_code=201, summary="Invite somebody")
async def invite(body: InvitationBody, admin: CurrentAdmin, services: CurrentServices) -> NewInvitation:
    days = body.days or services.settings.invitation_days
    made, secret = await services.storage.invitations.add(admin.id, body.role, body.note, days)
    return NewInvitation(**made.model_dump(), secret=secret)


@router.delete("/invitations/{invitation_id}", status_code=204, summary="Withdraw one", responses=problems(404))
async def withdraw(invitation_id: RowId, _: CurrentAdmin, services: CurrentServices) -> None:
    if not await services.storage.invitations.remove(invitation_id):
        raise NotFoundError("there is no such invitation")
