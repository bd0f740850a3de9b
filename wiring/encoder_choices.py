"""Encoders that may be chosen: the one that comes along, exported ones in a folder, services; and how each is opened."""

import asyncio
from pathlib import Path
from typing import Literal, Protocol

from pydantic import Field, SecretStr

from domain.errors import UsageError
from domain.model import Model
from retriever.encoder_folder import MODEL_FILE
from retriever.index import Embedder
from wiring.embedders import Close, embedder_of, encoder_in
from wiring.settings import Settings


class EncoderService(Model):
    """An embedding service as it is asked, without its key. ``id``: under which whoever keeps keys knows it. ``price``: of a million tokens."""

    id: str = ""
    url: str
    model: str
    dimension: int = Field(ge=1)
    shorten: bool = False
    query_prefix: str = ""
    document_prefix: str = ""
    batch: int = Field(default=64, ge=1)
    timeout: float = Field(default=60.0, gt=0)
    attempts: int = Field(default=3, ge=1)
    price: float | None = None


class EncoderChoice(Model):
    """``settings``: whatever the settings name. ``name``: the exported encoder's folder, or what people call the service."""

    kind: Literal["settings", "bundled", "folder", "service"]
    name: str = ""
    service: EncoderService | None = None


SETTINGS = EncoderChoice(kind="settings")
BUNDLED = EncoderChoice(kind="bundled")


class EncoderServices(Protocol):
    """Who asks services, and has their keys."""

    async def version(self, service: EncoderService) -> str:
        """Another one than before: it is to be opened anew, since its address or key is another."""
        ...

    async def open(self, service: EncoderService) -> tuple[Embedder, Close]:
        """What asks it, and what closes that. Raises ``FootpathError``."""
        ...


class ServicesBySettings:
    """Without a server that keeps keys: the key of the settings goes to the address of the settings, and to no other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def version(self, service: EncoderService) -> str:
        """Settings stay as they are."""
        del service
        return ""

    async def open(self, service: EncoderService) -> tuple[Embedder, Close]:
        """As it was kept."""
        own = service.url.rstrip("/") == self._settings.embedding_url.rstrip("/")
        key = self._settings.embedding_api_key.get_secret_value() if own else ""
        return embedder_of(asking(service, self._settings, key))


def chosen_by(settings: Settings) -> EncoderChoice:
    """What the settings name, so that it can be opened without them where that is possible."""
    plain = settings.embedder == "bundled" and settings.encoder_folder is None
    return BUNDLED if plain else SETTINGS


async def open_encoder(
    choice: EncoderChoice, settings: Settings, services: EncoderServices, threads: int | None = None
) -> tuple[Embedder, Close]:
    """The encoder, and what closes it; a service is not asked yet. ``threads``: of one that runs here, else as the settings say.

    Raises:
        UsageError: there is no such encoder here.
    """
    if threads is not None:
        settings = settings.model_copy(update={"encoder_threads": threads})
    if choice.kind == "settings":
        return await asyncio.to_thread(embedder_of, settings)
    if choice.kind == "service" and choice.service is not None:
        return await services.open(choice.service)

    async def nothing() -> None:
        """What runs here holds no connection."""

    folder = encoder_folder(settings, choice.name) if choice.kind == "folder" else None
    return await asyncio.to_thread(encoder_in, folder, settings.encoder_threads), nothing


def encoder_folder(settings: Settings, name: str) -> Path:
    """Where an exported encoder lies. ``UsageError`` where there is none of this name."""
    folder = settings.encoders / name
    if folder.parent != settings.encoders or not (folder / MODEL_FILE).is_file():
        raise UsageError(
            f"there is no encoder {name!r} in {settings.encoders}: export it with scripts/export_encoder.py {folder}, "
            "or name its folder with FOOTPATH_ENCODERS"
        )
    return folder


def choices_here(settings: Settings) -> list[EncoderChoice]:
    """What can be chosen without any service of the server's: the bundled one, exported ones, and what the settings name."""
    found = [BUNDLED]
    if settings.encoders.is_dir():
        names = sorted(one.name for one in settings.encoders.iterdir() if (one / MODEL_FILE).is_file())
        found += [EncoderChoice(kind="folder", name=name) for name in names]
    own = chosen_by(settings)
    return found if own == BUNDLED else [*found, own]


def model_bytes(choice: EncoderChoice, settings: Settings) -> int | None:
    """Of the model's file; None of a service."""
    from retriever.embedders.bundled import FOLDER

    match choice.kind:
        case "bundled":
            folder = FOLDER
        case "folder":
            folder = encoder_folder(settings, choice.name)
        case _:
            folder = settings.encoder_folder if settings.embedder == "bundled" else None
    return None if folder is None else (folder / MODEL_FILE).stat().st_size


def named_choice(name: str, settings: Settings) -> EncoderChoice:
    """What ``reindex.py --to`` names. ``UsageError`` where there is none of this name."""
    if name == "bundled":
        return BUNDLED
    if name == "settings":
        return chosen_by(settings)
    encoder_folder(settings, name)
    return EncoderChoice(kind="folder", name=name)


def asking(service: EncoderService, settings: Settings, key: str) -> Settings:
    """Settings that name this service."""
    return settings.model_copy(
        update={
            "embedder": "service",
            "embedding_url": service.url,
            "embedding_name": service.model,
            "embedding_api_key": SecretStr(key),
            "embedding_dimension": service.dimension,
            "embedding_shorten": service.shorten,
            "embedding_query_prefix": service.query_prefix,
            "embedding_document_prefix": service.document_prefix,
            "embedding_batch": service.batch,
            "embedding_timeout": service.timeout,
            "embedding_attempts": service.attempts,
        }
    )
