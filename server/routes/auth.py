"""Coming in and going out."""

from datetime import datetime
from typing import Annotated, Any

from fastapi import Header
from pydantic import BaseModel, Field

from server.auth.accounts import Registration
from server.dependencies import ClientAddress, CurrentCaller, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import GivenPassword, Password, Token, UserName
from server.storage.accounts import User
from server.storage.tokens import TokenPair

router = operations("/auth", tag="auth")
Agent = Annotated[str, Header(alias="User-Agent", max_length=1000, include_in_schema=False)]


class RegisterBody(BaseModel):
    name: UserName
    password: Password
    invitation: Token | None = Field(default=None, description="Where registration is by invitation.")


class LoginBody(BaseModel):
    name: Annotated[str, Field(max_length=200, examples=["ada"])]
    password: GivenPassword


class RefreshBody(BaseModel):
    refresh_token: Token


class ResetBody(BaseModel):
    secret: Token = Field(description="Of the link that an administrator has made.")
    password: Password


class Tokens(BaseModel):
    """Send ``access_token`` as ``Authorization: Bearer …``. Trade ``refresh_token`` in before it ends; it counts once."""

    access_token: str = Field(examples=["fpa_3kTMd…"])
    refresh_token: str = Field(examples=["fpr_9sQvX…"])
    token_type: str = "bearer"  # noqa: S105  # no secret, a word of RFC 6750
    access_expires_at: datetime
    session_expires_at: datetime


class LoggedIn(Tokens):
    user: User


class RegistrationRule(BaseModel):
    registration: Registration


@router.get("/registration", summary="Who may make an account")
async def registration(services: CurrentServices) -> RegistrationRule:
    return RegistrationRule(registration=services.accounts.registration)


@router.post("/register", status_code=201, summary="Make an account and log in", responses=problems(403, 409, 429))
async def register(
    body: RegisterBody, services: CurrentServices, address: ClientAddress, agent: Agent = ""
) -> LoggedIn:
    invitation = body.invitation.get_secret_value() if body.invitation else ""
    user = await services.accounts.register(body.name, body.password.get_secret_value(), invitation, address)
    return LoggedIn(user=user, **_shown(await services.storage.tokens.open_session(user.id, agent)))


@router.post("/login", summary="Log in", responses=problems(401, 429))
async def login(body: LoginBody, services: CurrentServices, address: ClientAddress, agent: Agent = "") -> LoggedIn:
    password = body.password.get_secret_value()
    user, pair = await services.accounts.log_in(body.name, password, address=address, label=agent)
    return LoggedIn(user=user, **_shown(pair))


@router.post(
    "/reset",
    status_code=204,
    summary="Set a new password by a link of an administrator's",
    responses=problems(403, 429),
)
async def reset_password(body: ResetBody, services: CurrentServices, address: ClientAddress) -> None:
    """The link counts once; all sessions of the account end."""
    secret, password = body.secret.get_secret_value(), body.password.get_secret_value()
    await services.accounts.reset_password(secret, password, address)


@router.post("/refresh", summary="Trade a refresh token for new tokens", responses=problems(401))
async def refresh(body: RefreshBody, services: CurrentServices) -> Tokens:
    return Tokens(**_shown(await services.storage.tokens.refresh(body.refresh_token.get_secret_value())))


@router.post("/logout", status_code=204, summary="End this session", responses=problems(401))
async def logout(caller: CurrentCaller, services: CurrentServices) -> None:
    await services.storage.tokens.revoke(caller.user.id, caller.session_id, "logged out")


def _shown(pair: TokenPair) -> dict[str, Any]:
    return pair.model_dump()
