"""Calls that change something wait for their user, unless the tool is on the user's list."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from agent.executor import CallResult, Executor
from agent.tool_text import clean
from domain.errors import NotAllowedError
from domain.event import InputNeeded
from domain.model import JsonObject
from domain.tool import ToolDoc
from server.runs.ledger import call_key
from server.storage.runs import Run
from server.storage.storage import Storage
from server.storage.unbroken import unbroken


@dataclass(frozen=True, slots=True)
class Asks:
    """``told``: has every event that was told so far stored. ``waits``: tells the question and has the run put down."""

    told: Callable[[], Awaitable[None]]
    waits: Callable[[InputNeeded], None]


class AskingExecutor:
    """One run's, around the one that keeps the ledger. Safe calls pass.

    The others are made one after the other, so that none is under way when the run is put down to wait for its user.
    """

    def __init__(self, executor: Executor, storage: Storage, run: Run, asks: Asks) -> None:
        self.name = executor.name
        self._executor = executor
        self._storage = storage
        self._run = run
        self._asks = asks
        self._in_turn = asyncio.Lock()

    async def call(self, tool: ToolDoc, arguments: JsonObject) -> CallResult:
        """The call's result, once it is allowed. ``NotAllowedError`` where it is not."""
        if tool.safe:
            return await self._executor.call(tool, arguments)
        async with self._in_turn:
            await self._asks.told()
            await self._allowed(tool, arguments)
            return await self._executor.call(tool, arguments)

    async def _allowed(self, tool: ToolDoc, arguments: JsonObject) -> None:
        key = call_key(tool.id, arguments)
        if await unbroken(self._storage.effects.get(self._run.id, key)) is not None:
            return  # it was allowed, and begun: the ledger knows of it
        asked = await unbroken(self._storage.inputs.get(self._run.id, key))
        if asked is None and tool.id in await unbroken(self._storage.allowed_tools.all(self._run.user_id)):
            return
        reason = f"May {clean(tool.api, 80)} be called? It changes something."
        question = InputNeeded(input=key, asks="call", tool=tool.id, arguments=arguments, reason=reason)
        if await self._decided(question) != "allow":
            raise NotAllowedError("You did not allow this call, so it was not made.")

    async def _decided(self, question: InputNeeded) -> str:
        """What the user decided; where that is still open, the run is put down, and this ends by being cancelled."""
        body = question.model_dump(mode="json", include={"tool", "arguments", "reason"})
        asked = await unbroken(self._storage.inputs.ask(self._run.id, question.input, question.asks, body))
        if asked.answered_at is None:
            self._asks.waits(question)
            await asyncio.Event().wait()
        return str(cast("dict[str, Any]", asked.answer)["decision"])

    async def close(self) -> None:
        """Nothing: the executor that makes the calls belongs to all of a user's runs."""
