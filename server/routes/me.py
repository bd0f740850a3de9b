"""What belongs to the caller: the account, its sessions, its keys for tools, its allow-list."""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import Path
from pydantic import BaseModel, Field

from domain.errors import NotFoundError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from server.account_removal import AccountRemoval, remove_account
from server.dependencies import CurrentCaller, CurrentServices, CurrentUser, write_done
from server.problems import problems
from server.routes.key_bodies import ToolKeyBody
from server.routes.router import operations
from server.routes.texts import GivenPassword, LanguageTag, Password, RowId, ShortText, ToolKeyName, ToolName
from server.routes.tools import known_tool, meant, tools
from server.storage.accounts import User
from server.storage.permissions import AllowedTool, CallTarget, HostTransfer, get_call_target
from server.storage.tokens import DEFAULT_SCOPES, Scope, Session
from server.storage.vault import ToolKey
from server.token_scopes import by_token

router = operations("/me", tag="me", responses=problems(401))


class PasswordBody(BaseModel):
    old: GivenPassword
    new: Password


class ConfirmBody(BaseModel):
    password: GivenPassword


class PreferencesBody(BaseModel):
    language: LanguageTag | None = Field(description="In which pages are read; null: as each browser says.")


class ProgramTokenBody(BaseModel):
    label: Annotated[ShortText, Field(min_length=1, description="What it is for, as it stands among my sessions.")]
    days: int = Field(default=30, ge=1, le=365, description="How long it counts.")
    scopes: Annotated[set[Scope], Field(min_length=1)] = Field(
        default=set(DEFAULT_SCOPES),
        description="What it may do: ask (begin runs), read, run_changes (its runs may change something, and it may change what is kept), administer (what needs the role author or admin).",
    )


class ProgramToken(BaseModel):
    token: str = Field(description="To be sent as Authorization: Bearer …; it is shown this once.")
    expires_at: datetime


class OwnSession(Session):
    current: bool = Field(description="Whether it is the one that asks.")


@router.get("", summary="Who I am")
@by_token("read")
async def me(user: CurrentUser) -> User:
    return user


@router.patch("", summary="Say how I want pages")
async def prefer(body: PreferencesBody, user: CurrentUser, services: CurrentServices) -> User:
    return await services.storage.users.set_language(user.id, body.language)


@router.delete("", summary="Remove my account and all that is mine", responses=problems(409, 429, 503))
async def remove_me(body: ConfirmBody, user: CurrentUser, services: CurrentServices) -> AccountRemoval:
    """With my own memories and solutions; where their stores are out of reach, nothing is removed. The answer says what stays."""
    await services.accounts.confirm(user, body.password.get_secret_value())
    return await remove_account(user.id, services)


@router.post("/password", status_code=204, summary="Set a new password; other sessions end", responses=problems(429))
async def change_password(body: PasswordBody, caller: CurrentCaller, services: CurrentServices) -> None:
    old, new = body.old.get_secret_value(), body.new.get_secret_value()
    await services.accounts.change_password(caller.user, caller.session_id, old, new)


@router.get("/sessions", summary="Where I am logged in")
@by_token("read")
async def sessions(caller: CurrentCaller, services: CurrentServices) -> list[OwnSession]:
    found = await services.storage.tokens.list_sessions(caller.user.id)
    return [OwnSession(**one.model_dump(), current=one.id == caller.session_id) for one in found]


@router.delete("/sessions", status_code=204, summary="End all my other sessions")
async def end_other_sessions(caller: CurrentCaller, services: CurrentServices) -> None:
    """Tokens of programs end, too."""
    await services.storage.tokens.revoke_all(
        caller.user.id, "ended from another session", except_session=caller.session_id
    )


@router.delete("/sessions/{session_id}", status_code=204, summary="End one of my sessions", responses=problems(404))
async def end_session(session_id: RowId, user: CurrentUser, services: CurrentServices) -> None:
    if not await services.storage.tokens.revoke(user.id, session_id, "ended from another session"):
        raise NotFoundError("you have no such session")


@router.post("/tokens", status_code=201, summary="Make a token for a program of mine", responses=problems(403))
async def make_token(body: ProgramTokenBody, caller: CurrentCaller, services: CurrentServices) -> ProgramToken:
    """It may do of what I may what its scopes say, and cannot be renewed. It is among my sessions, where it is ended. With a program's token none is made."""
    counts, scopes = timedelta(days=body.days), sorted(body.scopes)
    token, until = await services.storage.tokens.open_program_session(caller.user.id, body.label, counts, scopes)
    said: JsonObject = {"label": body.label, "days": body.days, "scopes": [*scopes]}
    await write_done(caller, services, "make_token", "Make a token for a program of mine", said)
    return ProgramToken(token=token, expires_at=until)


@router.get("/tool-keys", summary="My keys for tools, without their values")
@by_token("read")
async def tool_keys(user: CurrentUser, services: CurrentServices) -> list[ToolKey]:
    return await services.storage.tool_keys.list_all(user.id)


@router.put("/tool-keys/{name}", summary="Keep a key for a tool, encrypted")
@by_token("run_changes")
async def put_tool_key(name: ToolKeyName, body: ToolKeyBody, user: CurrentUser, services: CurrentServices) -> ToolKey:
    return await services.storage.tool_keys.put(user.id, name, body.value.get_secret_value(), body.hosts)


@router.delete("/tool-keys/{name}", status_code=204, summary="Forget a key", responses=problems(404))
@by_token("run_changes")
async def remove_tool_key(name: ToolKeyName, user: CurrentUser, services: CurrentServices) -> None:
    if not await services.storage.tool_keys.remove(user.id, name):
        raise NotFoundError(f"you have no key called {name}")


ToolPath = Annotated[ToolName, Path(description="The tool's id, category/toolset/api.")]


class ListedTool(AllowedTool):
    """``holds`` False: the tool is no longer where it was when leave was given, so that it asks again; None: this server has no tools yet."""

    holds: bool | None


@router.get("/allowed-tools", summary="Tools that may change things without asking me, and for what that holds")
@by_token("read")
async def allowed_tools(user: CurrentUser, services: CurrentServices) -> list[ListedTool]:
    listed = await services.storage.allowed_tools.list_all(user.id)
    docs = await tools([ToolId(one.tool) for one in listed], services)
    return [ListedTool(**one.model_dump(), holds=_holds(one, docs)) for one in listed]


def _holds(one: AllowedTool, docs: Mapping[ToolId, ToolDoc] | None) -> bool | None:
    if docs is None:
        return None
    doc = docs.get(ToolId(one.tool))
    return doc is not None and one.covers(get_call_target(doc), ())


@router.put(
    "/allowed-tools/{tool:path}",
    status_code=204,
    summary="Let a tool change things without asking me",
    responses=problems(404),
)
async def allow_tool(tool: ToolPath, user: CurrentUser, services: CurrentServices) -> None:
    known = await known_tool(tool, services)
    doc = (await tools([known], services) or {}).get(known)
    await services.storage.allowed_tools.allow(user.id, known, get_call_target(doc) if doc else CallTarget())


@router.delete("/allowed-tools/{tool:path}", status_code=204, summary="Have it ask again", responses=problems(404))
async def disallow_tool(tool: ToolPath, user: CurrentUser, services: CurrentServices) -> None:
    gone = [await services.storage.allowed_tools.disallow(user.id, one) for one in meant(tool)]
    if not any(gone):
        raise NotFoundError("this tool is not on your list")


FlowHost = Annotated[ShortText, Path(min_length=1, description="A host, or host:port.")]


@router.get("/host-transfers", summary="What I have said of values that go from one host to another")
@by_token("read")
async def host_transfers(user: CurrentUser, services: CurrentServices) -> list[HostTransfer]:
    return await services.storage.host_transfers.list_all(user.id)


@router.delete(
    "/host-transfers/{source}/{target}", status_code=204, summary="Have it asked again", responses=problems(404)
)
async def forget_flow(source: FlowHost, target: FlowHost, user: CurrentUser, services: CurrentServices) -> None:
    if not await services.storage.host_transfers.forget(user.id, source, target):
        raise NotFoundError("you have said nothing of these two hosts")
