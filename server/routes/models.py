"""Model services, for administrators: set up, tried, put on line, chosen for what they are asked."""

from collections.abc import Mapping

from fastapi import Request

from domain.errors import ConflictError, UsageError
from domain.model_service import ModelService, NewModelService, Purpose, ServiceTest
from server.audit import note
from server.dependencies import CurrentAdmin, CurrentServices
from server.encoders.services import check_unused
from server.models.presets import PRESETS
from server.problems import problems
from server.routes.model_bodies import (
    ChangeBody,
    ModelsShown,
    OnlineBody,
    PurposeBody,
    ServiceBody,
    SettingsModel,
    ShownPurpose,
    ShownService,
    TrialBody,
)
from server.routes.router import operations
from server.routes.texts import RowId
from server.services import Services
from server.storage.model_services import extract_origin
from server.token_scopes import by_token
from wiring.served_models import select_model
from wiring.settings import Settings, list_model_names

router = operations("/models", tag="models", responses=problems(401, 403))
ABOUT: Mapping[Purpose, str] = {
    "default": "whatever no other service is chosen for",
    "programs": "writing the programs that serve requests",
    "decisions": "deciding in a run: the parts of a request, the next step, the values of a call, whether a path is good",
    "answers": "saying the answer in words",
    "responses": "choosing the fields of long responses that are kept",
    "gate": "judging the documents of tools that are to be offered",
}


@router.get("", summary="All model services, and what each is asked for")
@by_token("administer")
async def models(_: CurrentAdmin, services: CurrentServices) -> ModelsShown:
    kept, chosen = await _kept(services)
    return ModelsShown(
        services=[_shown(one, chosen) for one in kept],
        purposes=[
            ShownPurpose(purpose=purpose, about=about, service_id=chosen.get(purpose), used=_used(purpose, kept, chosen, services.settings))
            for purpose, about in ABOUT.items()
        ],
        settings=_of_settings(services.settings),
        presets=list(PRESETS),
    )  # fmt: skip


@router.post("/test", summary="Try a model service before it is kept", responses=problems(400, 404))
@by_token("administer")
async def try_new_model(request: Request, body: TrialBody, _: CurrentAdmin, services: CurrentServices) -> ServiceTest:
    """It is asked some twenty small questions, which costs what they cost. Whatever is wrong stands in the answer."""
    kept = None if body.service_id is None else await services.storage.model_services.get(body.service_id)
    new = body.service()
    _note(request, new)
    return await services.model_tests.test(new, await _key(services, body, kept))


@router.post("", status_code=201, summary="Set up a model service", responses=problems(400, 409))
@by_token("administer")
async def add_model(
    request: Request, body: ServiceBody, admin: CurrentAdmin, services: CurrentServices
) -> ShownService:
    """It is tried first. One that cannot be used is kept off line only."""
    new = body.service()
    _note(request, new)
    _check_name(new, services.settings)
    key = body.given_key() or ""
    test = await services.model_tests.test_unless_known(new, key)
    _check_works(test, online=new.online)
    return _shown(await services.storage.model_services.add(new, key, test, admin.name), {})


@router.get("/{service_id}", summary="One model service", responses=problems(404))
@by_token("administer")
async def model(service_id: RowId, _: CurrentAdmin, services: CurrentServices) -> ShownService:
    found = await services.storage.model_services.get(service_id)
    return _shown(found, await services.storage.model_services.list_purposes())


@router.put("/{service_id}", summary="Change a model service", responses=problems(400, 404, 409))
@by_token("administer")
async def change_model(
    request: Request, service_id: RowId, body: ChangeBody, admin: CurrentAdmin, services: CurrentServices
) -> ShownService:
    """It is tried first, as a new one is. It counts from the next run on."""
    of, new = services.storage.model_services, body.service()
    _note(request, new)
    before = await of.get(service_id)
    if new.kind != before.kind:
        raise UsageError("a service stays what it is: set up another one for the other kind")
    _check_name(new, services.settings)
    test = await services.model_tests.test_unless_known(new, await _key(services, body, before))
    _check_works(test, online=new.online)
    changed = await of.change(service_id, body.version, new, body.given_key(), test, admin.name)
    return _shown(changed, await of.list_purposes())


@router.post("/{service_id}/test", summary="Try a model service again", responses=problems(404))
@by_token("administer")
async def try_model(request: Request, service_id: RowId, _: CurrentAdmin, services: CurrentServices) -> ShownService:
    """What is found is kept with it. A service that fails stays on line: rules decide while it does."""
    of = services.storage.model_services
    found = await of.get(service_id)
    note(request, service=found.name)
    test = await services.model_tests.test(found, await of.get_key(service_id))
    return _shown(await of.store_test(service_id, found.version, test), await of.list_purposes())


@router.put("/{service_id}/online", summary="Put a model service on line or off line", responses=problems(404, 409))
@by_token("administer")
async def put_on_line(
    request: Request, service_id: RowId, body: OnlineBody, admin: CurrentAdmin, services: CurrentServices
) -> ShownService:
    """From the next run on. One whose last test failed is tried again before it goes on line."""
    of = services.storage.model_services
    found = await of.get(service_id)
    note(request, service=found.name, online=body.online)
    if body.online and not (found.tested and found.tested.works):
        test = await services.model_tests.test(found, await of.get_key(service_id))
        await of.store_test(service_id, found.version, test)
        _check_works(test, online=True)
    return _shown(await of.set_online(service_id, admin.name, online=body.online), await of.list_purposes())


@router.delete("/{service_id}", status_code=204, summary="Remove a model service", responses=problems(404, 409))
@by_token("administer")
async def remove_model(request: Request, service_id: RowId, _: CurrentAdmin, services: CurrentServices) -> None:
    """With its key. What it was chosen for falls to the default from the next run on."""
    found = await services.storage.model_services.get(service_id)
    note(request, service=found.name)
    await check_unused(services.agents.get_full_container, found)
    await services.storage.model_services.remove(service_id)


@router.put("/purposes/{purpose}", summary="Choose what is asked for a purpose", responses=problems(404, 409))
@by_token("administer")
async def choose_model(
    request: Request, purpose: Purpose, body: PurposeBody, admin: CurrentAdmin, services: CurrentServices
) -> ModelsShown:
    """From the next run on. Null for a purpose: the default is; null for the default: the settings' model, or the first service on line."""
    of = services.storage.model_services
    note(request, service="" if body.service_id is None else (await of.get(body.service_id)).name)
    await of.choose(purpose, body.service_id)
    return await models(admin, services)


async def _kept(services: Services) -> tuple[list[ModelService], Mapping[Purpose, str]]:
    of = services.storage.model_services
    return await of.list_all(), await of.list_purposes()


async def _key(services: Services, body: ServiceBody, kept: ModelService | None) -> str:
    """What the service is asked with. ``UsageError``: the kept key was given for another host."""
    given = body.given_key()
    if given is not None or kept is None or not kept.has_key:
        return given or ""
    if extract_origin(body.address) != extract_origin(kept.address):
        raise UsageError(
            f"the kept key was given for {extract_origin(kept.address)} and is sent nowhere else: give the key of the new address, or none"
        )
    return await services.storage.model_services.get_key(kept.id)


def _check_works(test: ServiceTest, *, online: bool) -> None:
    if online and not test.works:
        advice = "".join(f" {one}." for one in test.advice)
        raise ConflictError(f"the test failed, so it cannot be on line: {test.error}.{advice} It may be kept off line")


def _check_name(new: NewModelService, settings: Settings) -> None:
    """Runs choose by name."""
    if new.name in list_model_names(settings):
        raise ConflictError(f"a model of the settings is called {new.name}; choose another name")


def _note(request: Request, new: NewModelService) -> None:
    note(
        request, service=new.name, address=new.address, model=new.model, own_network=new.own_network, online=new.online
    )


def _shown(one: ModelService, chosen: Mapping[Purpose, str]) -> ShownService:
    purposes: tuple[Purpose, ...] = tuple(purpose for purpose in ABOUT if chosen.get(purpose) == one.id)
    return ShownService(**{name: getattr(one, name) for name in ModelService.model_fields}, purposes=purposes)


def _used(purpose: Purpose, kept: list[ModelService], chosen: Mapping[Purpose, str], settings: Settings) -> str:
    found = select_model(purpose, kept, chosen, settings)
    return found.name if isinstance(found, ModelService) else found or ""


def _of_settings(settings: Settings) -> SettingsModel | None:
    names = list_model_names(settings)
    if not names:
        return None
    return SettingsModel(
        address=settings.model_url,
        models=list(names),
        has_key=bool(settings.model_api_key.get_secret_value()),
        price_prompt=settings.model_price_prompt,
        price_completion=settings.model_price_completion,
    )
