"""Encoders of an open store: the one that searches use, and the open vectors of each. A switch needs no restart."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass

from domain.errors import FootpathError, StoreVersionError
from retriever.index import Embedder, VectorIndex
from wiring.encoder_state import (
    EncoderScales,
    EncoderState,
    EncoderVectors,
    NoteStore,
    add_stored_scale,
    read_state,
    write_state,
)
from wiring.encoders import (
    SETTINGS,
    EncoderChoice,
    EncoderServices,
    SettingsEncoderServices,
    get_settings_choice,
    open_encoder,
)
from wiring.settings import Settings

_log = logging.getLogger(__name__)

DEFAULT_VECTORS_FOLDER = "vectors"
"""Folder of the vectors of a store that was never switched."""

IndexFactory = Callable[[str], VectorIndex]
"""Creates an index that is not set up; the argument is the folder of its vectors, where it is one."""


@dataclass(frozen=True, slots=True)
class OpenVectors:
    """An encoder, and the opened index of its vectors. Holders go on with them after a switch."""

    embedder: Embedder
    index: VectorIndex


class StoreEncoders:
    """Encoders of one process. ``services`` may be replaced by an owner of the services' keys.

    Closed with the stack.
    """

    def __init__(
        self,
        settings: Settings,
        notes: Callable[[], Awaitable[NoteStore]],
        make_index: IndexFactory,
        stack: AsyncExitStack,
    ) -> None:
        self.services: EncoderServices = SettingsEncoderServices(settings)
        self.scales = EncoderScales(notes)
        """How the cosines of each encoder are read."""
        self._settings = settings
        self._notes = notes
        self._make_index = make_index
        self._stack = stack
        self._state: EncoderState | None = None
        self._embedders: dict[str, Embedder] = {}
        self._indexes: dict[tuple[str, str], VectorIndex] = {}
        self._lock = asyncio.Lock()

    @property
    def has_state(self) -> bool:
        """Return whether the encoder in use was read before."""
        return self._state is not None

    async def load_state(self) -> EncoderState:
        """Read the stored state, and follow it from now on. Raises ``UnavailableError``."""
        state = await read_state(await self._notes())
        before, self._state = self._state, state
        if before is not None and before.in_use != state.in_use:
            _log.info("searches go by %s from now on", (await self.get_current_vectors()).identity)
        if (before is None or before.in_use != state.in_use) and state.former is not None:
            await self._warn_of_former(state, state.former)
        return state

    async def follow(self) -> None:
        """Follow the stored state: another process may have switched. Raises ``UnavailableError``."""
        await self.load_state()

    async def read_note(self, key: str) -> str:
        """Return a note stored beside the state. Raises ``UnavailableError``."""
        return await (await self._notes()).read(key)

    async def write_note(self, key: str, text: str) -> None:
        """Store a note beside the state. Raises ``UnavailableError``."""
        await (await self._notes()).write(key, text)

    async def change_state(self, state: EncoderState) -> None:
        """Store a state, and follow it: every process does at its next search. Raises ``UnavailableError``."""
        await write_state(await self._notes(), state)
        await self.follow()

    async def get_current_vectors(self) -> EncoderVectors:
        """Return the vectors that this process searches by.

        Raises ``UnavailableError`` where it could never read the state.

        An encoder that only another process's settings name cannot be opened here: as long as the former vectors are
        kept, this process goes on with them, so that a change of encoder breaks no running server.
        """
        if self._state is None:
            await self.follow()
        state = self._state or EncoderState()
        stored, former = state.in_use, state.former
        if stored is not None and stored.encoder != SETTINGS:
            return stored
        settings_embedder = await self.get_embedder(SETTINGS)
        elsewhere = stored is not None and stored.identity != settings_embedder.identity
        if (
            elsewhere
            and former is not None
            and (former.encoder != SETTINGS or former.identity == settings_embedder.identity)
        ):
            return former
        folder_name = stored.place if stored else DEFAULT_VECTORS_FOLDER
        return EncoderVectors(
            encoder=get_settings_choice(self._settings), identity=settings_embedder.identity, dimension=settings_embedder.dimension, place=folder_name,
            at=stored.at if stored and stored.identity == settings_embedder.identity else None,
        )  # fmt: skip

    async def get_current_embedder(self) -> Embedder:
        """Return the encoder in use; where it cannot be determined, that of the settings.

        In that case its vectors are out of reach too.
        """
        try:
            return await self._get_checked_embedder(await self.get_current_vectors())
        except FootpathError as error:
            _log.warning("which encoder is in use cannot be told, that of the settings is taken: %s", error)
            return await self.get_embedder(SETTINGS)

    async def open_current(self) -> OpenVectors:
        """Open the encoder in use and its vectors, once.

        Raises ``UnavailableError``, ``StoreVersionError`` and ``UsageError``.
        """
        return await self.open(await self.get_current_vectors())

    async def open(self, vectors: EncoderVectors, *, staged: bool = False) -> OpenVectors:
        """Open an encoder and its vectors, once. Raises as :meth:`open_current`.

        ``staged``: the vectors are not in use yet, and may be incomplete.
        """
        embedder = await self._get_checked_embedder(vectors)
        return OpenVectors(embedder, await self.open_index(vectors, staged=staged))

    async def open_index(self, vectors: EncoderVectors, *, staged: bool = False) -> VectorIndex:
        """Open the index alone, whichever encoder made it. Raises ``UnavailableError`` and ``StoreVersionError``."""
        key = (vectors.identity, vectors.place)
        async with self._lock:
            if key not in self._indexes:
                index = self._make_index(vectors.place or DEFAULT_VECTORS_FOLDER)
                self._stack.push_async_callback(index.close)
                await _set_up_index(index, vectors, staged=staged)
                self._indexes[key] = index
            return self._indexes[key]

    async def close(self, vectors: EncoderVectors) -> None:
        """Close an index before it is deleted."""
        async with self._lock:
            index = self._indexes.pop((vectors.identity, vectors.place), None)
        if index is not None:
            await index.close()

    async def get_embedder(self, choice: EncoderChoice) -> Embedder:
        """Return the encoder of a choice, created once. ``UsageError`` where there is none.

        It loads its weights, or connects, when first used.
        """
        choice = get_settings_choice(self._settings) if choice == SETTINGS else choice
        version = await self.services.get_version(choice.service) if choice.service else ""
        key = f"{choice.model_dump_json()} {version}"
        if key not in self._embedders:
            embedder, close = await open_encoder(choice, self._settings, self.services)
            if key in self._embedders:  # another call has opened it meanwhile
                await close()
            else:
                self._embedders[key] = add_stored_scale(embedder, self.scales)
                self._stack.push_async_callback(close)
        return self._embedders[key]

    async def _warn_of_former(self, state: EncoderState, former: EncoderVectors) -> None:
        if state.in_use is not None and (await self.get_current_vectors()).identity == former.identity:
            _log.warning(
                "the store was switched to %s, which the settings here do not name: searches go by the former vectors, those of "
                "%s, until they are dropped; name the new encoder in the settings, and start again",
                state.in_use.identity, former.identity,
            )  # fmt: skip

    async def _get_checked_embedder(self, vectors: EncoderVectors) -> Embedder:
        embedder = await self.get_embedder(vectors.encoder)
        if embedder.identity != vectors.identity:
            raise StoreVersionError(
                f"the vectors were made by {vectors.identity}, and {_describe_choice(vectors.encoder)} is {embedder.identity} now: "
                "bring that encoder back, or index the tools anew with scripts/reindex.py"
            )
        return embedder


def _describe_choice(choice: EncoderChoice) -> str:
    return {"settings": "the encoder of the settings", "bundled": "the encoder that comes along"}.get(
        choice.kind, f"the encoder {choice.name!r}"
    )


async def _set_up_index(index: VectorIndex, vectors: EncoderVectors, *, staged: bool) -> None:
    """Set up an index.

    ``staged``: on a server, in a new collection, since the encoder may have vectors in use already.
    """
    from retriever.backends.qdrant import QdrantIndex

    if staged and isinstance(index, QdrantIndex):
        await index.setup_staging(vectors.identity, vectors.dimension)
    else:
        await index.setup(vectors.identity, vectors.dimension)
