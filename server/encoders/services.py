"""Embedding services that administrators have set up, as encoders: asked at the address that is kept now, with the key of the vault."""

from collections.abc import Awaitable, Callable

from domain.errors import ConflictError, NotFoundError, StoreUnreachableError, UnavailableError
from domain.model_service import ModelService
from retriever.index import Embedder
from server.storage.model_services import ModelServices
from wiring.container import Container
from wiring.encoders import CloseCallback, EncoderChoice, EncoderService, SettingsEncoderServices
from wiring.model_services import open_embeddings
from wiring.settings import Settings

Whole = Callable[[], Awaitable[Container]]
"""The store with all its tools. Raises ``UnavailableError``."""


def as_choice(service: ModelService) -> EncoderChoice | None:
    """The service as an encoder; None where nobody knows yet how long its vectors are."""
    chosen = service.parameters
    dimension = chosen.dimension or (service.tested.dimension if service.tested else None)
    if dimension is None:
        return None
    kept = EncoderService(
        id=service.id, url=service.address, model=service.model, dimension=dimension, shorten=chosen.shorten,
        query_prefix=chosen.query_prefix, document_prefix=chosen.document_prefix, batch=chosen.batch,
        timeout=chosen.timeout, attempts=chosen.attempts, price=service.price_prompt,
    )  # fmt: skip
    return EncoderChoice(kind="service", name=service.name, service=kept)


async def check_unused(whole: Whole, service: ModelService) -> None:
    """Raises ``ConflictError`` where searches go by its vectors, or may be switched to them. Where there is no store, nobody does."""
    try:
        state = await (await whole()).encoders.load_state()
    except StoreUnreachableError:
        raise
    except UnavailableError:
        return
    for vectors in (state.in_use, state.beside, state.former):
        kept = vectors.encoder.service if vectors else None
        if kept is not None and kept.id == service.id:
            raise ConflictError(
                f"{service.name} has made vectors that are in use or kept: switch to another encoder on the page Embeddings, "
                "delete or discard these, then remove it"
            )


class StoredServices:
    """Those of a database; what is none of them is asked as the settings say."""

    def __init__(self, settings: Settings, services: ModelServices) -> None:
        self._settings = settings
        self._services = services
        self._plain = SettingsEncoderServices(settings)

    async def get_version(self, service: EncoderService) -> str:
        """That of its row."""
        kept = await self._kept(service)
        return str(kept.version) if kept else ""

    async def open(self, service: EncoderService) -> tuple[Embedder, CloseCallback]:
        """What makes vectors stays as it was when they were made: model, dimension and prefixes; where it is asked may have changed.

        Raises:
            ForbiddenAddressError: its address is none that may be asked. SecretError: its key cannot be opened.
        """
        kept = await self._kept(service)
        if kept is None:
            return await self._plain.open(service)
        asked = kept.parameters.model_copy(
            update={
                "dimension": service.dimension,
                "shorten": service.shorten,
                "query_prefix": service.query_prefix,
                "document_prefix": service.document_prefix,
            }
        )
        as_made = kept.model_copy(update={"model": service.model, "parameters": asked})
        return open_embeddings(self._settings, as_made, await self._services.get_key(kept.id))

    async def _kept(self, service: EncoderService) -> ModelService | None:
        if not service.id:
            return None
        try:
            return await self._services.get(service.id)
        except NotFoundError:
            return None
