"""State of a store's encoders, stored with the vectors: the one in use, the one being prepared, the former one."""

import asyncio
from datetime import datetime
from pathlib import Path
from typing import Protocol

from pydantic import ValidationError

from domain.errors import UnavailableError
from domain.model import Model, what_is_wrong
from wiring.encoder_choices import EncoderChoice
from wiring.private_files import FILE

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


class Notes(Protocol):
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
        part = file.with_suffix(".part")
        try:
            part.touch(mode=FILE)
            part.write_text(text, encoding="utf-8")
            part.replace(file)
        except OSError as error:
            raise UnavailableError(f"cannot write {file} ({error.strerror}); free some space and try again") from error


async def read_state(notes: Notes) -> EncoderState:
    """Read the stored state. ``UnavailableError`` where it cannot be read."""
    text = await notes.read(STATE)
    if not text:
        return EncoderState()
    try:
        return EncoderState.model_validate_json(text)
    except ValidationError as error:
        raise UnavailableError(
            f"what is kept of the store's encoder cannot be read ({what_is_wrong(error)}): a newer version has written it, "
            "or it is damaged; delete encoder.json of the store's folder, and the encoder of the settings counts again"
        ) from error


async def write_state(notes: Notes, state: EncoderState) -> None:
    """Store the state, which every process follows from now on. Raises ``UnavailableError``."""
    await notes.write(STATE, state.model_dump_json())
