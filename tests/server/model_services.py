"""The part of the matrix that is about model services."""

from collections.abc import Mapping

from domain.model_service import NewModelService, ServiceTest
from server.storage.identifiers import generate_id
from tests.server.access import Access, for_admins
from tests.support.server_world import World

SERVICE = {"name": "local", "address": "http://127.0.0.1:9/v1", "model": "any", "online": False}
"""One that nobody answers for, and that may not be asked either: it can be kept off line alone."""


async def a_model_service(world: World) -> Mapping[str, str]:
    new = NewModelService.model_validate({"kind": "chat", "provider": "other", **SERVICE, "name": generate_id()})
    failed = ServiceTest(works=False, failure="forbidden", error="not a public address")
    made = await world.services.storage.model_services.add(new, "", failed, "admin")
    return {"service_id": made.id}


async def a_purpose(_: World) -> Mapping[str, str]:
    return {"purpose": "programs"}


MODELS: dict[tuple[str, str], Access] = {
    ("GET", "/api/v1/models"): for_admins(200),
    ("POST", "/api/v1/models"): for_admins(201, body=SERVICE),
    ("POST", "/api/v1/models/test"): for_admins(200, body=SERVICE),
    ("GET", "/api/v1/models/{service_id}"): for_admins(200, a_model_service),
    ("PUT", "/api/v1/models/{service_id}"): for_admins(200, a_model_service, SERVICE | {"version": 1}),
    ("DELETE", "/api/v1/models/{service_id}"): for_admins(204, a_model_service),
    ("POST", "/api/v1/models/{service_id}/test"): for_admins(200, a_model_service),
    ("PUT", "/api/v1/models/{service_id}/online"): for_admins(200, a_model_service, {"online": False}),
    ("PUT", "/api/v1/models/purposes/{purpose}"): for_admins(200, a_purpose, {"service_id": None}),
}
