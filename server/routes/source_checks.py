"""The gate at work on a source, what it found out of its documents, and what has changed since."""

from server.dependencies import CurrentAuthor, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.source_tools import known_of
from server.routes.sources import show_source
from server.routes.sources_bodies import (
    CheckBody,
    QualityRow,
    ReadAgainBody,
    ReasonOfTool,
    ShownSource,
    ShownTouched,
)
from server.routes.texts import RowId
from server.sources.addresses import refused_for
from server.sources.checking import Wanted
from server.sources.forms import FormTool
from server.sources.reading import ReadSource, read_form
from server.sources.registry import actor_of
from server.sources.touched import touched_by
from server.storage.source_records import Source, StoredTool
from server.token_scopes import by_token

router = operations("/sources/{source_id}", tag="sources", responses=problems(401, 403, 404))


@router.post("/check", status_code=202, summary="Have the gate look at tools of a source", responses=problems(409, 429))
@by_token("administer")
async def check_source(
    source_id: RowId, body: CheckBody, user: CurrentAuthor, services: CurrentServices
) -> ShownSource:
    """It goes on in the background: the source tells how far it is, its tools what was found out."""
    await services.sources.get(source_id, user)
    names = dict.fromkeys((*body.tools, *body.requests, *body.arguments))
    ids = dict(zip(names, await known_of(source_id, [*names], services), strict=True))
    wanted = Wanted(
        tuple(ids[one] for one in body.tools),
        {ids[tool]: tuple(given) for tool, given in body.requests.items()},
        {ids[tool]: given for tool, given in body.arguments.items()},
        body.allow_changes,
        body.account_note,
    )
    return await show_source(await services.checker.start(source_id, user, wanted), services)


@router.get("/quality", summary="What the gate says of the documents of a source's tools, by category")
@by_token("read")
async def quality(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> list[QualityRow]:
    found = await services.sources.get(source_id, user)
    rows: dict[str, QualityRow] = {}
    for kept in await services.storage.sources.list_tools(found.id):
        _count(rows, kept)
    return list(rows.values())


def _count(rows: dict[str, QualityRow], kept: StoredTool) -> None:
    """Only tools that the gate has judged are counted."""
    for finding in kept.findings:
        if finding.check == "quality" and finding.verdict != "skipped":
            category = kept.original.category
            row = rows.setdefault(category, QualityRow(category=category, kept=0, dropped=0, reasons=[]))
            row.kept += not finding.is_blocking
            row.dropped += finding.is_blocking
            if finding.is_blocking:
                row.reasons.append(ReasonOfTool(tool=kept.tool, reason=finding.told))


@router.post(
    "/refresh",
    summary="Read a source again: what has changed so that calls may break is not offered any more",
    responses=problems(400, 409),
)
@by_token("administer")
async def refresh_source(
    source_id: RowId, body: ReadAgainBody, user: CurrentAuthor, services: CurrentServices
) -> ShownSource:
    """What people say in place of its documents stays."""
    await services.sources.get(source_id, user)
    document = await services.sources.documents.of(user, body.document, body.document_id)

    async def read(source: Source) -> ReadSource:
        if body.tools is not None and source.kind == "form":
            raw = body.model_dump_json(include={"tools"}).encode()
            return read_form(source, [FormTool.model_validate(one.model_dump()) for one in body.tools], raw)
        with refused_for(user):
            return await services.sources.read(source, document)

    followed = await services.sources.refresh(source_id, actor_of(user), read)
    if body.document_id is not None:
        await services.sources.documents.remove(body.document_id)
    return await show_source(followed, services)


@router.get("/touched", summary="Solutions and templates that rest on tools that have changed")
@by_token("read")
async def touched(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> list[ShownTouched]:
    """Of the changes that nobody has marked as looked at."""
    found = await services.sources.get(source_id, user)
    resting = await touched_by(found, user, services.storage, services.agents.get_full_container)
    return [ShownTouched(**one.model_dump()) for one in resting]
