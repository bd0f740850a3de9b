"""Scales of encoders' cosines, stored with the vectors of a store.

They are measured when an encoder is adopted, and read by every process after.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from hashlib import blake2b
from typing import Literal

from pydantic import ValidationError

from domain.errors import UnavailableError
from domain.model import what_is_wrong
from retriever.calibration import REFERENCE_ENCODER, Calibration, CosineScale, calibrate, scale_of
from retriever.index import Embedder, Vectors
from wiring.encoder_state import Notes

_log = logging.getLogger(__name__)


class EncoderScales:
    """Scales of one store. Each encoder has a note of its own, so that no encoder is read with another one's scale."""

    def __init__(self, notes: Callable[[], Awaitable[Notes]]) -> None:
        self._notes = notes
        self._scales: dict[str, CosineScale] = {}
        self._lock = asyncio.Lock()

    async def read(self, identity: str) -> Calibration | None:
        """Return the stored calibration of an encoder; None where there is none that can be read.

        Raises ``UnavailableError``.
        """
        text = await (await self._notes()).read(note_key(identity))
        if not text:
            return None
        try:
            return Calibration.model_validate_json(text)
        except ValidationError as error:
            _log.warning("the scale of %s cannot be read (%s): it is measured anew", identity, what_is_wrong(error))
            return None

    async def keep(self, found: Calibration) -> None:
        """Store a calibration with the vectors, for every process that opens them. Raises ``UnavailableError``."""
        await (await self._notes()).write(note_key(found.identity), found.model_dump_json())
        self._scales[found.identity] = scale_of(found)

    async def scale(self, embedder: Embedder) -> CosineScale:
        """Return an encoder's scale; measure it where none is stored, as in a store of an earlier version.

        Raises ``UnavailableError``.
        """
        identity = embedder.identity
        async with self._lock:
            if identity not in self._scales:
                found = await self.read(identity)
                if found is None:
                    found = await calibrate(embedder)
                    _log.info("the scale of %s was measured: %s", identity, found.tools)
                    await self._try_to_keep(found)
                self._scales[identity] = scale_of(found)
            return self._scales[identity]

    async def _try_to_keep(self, found: Calibration) -> None:
        """Store a calibration where possible: a search goes on where the store cannot be written."""
        try:
            await self.keep(found)
        except UnavailableError as error:
            _log.warning("the scale of %s is measured again next time: %s", found.identity, error)


class ScaledEmbedder:
    """An encoder whose scale is stored with a store's vectors."""

    def __init__(self, embedder: Embedder, scales: EncoderScales) -> None:
        self._embedder = embedder
        self._scales = scales

    @property
    def identity(self) -> str:
        """Return the encoder's identity."""
        return self._embedder.identity

    @property
    def dimension(self) -> int:
        """Return the encoder's dimension."""
        return self._embedder.dimension

    async def embed(self, texts: Sequence[str], role: Literal["query", "document"]) -> Vectors:
        """Embed texts with the encoder."""
        return await self._embedder.embed(texts, role)

    async def read(self, texts: Sequence[str]) -> list[Vectors]:
        """Read texts with the encoder."""
        return await self._embedder.read(texts)

    async def scale(self) -> CosineScale:
        """Return the scale stored with the vectors. Raises ``UnavailableError``."""
        return await self._scales.scale(self._embedder)


def with_kept_scale(embedder: Embedder, scales: EncoderScales) -> Embedder:
    """Return the encoder with its stored scale; the bundled one needs none."""
    return embedder if embedder.identity == REFERENCE_ENCODER else ScaledEmbedder(embedder, scales)


def note_key(identity: str) -> str:
    """Return the key under which the scale of an encoder is kept with the vectors."""
    return f"scale-{blake2b(identity.encode(), digest_size=6).hexdigest()}"
