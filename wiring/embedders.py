"""Encoder of the settings: the bundled one, an exported one, or a service with OpenAI's embedding protocol."""

from collections.abc import Awaitable, Callable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from domain.errors import UsageError
from retriever.encoder_folder import EncoderForm, hash_of, read_form
from retriever.index import Embedder
from wiring.settings import Settings, read_settings, settings_in
from wiring.unknown_settings import named_in, warn_of_unknown_settings

if TYPE_CHECKING:
    from agent.llm.client.embeddings import OpenaiEmbeddings
    from agent.llm.client.transport import Addresses
    from retriever.embedders.bundled import BundledEmbedder

Close = Callable[[], Awaitable[None]]

_MOST_NUMBERS = 16_384
"""Numbers of one vector for which a response has room before the dimension is known."""


def embedder_of(settings: Settings) -> tuple[Embedder, Close]:
    """Return the encoder, and a function that closes it; nothing is read or opened yet.

    Raises:
        UsageError: an embedding service is wanted, and the settings lack a part of it.
    """
    if settings.embedder == "service":
        return service_embedder(settings)

    async def nothing() -> None:
        """Do nothing: the bundled encoder holds no connection."""

    return encoder_in(settings.encoder_folder, settings.encoder_threads), nothing


def encoder_in(folder: Path | None, threads: int = 2) -> "BundledEmbedder":
    """Return an encoder that was exported to a folder; None: the bundled one. ``UsageError`` where none is there."""
    from retriever.embedders.bundled import BundledEmbedder

    if folder is None:
        return BundledEmbedder(threads)
    return BundledEmbedder(threads, folder, *encoder_named(folder))


@lru_cache
def encoder_named(folder: Path) -> tuple[str, EncoderForm]:
    """Return an exported encoder's hash and form, read from its files once.

    ``UsageError`` where they are missing or broken.
    """
    try:
        return hash_of(folder), read_form(folder)
    except OSError as error:
        raise UsageError(
            f"{folder} holds no encoder ({error.strerror}): export it with train_retriever.py --export {folder}, or export_encoder.py {folder}"
        ) from error


def former_settings(file: Path) -> Settings:
    """Read the settings of the encoder used so far from a file like ``.env``.

    Missing settings have their defaults; unknown ones are reported on stderr.

    Raises:
        UsageError: there is no such file, or it holds values that cannot be used.
    """
    found = settings_in(file)
    warn_of_unknown_settings(named_in(file))
    names = [name for name in Settings.model_fields if name.startswith("embed") or name == "encoder_folder"]
    return read_settings(**{name: found.get(name, Settings.model_fields[name].default) for name in names})


def embedding_service(settings: Settings, addresses: "Addresses | None" = None) -> "OpenaiEmbeddings":
    """Create a client of the service, whatever the dimension of its vectors; the caller closes it.

    ``addresses``: where the service may be, None for anywhere.

    Raises:
        UsageError: the settings name none.
    """
    _need(settings, "embedding_url", "embedding_name")
    from agent.llm.client.embeddings import EmbeddingParameters, OpenaiEmbeddings, room_for

    return OpenaiEmbeddings(
        EmbeddingParameters(
            url=settings.embedding_url.rstrip("/").removesuffix("/embeddings"),
            name=settings.embedding_name,
            api_key=settings.embedding_api_key.get_secret_value(),
            timeout=settings.embedding_timeout,
            attempts=settings.embedding_attempts,
            dimension=settings.embedding_dimension if settings.embedding_shorten else None,
            response_limit=room_for(settings.embedding_batch, settings.embedding_dimension or _MOST_NUMBERS),
            use_environment=settings.model_use_environment,
            addresses=addresses,
        )
    )


def embedder_with(service: "OpenaiEmbeddings", settings: Settings, dimension: int) -> Embedder:
    """Return an encoder that calls ``service``, with the prefixes and the batch size of the settings."""
    from retriever.embedders.service import Prefixes, ServiceEmbedder

    prefixes = Prefixes(settings.embedding_query_prefix, settings.embedding_document_prefix)
    return ServiceEmbedder(service, dimension, prefixes, batch=settings.embedding_batch)


def service_embedder(settings: Settings, addresses: "Addresses | None" = None) -> tuple[Embedder, Close]:
    """Return the service of the settings as an encoder, and a function that closes it. Raises ``UsageError``.

    ``addresses``: where the service may be, None for anywhere.
    """
    _need(settings, "embedding_url", "embedding_name", "embedding_dimension")
    service = embedding_service(settings, addresses)
    return embedder_with(service, settings, settings.embedding_dimension or 0), service.close


def _need(settings: Settings, *names: str) -> None:
    lacking = [f"FOOTPATH_{name.upper()}" for name in names if not getattr(settings, name)]
    if lacking:
        raise UsageError(
            f"an embedding service needs {' and '.join(lacking)} (and FOOTPATH_EMBEDDING_API_KEY where it wants a key); "
            "any OpenAI-compatible service will do, scripts/check_model.py --embedding tries it and tells the dimension. "
            "FOOTPATH_EMBEDDER=bundled needs none"
        )
