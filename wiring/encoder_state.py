"""Which encoder a store is searched with, which one's vectors are made beside it, and which one was used before: kept with the vectors."""

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
    """The vectors that an encoder has made of all tools. ``place``: of a store in a folder, the folder's name. ``at``: since when they are what they are."""

    encoder: EncoderChoice
    identity: str
    dimension: int
    place: str = ""
    at: datetime | None = None


class EncoderState(Model):
    """``in_use`` None: what the settings name, as in a store that was never switched. ``whole``: those ``beside`` are of all tools.

    ``former``: what was in use before the last switch, kept until it is dropped, so that one can switch back.
    """

    in_use: EncoderVectors | None = None
    beside: EncoderVectors | None = None
    whole: bool = False
    former: EncoderVectors | None = None


class Notes(Protocol):
    """A few texts kept with the vectors, each replaced at once. All methods may raise ``UnavailableError``."""

    async def read(self, key: str) -> str:
        """Empty where nothing was written."""
        ...

    async def write(self, key: str, text: str) -> None:
        """Every process reads it from now on."""
        ...

    async def close(self) -> None:
        """Idempotent."""
        ...


class FolderNotes:
    """Files beside the vectors."""

    def __init__(self, root: Path) -> None:
        self._root = root

    async def read(self, key: str) -> str:
        """What the file holds."""
        return await asyncio.to_thread(self._read, self._root / f"{key}.json")

    async def write(self, key: str, text: str) -> None:
        """Beside it, and then in its place."""
        await asyncio.to_thread(self._write, self._root / f"{key}.json", text)

    async def close(self) -> None:
        """Nothing is open."""

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
    """What is kept. ``UnavailableError`` where it cannot be read."""
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
    """From now on every process goes by it. Raises ``UnavailableError``."""
    await notes.write(STATE, state.model_dump_json())
