"""State of a store's encoders, stored with the vectors: the one in use, the one being prepared, the former one."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import Literal, Protocol

from pydantic import ValidationError

from domain.errors import UnavailableError
from domain.model import Model, describe_errors
from retriever.calibration import REFERENCE_ENCODER, CosineScale, EncoderCalibration, build_scale, get_calibration
from retriever.index import Embedder, Vectors
from wiring.encoders import EncoderChoice
from wiring.private_files import PRIVATE_FILE_MODE

_log = logging.getLogger(__name__)

STATE = "encoder"
COMPARISON = "encoder_comparison"


class EncoderVectors(Model):
    """Vectors that an encoder has made of all tools."""

    encoder: EncoderChoice
    identity: str
    dimension: int
    place: str = ""
    """Name of their folder, for a store in a folder."""
    at: datetime | None = None
    """Time since which they have their present role."""


class EncoderState(Model):
    """Which vectors are in use, in preparation and kept."""

    in_use: EncoderVectors | None = None
    """None: the encoder of the settings, as in a store that was never switched."""
    beside: EncoderVectors | None = None
    """Vectors in preparation."""
    whole: bool = False
    """True when the vectors ``beside`` cover all tools."""
    former: EncoderVectors | None = None
    """Vectors in use before the last switch, kept until they are dropped, so that one can switch back."""


class NoteStore(Protocol):
    """A few texts stored with the vectors, each replaced at once. All methods may raise ``UnavailableError``."""

    async def read(self, key: str) -> str:
        """Return the text; empty where nothing was written."""
        ...

    async def write(self, key: str, text: str) -> None:
        """Write a text, which every process reads from now on."""
        ...

    async def close(self) -> None:
        """Close the store. Idempotent."""
        ...


class FolderNotes:
    """Notes in files beside the vectors."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def read(self, key: str) -> str:
        """Return the content of the file."""
        return await asyncio.to_thread(self._read, self._root / f"{key}.json")

    async def write(self, key: str, text: str) -> None:
        """Write a new file, and put it in place of the old one."""
        await asyncio.to_thread(self._write, self._root / f"{key}.json", text)

    async def close(self) -> None:
        """Do nothing: no file is open."""

    def _read(self, file: Path) -> str:
        try:
            return file.read_text(encoding="utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError) as error:
            raise UnavailableError(f"{file} cannot be read ({error}); see who owns it, or delete it") from error

    def _write(self, file: Path, text: str) -> None:
        part_file = file.with_suffix(".part")
        try:
            part_file.touch(mode=PRIVATE_FILE_MODE)
            part_file.write_text(text, encoding="utf-8")
            part_file.replace(file)
        except OSError as error:
            raise UnavailableError(f"cannot write {file} ({error.strerror}); free some space and try again") from error


async def read_state(notes: NoteStore) -> EncoderState:
    """Read the stored state. ``UnavailableError`` where it cannot be read."""
    text = await notes.read(STATE)
    if not text:
        return EncoderState()
    try:
        return EncoderState.model_validate_json(text)
    except ValidationError as error:
        raise UnavailableError(
            f"what is kept of the store's encoder cannot be read ({describe_errors(error)}): a newer version has written it, "
            "or it is damaged; delete encoder.json of the store's folder, and the encoder of the settings counts again"
        ) from error


async def write_state(notes: NoteStore, state: EncoderState) -> None:
    """Store the state, which every process follows from now on. Raises ``UnavailableError``."""
    await notes.write(STATE, state.model_dump_json())


class EncoderScales:
    """Scales of one store. Each encoder has a note of its own, so that no encoder is read with another one's scale."""

    def __init__(self, notes: Callable[[], Awaitable[NoteStore]]) -> None:
        self._notes = notes
        self._scales: dict[str, CosineScale] = {}
        self._lock = asyncio.Lock()

    async def read(self, identity: str) -> EncoderCalibration | None:
        """Return the stored calibration of an encoder; None where there is none that can be read.

        Raises ``UnavailableError``.
        """
        text = await (await self._notes()).read(build_note_key(identity))
        if not text:
            return None
        try:
            return EncoderCalibration.model_validate_json(text)
        except ValidationError as error:
            _log.warning("the scale of %s cannot be read (%s): it is measured anew", identity, describe_errors(error))
            return None

    async def keep(self, calibration: EncoderCalibration) -> None:
        """Store a calibration with the vectors, for every process that opens them. Raises ``UnavailableError``."""
        await (await self._notes()).write(build_note_key(calibration.identity), calibration.model_dump_json())
        self._scales[calibration.identity] = build_scale(calibration)

    async def get_scale(self, embedder: Embedder) -> CosineScale:
        """Return an encoder's scale; measure it where none is stored, as in a store of an earlier version.

        Raises ``UnavailableError``.
        """
        identity = embedder.identity
        async with self._lock:
            if identity not in self._scales:
                calibration = await self.read(identity)
                if calibration is None:
                    calibration = await get_calibration(embedder)
                    _log.info("the scale of %s was measured: %s", identity, calibration.tools)
                    await self._try_to_keep(calibration)
                self._scales[identity] = build_scale(calibration)
            return self._scales[identity]

    async def _try_to_keep(self, calibration: EncoderCalibration) -> None:
        """Store a calibration where possible: a search goes on where the store cannot be written."""
        try:
            await self.keep(calibration)
        except UnavailableError as error:
            _log.warning("the scale of %s is measured again next time: %s", calibration.identity, error)


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

    async def embed_requests(self, texts: Sequence[str]) -> list[Vectors]:
        """Read texts with the encoder."""
        return await self._embedder.embed_requests(texts)

    async def get_cosine_scale(self) -> CosineScale:
        """Return the scale stored with the vectors. Raises ``UnavailableError``."""
        return await self._scales.get_scale(self._embedder)


def add_stored_scale(embedder: Embedder, scales: EncoderScales) -> Embedder:
    """Return the encoder with its stored scale; the bundled one needs none."""
    return embedder if embedder.identity == REFERENCE_ENCODER else ScaledEmbedder(embedder, scales)


def build_note_key(identity: str) -> str:
    """Return the key under which the scale of an encoder is kept with the vectors."""
    return f"scale-{blake2b(identity.encode(), digest_size=6).hexdigest()}"
