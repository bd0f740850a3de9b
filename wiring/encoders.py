"""Encoder of the settings: the bundled one, an exported one, or a service with OpenAI's embedding protocol."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from pydantic import Field, SecretStr

from domain.errors import UsageError
from domain.model import Model
from retriever.encoder_folder import MODEL_FILE, EncoderConfig, hash_encoder, read_encoder_config
from retriever.index import Embedder
from wiring.settings import Settings, list_variables, read_settings, read_settings_file, warn_of_unknown_settings

if TYPE_CHECKING:
    from agent.llm.client.embeddings import OpenaiEmbeddings
    from agent.llm.client.transport import AddressResolver
    from retriever.embedders.onnx_embedder import OnnxEmbedder

CloseCallback = Callable[[], Awaitable[None]]

_MAX_DIMENSION = 16_384
"""Numbers of one vector for which a response has room before the dimension is known."""


def create_embedder(settings: Settings) -> tuple[Embedder, CloseCallback]:
    """Return the encoder, and a function that closes it; nothing is read or opened yet.

    Raises:
        UsageError: an embedding service is wanted, and the settings lack a part of it.
    """
    if settings.embedder == "service":
        return open_service_embedder(settings)

    async def close_nothing() -> None:
        """Do nothing: the bundled encoder holds no connection."""

    return load_encoder(settings.encoder_folder, settings.encoder_threads), close_nothing


def load_encoder(folder: Path | None, threads: int = 2) -> "OnnxEmbedder":
    """Return an encoder that was exported to a folder; None: the bundled one. ``UsageError`` where none is there."""
    from retriever.embedders.onnx_embedder import OnnxEmbedder

    if folder is None:
        return OnnxEmbedder(threads)
    return OnnxEmbedder(threads, folder, *read_encoder_identity(folder))


@lru_cache
def read_encoder_identity(folder: Path) -> tuple[str, EncoderConfig]:
    """Return an exported encoder's hash and form, read from its files once.

    ``UsageError`` where they are missing or broken.
    """
    try:
        return hash_encoder(folder), read_encoder_config(folder)
    except OSError as error:
        raise UsageError(
            f"{folder} holds no encoder ({error.strerror}): export it with train_retriever.py --export {folder}, or export_encoder.py {folder}"
        ) from error


def read_former_settings(file: Path) -> Settings:
    """Read the settings of the encoder used so far from a file like ``.env``.

    Missing settings have their defaults; unknown ones are reported on stderr.

    Raises:
        UsageError: there is no such file, or it holds values that cannot be used.
    """
    values = read_settings_file(file)
    warn_of_unknown_settings(list_variables(file))
    names = [name for name in Settings.model_fields if name.startswith("embed") or name == "encoder_folder"]
    return read_settings(**{name: values.get(name, Settings.model_fields[name].default) for name in names})


def create_embedding_service(settings: Settings, addresses: "AddressResolver | None" = None) -> "OpenaiEmbeddings":
    """Create a client of the service, whatever the dimension of its vectors; the caller closes it.

    ``addresses``: where the service may be, None for anywhere.

    Raises:
        UsageError: the settings name none.
    """
    _require_settings(settings, "embedding_url", "embedding_name")
    from agent.llm.client.embeddings import EmbeddingParameters, OpenaiEmbeddings, compute_response_limit

    return OpenaiEmbeddings(
        EmbeddingParameters(
            url=settings.embedding_url.rstrip("/").removesuffix("/embeddings"),
            name=settings.embedding_name,
            api_key=settings.embedding_api_key.get_secret_value(),
            timeout=settings.embedding_timeout,
            attempts=settings.embedding_attempts,
            dimension=settings.embedding_dimension if settings.embedding_shorten else None,
            response_limit=compute_response_limit(
                settings.embedding_batch, settings.embedding_dimension or _MAX_DIMENSION
            ),
            use_environment=settings.model_use_environment,
            addresses=addresses,
        )
    )


def wrap_embedding_service(service: "OpenaiEmbeddings", settings: Settings, dimension: int) -> Embedder:
    """Return an encoder that calls ``service``, with the prefixes and the batch size of the settings."""
    from retriever.embedders.embedding_service import ServiceEmbedder, TextPrefixes

    prefixes = TextPrefixes(settings.embedding_query_prefix, settings.embedding_document_prefix)
    return ServiceEmbedder(service, dimension, prefixes, batch=settings.embedding_batch)


def open_service_embedder(
    settings: Settings, addresses: "AddressResolver | None" = None
) -> tuple[Embedder, CloseCallback]:
    """Return the service of the settings as an encoder, and a function that closes it. Raises ``UsageError``.

    ``addresses``: where the service may be, None for anywhere.
    """
    _require_settings(settings, "embedding_url", "embedding_name", "embedding_dimension")
    service = create_embedding_service(settings, addresses)
    return wrap_embedding_service(service, settings, settings.embedding_dimension or 0), service.close


def _require_settings(settings: Settings, *names: str) -> None:
    missing = [f"FOOTPATH_{name.upper()}" for name in names if not getattr(settings, name)]
    if missing:
        raise UsageError(
            f"an embedding service needs {' and '.join(missing)} (and FOOTPATH_EMBEDDING_API_KEY where it wants a key); "
            "any OpenAI-compatible service will do, scripts/check_model.py --embedding tries it and tells the dimension. "
            "FOOTPATH_EMBEDDER=bundled needs none"
        )


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

    async def get_version(self, service: EncoderService) -> str:
        """Return a text that changes when the service has to be opened again, since its address or key changed."""
        ...

    async def open(self, service: EncoderService) -> tuple[Embedder, CloseCallback]:
        """Return the encoder of a service, and a function that closes it. Raises ``FootpathError``."""
        ...


class SettingsEncoderServices:
    """Services without a key store: the key of the settings goes to the address of the settings, and to no other."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings

    async def get_version(self, service: EncoderService) -> str:
        """Return an empty text: settings do not change."""
        del service
        return ""

    async def open(self, service: EncoderService) -> tuple[Embedder, CloseCallback]:
        """Open the service as it is stored."""
        is_own_address = service.url.rstrip("/") == self._settings.embedding_url.rstrip("/")
        key = self._settings.embedding_api_key.get_secret_value() if is_own_address else ""
        return create_embedder(build_service_settings(service, self._settings, key))


def get_settings_choice(settings: Settings) -> EncoderChoice:
    """Return the choice of the settings, in a form that can be opened without them where possible."""
    is_bundled = settings.embedder == "bundled" and settings.encoder_folder is None
    return BUNDLED if is_bundled else SETTINGS


async def open_encoder(
    choice: EncoderChoice, settings: Settings, services: EncoderServices, threads: int | None = None
) -> tuple[Embedder, CloseCallback]:
    """Return the encoder and a function that closes it; a service is not called yet.

    ``threads``: for an encoder that runs here, by default as the settings say.

    Raises:
        UsageError: there is no such encoder here.
    """
    if threads is not None:
        settings = settings.model_copy(update={"encoder_threads": threads})
    if choice.kind == "settings":
        return await asyncio.to_thread(create_embedder, settings)
    if choice.kind == "service" and choice.service is not None:
        return await services.open(choice.service)

    async def close_nothing() -> None:
        """Do nothing: an encoder that runs here holds no connection."""

    folder = find_encoder_folder(settings, choice.name) if choice.kind == "folder" else None
    return await asyncio.to_thread(load_encoder, folder, settings.encoder_threads), close_nothing


def find_encoder_folder(settings: Settings, name: str) -> Path:
    """Return the folder of an exported encoder. ``UsageError`` where there is none of this name."""
    folder = settings.encoders / name
    if folder.parent != settings.encoders or not (folder / MODEL_FILE).is_file():
        raise UsageError(
            f"there is no encoder {name!r} in {settings.encoders}: export it with scripts/export_encoder.py {folder}, "
            "or name its folder with FOOTPATH_ENCODERS"
        )
    return folder


def list_choices(settings: Settings) -> list[EncoderChoice]:
    """Return the encoders available without a service of the server: bundled, exported, and the one of the settings."""
    choices = [BUNDLED]
    if settings.encoders.is_dir():
        names = sorted(folder.name for folder in settings.encoders.iterdir() if (folder / MODEL_FILE).is_file())
        choices += [EncoderChoice(kind="folder", name=name) for name in names]
    settings_choice = get_settings_choice(settings)
    return choices if settings_choice == BUNDLED else [*choices, settings_choice]


def get_model_size(choice: EncoderChoice, settings: Settings) -> int | None:
    """Return the size of the model's file; None for a service."""
    from retriever.embedders.onnx_embedder import BUNDLED_FOLDER

    match choice.kind:
        case "bundled":
            folder = BUNDLED_FOLDER
        case "folder":
            folder = find_encoder_folder(settings, choice.name)
        case _:
            folder = settings.encoder_folder if settings.embedder == "bundled" else None
    return None if folder is None else (folder / MODEL_FILE).stat().st_size


def parse_choice(name: str, settings: Settings) -> EncoderChoice:
    """Return the choice that ``reindex.py --to`` names. ``UsageError`` where there is none of this name."""
    if name == "bundled":
        return BUNDLED
    if name == "settings":
        return get_settings_choice(settings)
    find_encoder_folder(settings, name)
    return EncoderChoice(kind="folder", name=name)


def build_service_settings(service: EncoderService, settings: Settings, key: str) -> Settings:
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
