"""Sources of tools: custom APIs and MCP servers, for authors; an author's own, and all of them for administrators."""

from typing import Annotated

from fastapi import Query, Response

from domain.errors import BrokenInputError, SecretError, UnavailableError
from server.dependencies import CurrentAuthor, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.sources_bodies import (
    NewSource,
    ShownSource,
    ShownStep,
    SourceBody,
    UserName,
    shown_source,
    shown_step,
)
from server.routes.texts import RowId, ShortText
from server.services import Services
from server.sources.addresses import refused_for
from server.sources.forms import FormTool
from server.sources.reading import ReadSource, read_form
from server.storage.accounts import User
from server.storage.identifiers import generate_id
from server.storage.source_records import Source
from server.token_scopes import by_token

router = operations("", tag="sources", responses=problems(401, 403))


@router.get("/sources", summary="My sources of tools, or all of them for administrators")
@by_token("read")
async def sources(user: CurrentAuthor, services: CurrentServices) -> list[ShownSource]:
    found = await services.sources.all(user)
    counts = await services.storage.sources.count_tools([one.id for one in found])
    return [shown_source(one, counts[one.id]) for one in found]


@router.post(
    "/sources",
    status_code=201,
    summary="Add a source; its tools are drafts until they are checked and admitted",
    responses=problems(400, 409),
)
@by_token("administer")
async def add_source(body: NewSource, user: CurrentAuthor, services: CurrentServices) -> ShownSource:
    """It is read at once; where that fails, the answer says why, and nothing is kept. Only an MCP server that does not let us in, or does not
    answer, is kept without tools, so that it can be given its keys and be read again. A document that lists more operations than a source may
    have is refused as ``too_many_operations``: list them (``POST /sources/outline``), and add it with those that are needed (``operations``).
    """
    at = services.storage.sources.get_time()
    given = body.model_dump(exclude={"document", "document_id", "tools"}) | {"toolset": body.toolset or body.name}
    source = Source.model_validate(
        {**given, "id": generate_id(), "author_id": user.id, "created_at": at, "read_at": at}
    )
    try:
        with refused_for(user):
            read = await _read(body, source, user, services)
    except (SecretError, UnavailableError) as error:
        if body.kind == "openapi" and body.address and isinstance(error, UnavailableError):
            raise BrokenInputError(
                f"was not found where you said: {error.public_message}", file="the document"
            ) from error
        if body.kind != "mcp":
            raise
        read = ReadSource(b"", ())
        source = source.model_copy(update={"trouble": error.public_message[:1000], "read_at": None})
    made = await services.sources.add(source, read, user)
    if body.document_id is not None:
        await services.sources.documents.remove(body.document_id)
    return await show_source(made, services)


@router.get("/sources/{source_id}", summary="A source", responses=problems(404))
@by_token("read")
async def source(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> ShownSource:
    return await show_source(await services.sources.get(source_id, user), services)


@router.patch(
    "/sources/{source_id}", summary="Say who may use a source, and how it is watched", responses=problems(404)
)
@by_token("administer")
async def change_source(
    source_id: RowId, body: SourceBody, user: CurrentAuthor, services: CurrentServices
) -> ShownSource:
    values = body.model_dump(exclude_none=True)
    return await show_source(await services.sources.change(source_id, user, values), services)


@router.delete(
    "/sources/{source_id}",
    status_code=204,
    summary="Remove a source: its tools are not offered any more",
    response_class=Response,
    responses=problems(404),
)
@by_token("administer")
async def remove_source(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> None:
    """What was done with it stays known to administrators."""
    await services.sources.remove(source_id, user)
    await services.storage.source_keys.remove_all(source_id)


@router.get(
    "/sources/{source_id}/history", summary="What was done with a source, the latest first", responses=problems(404)
)
@by_token("read")
async def history(
    source_id: RowId,
    user: CurrentAuthor,
    services: CurrentServices,
    before: RowId | None = None,
    limit: Annotated[int, Query(ge=1, le=200)] = 50,
) -> list[ShownStep]:
    """Administrators also see that of sources that were removed."""
    found = await services.sources.get(source_id, user, removed=True)
    steps = await services.storage.sources.list_steps(found.id, limit=limit, before=before or "")
    return [shown_step(one) for one in steps]


@router.get("/user-names", summary="Users whose names begin so, to say who may use a source")
@by_token("read")
async def user_names(
    _: CurrentAuthor, services: CurrentServices, prefix: ShortText = "", limit: Annotated[int, Query(ge=1, le=50)] = 20
) -> list[UserName]:
    found = await services.storage.users.search_by_prefix(prefix, limit)
    return [UserName(id=one.id, name=one.name, role=one.role) for one in found]


async def _read(body: NewSource, source: Source, user: User, services: Services) -> ReadSource:
    if body.kind == "form":
        raw = body.model_dump_json(include={"tools"}).encode()
        return read_form(source, [FormTool.model_validate(one.model_dump()) for one in body.tools], raw)
    document = await services.sources.documents.of(user, body.document, body.document_id)
    return await services.sources.read(source, document)


async def show_source(one: Source, services: Services) -> ShownSource:
    """Answer a source with the counts of its tools."""
    return shown_source(one, (await services.storage.sources.count_tools([one.id]))[one.id])
