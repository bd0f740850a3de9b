"""The store follows the rows: what they say is offered is where requests find it, and nothing else of any source is."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager

from domain.errors import FootpathError
from domain.tool import ToolId
from server.storage.sources.models import Followed
from server.storage.storage import Storage
from wiring.admitting import admit, reconcile, withdraw
from wiring.container import Container

_log = logging.getLogger(__name__)
PAUSE = 30.0
"""Seconds after which a store that was out of reach is tried again."""


class StoreFollower:
    """Those of one process. Whatever order steps come in, a tool ends as its row says; where the store is out of reach, as soon as it is back."""

    def __init__(self, storage: Storage, container: Callable[[], Awaitable[Container]]) -> None:
        self._storage = storage
        self._container = container
        self._lock = asyncio.Lock()
        self._late = False

    async def follow(self, followed: Followed) -> None:
        """After a step."""
        tools = {*(doc.id for doc in followed.offered), *followed.withdrawn}
        try:
            await self._bring(tools)
        except FootpathError as error:
            self._late = True
            _log.warning("the store does not follow the tools of sources yet: %s", error)

    async def _bring(self, tools: Collection[ToolId]) -> None:
        container = await self._container()
        async with self._lock:  # the rows are read within it, so that the latest word is the last that is done
            now = [one.doc for one in await self._storage.offered_tools.of(tools)]
            gone = set(tools) - {doc.id for doc in now}
            if gone:
                await withdraw(container, sorted(gone))
            if now:
                await admit(container, now)

    async def catch_up(self) -> bool:
        """Bring the store to what the rows say, whatever was broken off. False: it is out of reach."""
        known = await self._storage.offered_tools.known()
        if not known:
            self._late = False
            return True
        try:
            container = await self._container()
            async with self._lock:
                offered = {one.doc.id: one.doc for one in await self._storage.offered_tools.all()}
                await reconcile(container, offered, known)
        except FootpathError as error:
            _log.warning("the store does not follow the tools of sources yet: %s", error)
            return False
        self._late = False
        return True

    async def keep_up(self, pause: float) -> None:
        """At once, and whenever a step could not be followed; until cancelled."""
        self._late = True
        while True:
            try:
                if self._late:
                    await self.catch_up()
            except Exception:  # noqa: BLE001  # a defect of ours must not end it for good
                _log.exception("the tools of sources could not be followed")
            await asyncio.sleep(pause)


@asynccontextmanager
async def following(
    storage: Storage, container: Callable[[], Awaitable[Container]], pause: float = PAUSE
) -> AsyncGenerator[StoreFollower]:
    """At work until the end."""
    follower = StoreFollower(storage, container)
    task = asyncio.create_task(follower.keep_up(pause))
    try:
        yield follower
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
