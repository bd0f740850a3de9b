"""Keys that are kept with a source: its calls send them, whoever asks, where the source's keys are used."""

from fastapi import Request

from domain.errors import NotFoundError
from server.dependencies import CurrentAuthor, CurrentServices, CurrentUser
from server.oauth.consents import KeyPlace
from server.problems import problems
from server.routes.grant_bodies import BegunGrant, GrantBody
from server.routes.key_bodies import ToolKeyBody
from server.routes.key_grants import begin_grant
from server.routes.router import operations
from server.routes.texts import RowId, ToolKeyName
from server.sources.needed_keys import NeededKey, keys_needed
from server.storage.vault import ToolKey
from server.token_scopes import by_token

router = operations("/sources/{source_id}/keys", tag="sources", responses=problems(401, 403, 404))
of_users = operations("", tag="keys")


@of_users.get(
    "/me/needed-keys",
    summary="Keys that tools of sources want and that I lack, or have to consent to again",
    responses=problems(401),
)
@by_token("read")
async def needed_keys(user: CurrentUser, services: CurrentServices) -> list[NeededKey]:
    """Of tools that I may use with my own keys; and of sources of mine whose calls send the source's."""
    return await keys_needed(user, services.storage, services.agents.get_user_secrets)


@router.get("", summary="The keys of a source, without their values")
@by_token("read")
async def source_keys(source_id: RowId, user: CurrentAuthor, services: CurrentServices) -> list[ToolKey]:
    source = await services.sources.get(source_id, user)
    return await services.storage.source_keys.list_all(source.id)


@router.put("/{name}", summary="Keep a key with a source, encrypted")
@by_token("administer")
async def put_source_key(
    source_id: RowId, name: ToolKeyName, body: ToolKeyBody, user: CurrentAuthor, services: CurrentServices
) -> ToolKey:
    source = await services.sources.get(source_id, user)
    return await services.storage.source_keys.put(source.id, name, body.value.get_secret_value(), body.hosts)


@router.delete("/{name}", status_code=204, summary="Forget a key of a source")
@by_token("administer")
async def remove_source_key(
    source_id: RowId, name: ToolKeyName, user: CurrentAuthor, services: CurrentServices
) -> None:
    source = await services.sources.get(source_id, user)
    if not await services.storage.source_keys.remove(source.id, name):
        raise NotFoundError(f"this source has no key called {name}")


@router.post(
    "/{name}/oauth",
    summary="Obtain a key of a source by OAuth: at once, or with the address where its author consents",
    responses=problems(502),
)
@by_token("administer")
async def grant_source_key(
    source_id: RowId,
    name: ToolKeyName,
    body: GrantBody,
    user: CurrentAuthor,
    services: CurrentServices,
    request: Request,
) -> BegunGrant:
    """A key of the same name stays as it is until another one is obtained."""
    source = await services.sources.get(source_id, user)
    return await begin_grant(services, user.id, KeyPlace("source", source.id, name), body, str(request.base_url))
