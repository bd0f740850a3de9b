"""Files that administrators and authors send, too large for a body that is looked at: straight to the disk of the home, bounded, for a day."""

import asyncio
import re
import shutil
import time
from collections.abc import AsyncIterable
from hashlib import blake2b
from pathlib import Path

from domain.errors import BusyError, NotFoundError, UnavailableError, UsageError
from domain.model import Model
from server.storage.identifiers import generate_id
from wiring.private_files import PRIVATE_FOLDER_MODE
from wiring.settings import Settings

_ID = re.compile(r"[0-9a-f-]{36}")
_NAME = re.compile(r"[^A-Za-z0-9._-]+")
_KEPT = 86_400
"""Seconds after which what nobody has used is removed."""
_MOST = 20
"""Files that may lie in one folder at a time, unless it is said otherwise."""


class Upload(Model):
    """``name``: as it was sent, without what names of files should not hold."""

    id: str
    name: str
    bytes: int
    digest: str


class Uploads:
    """Those of a folder of the home; by itself, what administrators send."""

    def __init__(
        self, settings: Settings, folder: str = "uploads", bound: str = "upload_bytes", files: int = _MOST
    ) -> None:
        """``bound``: the setting that says how many bytes a file may have. ``files``: that may lie there at a time."""
        self._files = files
        self._folder = settings.server_home / folder
        self._bound = bound
        self._most: int = getattr(settings, bound)
        self._free = settings.free_bytes
        self._seconds = settings.body_seconds

    async def take(self, name: str, pieces: AsyncIterable[bytes], told: int | None) -> Upload:
        """Write one. ``told``: how long it is said to be. What does not come to its end leaves nothing.

        Raises:
            UsageError: it is longer than it may be, or nothing. BusyError: there are too many. UnavailableError: there is no room.
        """
        upload, name = generate_id(), _NAME.sub("_", Path(name).name)[-100:].lstrip(".") or "file"
        await asyncio.to_thread(self.tidy)
        place = await asyncio.to_thread(self._place, upload, told)
        whole = False
        try:
            size, digest = await self._write(place / name, pieces)
            whole = True
        except TimeoutError:
            raise UsageError(f"nothing came for {self._seconds:g} seconds; send it again") from None
        except OSError as error:
            raise UnavailableError(f"the file cannot be written ({error.strerror})") from error
        finally:
            if not whole:
                await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
        if not size:
            await asyncio.to_thread(shutil.rmtree, place, ignore_errors=True)
            raise UsageError("the file is empty; choose another")
        return Upload(id=upload, name=name, bytes=size, digest=digest)

    def file(self, upload: str) -> Path:
        """Where it lies. Raises ``NotFoundError``."""
        folder = self._folder / upload
        if _ID.fullmatch(upload) and folder.is_dir():
            for file in folder.iterdir():
                return file
        raise NotFoundError(
            "there is no such upload: it was removed, for it was used, or a day has gone; send it again"
        )

    def remove(self, upload: str) -> None:
        """Nobody needs it any more."""
        if _ID.fullmatch(upload):
            shutil.rmtree(self._folder / upload, ignore_errors=True)

    def named(self, name: str) -> list[str]:
        """Return the ids of those that were sent under a name, the earliest first."""
        return sorted(folder.name for folder in self._all() if (folder / name).is_file())

    def keep(self, upload: str) -> None:
        """Somebody needs it for another day. Raises ``NotFoundError``."""
        self.file(upload).parent.touch()

    def tidy(self) -> None:
        """Remove what has lain there for a day."""
        for folder in self._all():
            if folder.stat().st_mtime < time.time() - _KEPT:
                shutil.rmtree(folder, ignore_errors=True)

    async def _write(self, file: Path, pieces: AsyncIterable[bytes]) -> tuple[int, str]:
        size, digest, coming = 0, blake2b(digest_size=32), aiter(pieces)
        with await asyncio.to_thread(file.open, "xb") as opened:
            while True:
                async with asyncio.timeout(self._seconds):
                    piece = await anext(coming, None)
                if piece is None:
                    return size, digest.hexdigest()
                size += len(piece)
                if size > self._most:
                    raise self._too_long()
                digest.update(piece)
                await asyncio.to_thread(opened.write, piece)

    def _place(self, upload: str, told: int | None) -> Path:
        if told is not None and told > self._most:
            raise self._too_long()
        if len(self._all()) >= self._files:
            raise BusyError(f"{self._files} uploads wait already: use them, or wait a day")
        place = self._folder / upload
        try:
            place.mkdir(parents=True, mode=PRIVATE_FOLDER_MODE)
            free = shutil.disk_usage(place).free
        except OSError as error:
            raise UnavailableError(f"nothing can be written in the home ({error.strerror})") from error
        if free < (told or self._most) + self._free:
            shutil.rmtree(place, ignore_errors=True)
            raise UnavailableError("there is not enough room where the server's own files lie; make some, or send less")
        return place

    def _all(self) -> list[Path]:
        return list(self._folder.iterdir()) if self._folder.is_dir() else []

    def _too_long(self) -> UsageError:
        return UsageError(
            f"a file may have {self._most / 1e6:,.1f} MB (FOOTPATH_{self._bound.upper()}); send a smaller one, or several"
        )
