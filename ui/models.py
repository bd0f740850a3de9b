"""Model services as the page needs them, for administrators: set up, tried, put on line, chosen for what they are asked."""

from datetime import datetime

from pydantic import BaseModel, Field

from domain.model import JsonObject
from domain.model_service import ServiceTest
from ui.client import Client, read
from ui.language import message

PURPOSES = {
    "default": message("Whatever no other is chosen for"),
    "programs": message("Writing programs"),
    "decisions": message("Decisions of a run"),
    "answers": message("Saying answers in words"),
    "responses": message("Fields of long responses"),
    "gate": message("Judging tools that are added"),
}
"""What a model is asked for; the words of each."""
KINDS = {"chat": message("Language model"), "embedding": message("Embedding service")}
_PATIENCE = 150.0
"""Seconds: a test asks some twenty questions, and the server breaks it off before."""


class Service(BaseModel):
    """One that was set up. ``has_key``: the server keeps one and shows it to nobody."""

    id: str
    kind: str = "chat"
    name: str
    provider: str = "other"
    address: str
    own_network: bool = False
    model: str
    has_key: bool = False
    parameters: JsonObject = Field(default_factory=JsonObject)
    price_prompt: float | None = None
    price_completion: float | None = None
    online: bool = False
    tested: ServiceTest | None = None
    tested_at: datetime | None = None
    version: int = 1
    changed_at: datetime | None = None
    changed_by: str = ""
    purposes: list[str] = Field(default_factory=list[str])


class Purpose(BaseModel):
    """``used``: the name of the one that is asked now, empty where there is none."""

    purpose: str
    service_id: str | None = None
    used: str = ""


class FromSettings(BaseModel):
    """What the server's settings name."""

    address: str
    models: list[str]
    has_key: bool = False


class Preset(BaseModel):
    provider: str
    name: str
    address: str = ""
    needs_key: bool = False
    own_network: bool = False


class Models(BaseModel):
    services: list[Service] = Field(default_factory=list[Service])
    purposes: list[Purpose] = Field(default_factory=list[Purpose])
    settings: FromSettings | None = None
    presets: list[Preset] = Field(default_factory=list[Preset])


def models(client: Client) -> Models:
    """All there are."""
    return read(Models, client.send("GET", "/models"))


def try_new(client: Client, body: JsonObject, service_id: str = "") -> ServiceTest:
    """What a test finds of one that is not kept; ``service_id``: of the kept one that it would change."""
    sent = body | {"service_id": service_id or None}
    return read(ServiceTest, client.send("POST", "/models/test", json=sent, timeout=_PATIENCE))


def keep(client: Client, body: JsonObject, service: Service | None) -> Service:
    """Set one up, or change it. It is tried first. Raises ServerError: it fails and is to be on line."""
    if service is None:
        return read(Service, client.send("POST", "/models", json=body, timeout=_PATIENCE))
    sent = body | {"version": service.version}
    return read(Service, client.send("PUT", f"/models/{service.id}", json=sent, timeout=_PATIENCE))


def try_again(client: Client, service_id: str) -> Service:
    """Test a kept one."""
    return read(Service, client.send("POST", f"/models/{service_id}/test", timeout=_PATIENCE))


def put_on_line(client: Client, service_id: str, *, online: bool) -> Service:
    """From the next run on it may be asked, or not."""
    path = f"/models/{service_id}/online"
    return read(Service, client.send("PUT", path, json={"online": online}, timeout=_PATIENCE))


def remove(client: Client, service_id: str) -> None:
    """With its key."""
    client.send("DELETE", f"/models/{service_id}")


def choose(client: Client, purpose: str, service_id: str) -> None:
    """Empty: none in particular."""
    client.send("PUT", f"/models/purposes/{purpose}", json={"service_id": service_id or None})
