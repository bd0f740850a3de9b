"""In a large store an admitted tool is linked with what is most like it; once nothing has changed for a while, its links are computed whole."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection

from domain.errors import FootpathError
from domain.tool import ToolId
from wiring.container import Container
from wiring.links import find_partly_linked, link_fully

_log = logging.getLogger(__name__)
QUIET = 30.0
"""Seconds without a change after which all tools are read for it, which takes a minute of computing at 45,000."""


class WholeLinks:
    """One process's. ``partly``: the offered tools whose links are not whole yet, as far as this process knows."""

    def __init__(self, container: Callable[[], Awaitable[Container]], quiet: float = QUIET) -> None:
        self._container = container
        self._quiet = quiet
        self._offered: tuple[ToolId, ...] = ()
        self._changes = 0
        self._task: asyncio.Task[None] | None = None
        self.partly: frozenset[ToolId] = frozenset()

    async def after(self, offered: Collection[ToolId]) -> None:
        """The graph has followed: these are offered now. Raises ``UnavailableError``."""
        self._offered, self._changes = tuple(offered), self._changes + 1
        self.partly = await find_partly_linked(await self._container(), self._offered)
        if self.partly and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._until_whole())

    async def _until_whole(self) -> None:
        try:
            while self.partly:
                seen = self._changes
                await asyncio.sleep(self._quiet)
                if seen == self._changes:
                    await link_fully(await self._container())
                    self.partly = await find_partly_linked(await self._container(), self._offered)
                    if self.partly and seen == self._changes:
                        _log.warning("links of %d admitted tools stay in part until the next build", len(self.partly))
                        return
        except FootpathError as error:
            _log.warning("links of admitted tools are not whole yet, and wait for the next change or build: %s", error)
        except Exception:  # noqa: BLE001  # a defect of ours must not end the server's own work; the tools are offered all the same
            _log.exception("links of admitted tools could not be computed whole")

    async def close(self) -> None:
        """What is under way stops; the next process, or build, goes on."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
