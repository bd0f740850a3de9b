"""Who lets calls be made: asked about each with where its values really come from, before anything is sent."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from agent.execution.executor import CallResult, Executor
from agent.execution.provenance import Judged, Provenance
from domain.errors import NotAllowedError
from domain.model import JsonObject
from domain.origin import Crossing
from domain.tool import ToolDoc

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Intended:
    """A call that is about to be made. ``judged``: where its arguments come from."""

    tool: ToolDoc
    arguments: JsonObject
    judged: Judged = field(default_factory=Judged)


class Leave(Protocol):
    """A run's user, or a setting in the user's stead."""

    def to_make(self, call: Intended) -> AbstractAsyncContextManager[None]:
        """Held while the call is made. ``NotAllowedError`` where it must not be."""
        ...


class LeaveAskingExecutor:
    """One run's, around the one that makes its calls."""

    def __init__(self, executor: Executor, leave: Leave, provenance: Provenance) -> None:
        self.name = executor.name
        self._executor = executor
        self._leave = leave
        self._provenance = provenance

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """The call's result, once it is allowed. ``NotAllowedError`` where it is not."""
        judged = await asyncio.to_thread(self._provenance.judged, tool, arguments)  # long answers are read anew
        async with self._leave.to_make(Intended(tool, arguments, judged)):
            return await self._executor.call(tool, arguments)

    async def close(self) -> None:
        """Close the executor that makes the calls."""
        await self._executor.close()


class NoCrossing:
    """Nobody can be asked, so no value of a host's response goes to another host."""

    @asynccontextmanager
    async def to_make(self, call: Intended) -> AsyncGenerator[None]:
        """``NotAllowedError`` names the hosts, and the setting that lets all values go."""
        for crossing in call.judged.crossings:
            _log.warning("%s", refused(crossing))
            raise NotAllowedError(
                f"{refused(crossing)} FOOTPATH_FLOWS=allow lets such values go; at a server, its user is asked."
            )
        yield


def refused(crossing: Crossing) -> str:
    """That a value does not go where a call would send it."""
    return (
        f"The value of {crossing.parameter} stands in an answer of {crossing.source} and was not sent to {crossing.target}, "
        "which is another host."
    )
