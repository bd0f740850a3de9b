"""What administrators may change the encoder to, with what is known of each."""

import asyncio
from typing import Literal

from domain.errors import FootpathError, NotFoundError
from domain.model import Model
from domain.model_service import ModelService
from server.encoders.services import as_choice
from server.storage.model_services import ModelServices
from wiring.encoders import EncoderChoice, get_model_size, list_choices
from wiring.settings import Settings
from wiring.store_encoders import StoreEncoders


class OfferedEncoder(Model):
    """``key``: by which it is named in requests. ``bytes``: of the model that is read here. Seconds of one text and texts a second as its test found them.

    ``price``: of a million tokens. ``unusable``: why it cannot be taken, with what to do; empty: it can.
    """

    key: str
    kind: Literal["bundled", "folder", "settings", "service"]
    name: str
    identity: str = ""
    dimension: int | None = None
    bytes: int | None = None
    seconds: float | None = None
    texts_a_second: float | None = None
    price: float | None = None
    unusable: str = ""


async def offered_encoders(
    settings: Settings, encoders: StoreEncoders, services: ModelServices
) -> list[OfferedEncoder]:
    """Those here, then the services."""
    found = [await _here(settings, encoders, choice) for choice in await asyncio.to_thread(list_choices, settings)]
    kept = [one for one in await services.list_all() if one.kind == "embedding"]
    return [*found, *[await _of_service(encoders, one) for one in kept]]


async def chosen_encoder(settings: Settings, services: ModelServices, key: str) -> EncoderChoice:
    """The one with this key. Raises ``NotFoundError``."""
    kind, _, name = key.partition(":")
    if kind == "service":
        service = await services.get(name)
        choice = as_choice(service) if service.kind == "embedding" else None
        if choice is not None:
            return choice
    for choice in await asyncio.to_thread(list_choices, settings):
        if key_of(choice) == key:
            return choice
    raise NotFoundError(f"there is no encoder {key!r} to change to: GET /embeddings lists those that there are")


def key_of(choice: EncoderChoice) -> str:
    """By which a choice is named in requests."""
    if choice.kind == "service" and choice.service is not None:
        return f"service:{choice.service.id}"
    return f"folder:{choice.name}" if choice.kind == "folder" else choice.kind


async def _here(settings: Settings, encoders: StoreEncoders, choice: EncoderChoice) -> OfferedEncoder:
    plain = OfferedEncoder(key=key_of(choice), kind=choice.kind, name=choice.name)
    try:
        encoder = await encoders.get_embedder(choice)
        size = await asyncio.to_thread(get_model_size, choice, settings)
        return plain.model_copy(update={"identity": encoder.identity, "dimension": encoder.dimension, "bytes": size})
    except FootpathError as error:
        return plain.model_copy(update={"unusable": str(error)})


async def _of_service(encoders: StoreEncoders, service: ModelService) -> OfferedEncoder:
    test, choice = service.tested, as_choice(service)
    plain = OfferedEncoder(
        key=f"service:{service.id}", kind="service", name=service.name, price=service.price_prompt,
        seconds=test.seconds if test else None, texts_a_second=test.texts_a_second if test else None,
    )  # fmt: skip
    if choice is None:
        return plain.model_copy(
            update={"unusable": "nobody knows yet how long its vectors are: test the service first"}
        )
    if not service.online:
        return plain.model_copy(update={"unusable": "the service is off line: put it on line first"})
    try:
        encoder = await encoders.get_embedder(choice)
    except FootpathError as error:
        return plain.model_copy(update={"unusable": str(error)})
    return plain.model_copy(update={"identity": encoder.identity, "dimension": encoder.dimension})
