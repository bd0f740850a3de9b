"""The audit log, for administrators."""

from typing import Annotated

from fastapi import Query
from pydantic import AwareDatetime, BaseModel, Field

from server.dependencies import CurrentAdmin, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.texts import RowId
from server.storage.audit import AuditEntry, AuditFilter, Via
from server.token_scopes import by_token

router = operations("/audit", tag="audit", responses=problems(401, 403))
Moment = Annotated[AwareDatetime | None, Query()]


class AuditPage(BaseModel):
    """``next``: what to give as ``before`` for older ones; null: there are none."""

    entries: list[AuditEntry]
    next: str | None


class AuditOperation(BaseModel):
    operation: str
    about: str = Field(description="What it does, in words.")


@router.get("", summary="What administrators, authors and programs have changed, the newest first")
@by_token("administer")
async def audit(
    _: CurrentAdmin,
    services: CurrentServices,
    name: Annotated[str, Query(max_length=64, description="The beginning of an account's name.")] = "",
    operation: Annotated[str, Query(max_length=100)] = "",
    via: Via | None = None,
    since: Moment = None,
    until: Moment = None,
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> AuditPage:
    wanted = AuditFilter(name=name, operation=operation, via=via, since=since, until=until)
    found = await services.storage.audit_log.list_page(wanted, before or "", limit + 1)
    shown = found[:limit]
    return AuditPage(entries=shown, next=shown[-1].id if len(found) > limit else None)


@router.get("/operations", summary="Which kinds of changes there are entries of")
@by_token("administer")
async def audit_operations(_: CurrentAdmin, services: CurrentServices) -> list[AuditOperation]:
    found = await services.storage.audit_log.list_operations()
    return [AuditOperation(operation=name, about=about) for name, about in found.items()]
