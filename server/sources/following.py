"""The graph follows the rows: after each step of a source, when the server starts, and before a run where another process took a step."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from domain.errors import FootpathError
from server.sources.whole_links import WholeLinks
from server.storage.database import run_to_completion
from server.storage.source_records import OfferChange
from server.storage.storage import Storage
from wiring.container import Container
from wiring.tool_admission import reconcile

_log = logging.getLogger(__name__)


class GraphFollower:
    """One process's. ``container``: the whole one, whoever asks.

    The first time, and after a change that broke off, everything that is offered is looked up in the vectors and words too; later the graph's
    documents tell enough.
    """

    def __init__(self, storage: Storage, container: Callable[[], Awaitable[Container]]) -> None:
        self._rows = storage.source_offers
        self._container = container
        self._lock = asyncio.Lock()
        self._followed = ""
        self._whole = False
        self.links = WholeLinks(container)

    async def follow(self) -> None:
        """Bring the graph to what the rows say, where they have changed. Raises ``UnavailableError``; the next one tries again."""
        if await run_to_completion(self._rows.get_revision()) == self._followed:
            return
        async with self._lock:
            revision = await run_to_completion(self._rows.get_revision())
            if revision == self._followed:
                return
            offered, known = (
                await run_to_completion(self._rows.list_all()),
                await run_to_completion(self._rows.list_known_ids()),
            )
            whole, self._whole = self._whole, False
            if known:
                docs = {one.doc.id: one.doc for one in offered}
                await reconcile(await self._container(), docs, known, check_indexes=not whole)
                await self.links.after(docs)
            self._followed, self._whole = revision, True

    async def after(self, step: OfferChange) -> None:
        """After a step. The rows are written: what cannot be followed now is hidden, or not offered yet, and is followed later."""
        try:
            await self.follow()
        except FootpathError as error:
            _log.warning("the graph does not follow the source %s yet: %s", step.source.id, error)

    async def at_start(self) -> None:
        """Where there is a store already; where it cannot be used, the first run that can be made follows."""
        try:
            await self.follow()
        except FootpathError as error:
            _log.warning("the graph does not follow the sources of tools yet: %s", error)
