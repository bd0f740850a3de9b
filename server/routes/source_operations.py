"""Documents of sources before they are tools: sent by themselves, their operations listed, and some of them chosen."""

from fastapi import Request

from domain.errors import BrokenInputError, UnavailableError
from domain.tool_source import OperationOutline
from server.bodies import length, pieces
from server.dependencies import CurrentAuthor, CurrentServices
from server.problems import problems
from server.routes.router import operations
from server.routes.sources import show_source
from server.routes.sources_bodies import OperationsBody, OutlineBody, SentDocument, ShownOutline, ShownSource
from server.routes.texts import RowId
from server.services import Services
from server.sources.addresses import refused_for
from server.token_scopes import by_token

router = operations("/sources", tag="sources", responses=problems(400, 401, 403))


@router.post(
    "/documents",
    status_code=201,
    summary="Send a document, as the body, before the source that is made of it",
    responses=problems(429),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
@by_token("administer")
async def send_document(request: Request, user: CurrentAuthor, services: CurrentServices) -> SentDocument:
    """For documents that are too large for the body of another request. It is kept for a day, or until a source is made of it."""
    taken = await services.sources.documents.take(user, pieces(request), length(request))
    return SentDocument(id=taken.id, bytes=taken.bytes)


@router.post(
    "/outline", summary="List the operations of a document, to choose some before it is added", responses=problems(404)
)
@by_token("read")
async def outline(body: OutlineBody, user: CurrentAuthor, services: CurrentServices) -> ShownOutline:
    """Nothing is kept."""
    document = await services.sources.documents.of(user, body.document, body.document_id)
    try:
        with refused_for(user):
            return _shown(await services.sources.outline(body.address, document), services)
    except UnavailableError as error:  # as POST /sources says it: the address is the caller's, and nothing of ours
        raise BrokenInputError(f"was not found where you said: {error.public_message}", file="the document") from error


@router.get("/{source_id}/outline", summary="List the operations of a source's document", responses=problems(404))
@by_token("read")
async def outline_of_source(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> ShownOutline:
    """As it is at the source's address now; of a source without an address, as it was last given."""
    found = await services.sources.get(source_id, user)
    with refused_for(user):
        return _shown(await services.sources.outline_of(found), services)


@router.put(
    "/{source_id}/operations",
    summary="Choose which operations of its document a source takes; it is read again",
    responses=problems(404, 409),
)
@by_token("administer")
async def choose_operations(
    source_id: RowId, body: OperationsBody, user: CurrentAuthor, services: CurrentServices
) -> ShownSource:
    """What is new is a draft; what is not chosen any more is withdrawn. Where it cannot be read so, everything stays as it is."""
    with refused_for(user):
        return await show_source(await services.sources.choose(source_id, user, body), services)


def _shown(found: OperationOutline, services: Services) -> ShownOutline:
    return ShownOutline.model_validate(found.model_dump() | {"most": services.settings.source_tools})
