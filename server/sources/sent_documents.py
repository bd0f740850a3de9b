"""Documents that authors send by themselves, before the source that is made of them: too large for a body that is looked at."""

import asyncio
from collections.abc import AsyncIterable

from domain.errors import NotFoundError
from server.data.uploads import Upload, Uploads
from server.storage.accounts import User
from wiring.settings import Settings

_KEPT = 2
"""Of each author; a further one takes the place of the earliest."""
_MOST = 200
"""Of all authors; a server's disk has to have room for each besides (``FOOTPATH_FREE_BYTES``)."""


class SentDocuments:
    """Those in the home of a server. Each lies under its author's id, and is nobody else's; after a day it is removed."""

    def __init__(self, settings: Settings) -> None:
        self._uploads = Uploads(settings, "documents", "source_bytes", _MOST)

    async def take(self, user: User, pieces: AsyncIterable[bytes], length: int | None) -> Upload:
        """Keep a document as it comes. Raises as :meth:`server.data.uploads.Uploads.take`."""
        for old in (await asyncio.to_thread(self._uploads.named, user.id))[: 1 - _KEPT]:
            await asyncio.to_thread(self._uploads.remove, old)
        return await self._uploads.take(user.id, pieces, length)

    async def read(self, user: User, document: str) -> bytes:
        """Return a document of this user's. Raises ``NotFoundError``."""
        return await asyncio.to_thread(self._read, user, document)

    async def of(self, user: User, text: str | None, document: str | None) -> bytes | None:
        """Return the document that a request gives, as text or by the id of one that was sent; None where it gives none."""
        if document is not None:
            return await self.read(user, document)
        return text.encode() if text else None

    async def remove(self, document: str) -> None:
        """Remove a document that was used."""
        await asyncio.to_thread(self._uploads.remove, document)

    def _read(self, user: User, document: str) -> bytes:
        if document not in self._uploads.named(user.id):
            raise NotFoundError("there is no such document: it was used, or a day has gone; send it again")
        return self._uploads.file(document).read_bytes()
