"""Encoders that may be chosen: the bundled one, exported ones in a folder, services; and how each is opened."""

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
    """An embedding service, without its key."""

    id: str = ""
    """Identifies the service for the owner of its key."""
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
    """Price of a million tokens."""


class EncoderChoice(Model):
    """Choice of an encoder."""

    kind: Literal["settings", "bundled", "folder", "service"]
    """With ``settings``, the encoder that the settings name."""
    name: str = ""
    """Folder of the exported encoder, or the service's name for people."""
    service: EncoderService | None = None


SETTINGS = EncoderChoice(kind="settings")
BUNDLED = EncoderChoice(kind="bundled")


class EncoderServices(Protocol):
    """Access to embedding services with their keys."""

    async def version(self, service: EncoderService) -> str:
        """Return a text that changes when the service has to be opened again, since its address or key changed."""
        ...

    async def open(self, service: EncoderService) -> tuple[Embedder, Close]:
        """Return the encoder of a service, and a function that closes it. Raises ``FootpathError``."""
        ...


class ServicesBySettings:
    """Services without a key store: the key of the settings goes to the address of the settings, and to no other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def version(self, service: EncoderService) -> str:
        """Return an empty text: settings do not change."""
        del service
        return ""

    async def open(self, service: EncoderService) -> tuple[Embedder, Close]:
        """Open the service as it is stored."""
        own = service.url.rstrip("/") == self._settings.embedding_url.rstrip("/")
        key = self._settings.embedding_api_key.get_secret_value() if own else ""
        return embedder_of(asking(service, self._settings, key))


def chosen_by(settings: Settings) -> EncoderChoice:
    """Return the choice of the settings, in a form that can be opened without them where possible."""
    plain = settings.embedder == "bundled" and settings.encoder_folder is None
    return BUNDLED if plain else SETTINGS


async def open_encoder(
    choice: EncoderChoice, settings: Settings, services: EncoderServices, threads: int | None = None
) -> tuple[Embedder, Close]:
    """Return the encoder and a function that closes it; a service is not called yet.

    ``threads``: for an encoder that runs here, by default as the settings say.

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
        """Do nothing: an encoder that runs here holds no connection."""

    folder = encoder_folder(settings, choice.name) if choice.kind == "folder" else None
    return await asyncio.to_thread(encoder_in, folder, settings.encoder_threads), nothing


def encoder_folder(settings: Settings, name: str) -> Path:
    """Return the folder of an exported encoder. ``UsageError`` where there is none of this name."""
    folder = settings.encoders / name
    if folder.parent != settings.encoders or not (folder / MODEL_FILE).is_file():
        raise UsageError(
            f"there is no encoder {name!r} in {settings.encoders}: export it with scripts/export_encoder.py {folder}, "
            "or name its folder with FOOTPATH_ENCODERS"
        )
    return folder


def choices_here(settings: Settings) -> list[EncoderChoice]:
    """Return the encoders available without a service of the server: bundled, exported, and the one of the settings."""
    found = [BUNDLED]
    if settings.encoders.is_dir():
        names = sorted(one.name for one in settings.encoders.iterdir() if (one / MODEL_FILE).is_file())
        found += [EncoderChoice(kind="folder", name=name) for name in names]
    own = chosen_by(settings)
    return found if own == BUNDLED else [*found, own]


def model_bytes(choice: EncoderChoice, settings: Settings) -> int | None:
    """Return the size of the model's file; None for a service."""
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
    """Return the choice that ``reindex.py --to`` names. ``UsageError`` where there is none of this name."""
    if name == "bundled":
        return BUNDLED
    if name == "settings":
        return chosen_by(settings)
    encoder_folder(settings, name)
    return EncoderChoice(kind="folder", name=name)


def asking(service: EncoderService, settings: Settings, key: str) -> Settings:
    """Return settings that name this service."""
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
