"""The gate at work on a source: in the background, so many at a time, its progress in the rows, so that a restart loses what was not done only."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from admission.gate import ToolDraft, ToolExamination, examine
from domain.errors import ConflictError, FootpathError
from domain.model import JsonObject
from domain.tool import ToolDoc, ToolId
from server.sources.checked import after_check, learnt_of
from server.sources.documents import looked_at, offered_document
from server.sources.registry import SourceRegistry, actor_of
from server.sources.states import chosen
from server.sources.store_access import StoreAccess
from server.storage.accounts import User
from server.storage.source_records import LockedSource, Source, SourceChange, StoredTool
from server.storage.storage import Storage
from wiring.gate_setup import open_gate_deps

_log = logging.getLogger(__name__)
_LEASE = timedelta(seconds=60)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be checked. ``tools``: none for all that are there. ``requests``, ``arguments``: by tool, for its search and its probe.

    ``allow_changes``: what changes something may be called as well; ``account_note`` says whose account is meant.
    """

    tools: tuple[ToolId, ...] = ()
    requests: Mapping[ToolId, tuple[str, ...]] = field(default_factory=dict[ToolId, tuple[str, ...]])
    arguments: Mapping[ToolId, JsonObject] = field(default_factory=dict[ToolId, JsonObject])
    allow_changes: bool = False
    account_note: str = ""


class SourceChecker:
    """Those of one process, which is called ``worker``. Made by :func:`checking` only."""

    def __init__(self, storage: Storage, registry: SourceRegistry, access: StoreAccess, worker: str) -> None:
        self._storage = storage
        self._registry = registry
        self._access = access
        self._most = access.settings.author_checks
        self._turns = asyncio.Semaphore(access.settings.checks_at_once)
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self.name = worker

    async def start(self, source_id: str, user: User, wanted: Wanted) -> Source:
        """Begin; the source tells how far it is. Raises as :meth:`server.storage.sources.SourceChecks.begin`, and ``NotFoundError`` for a tool that is not there."""
        source = await self._registry.get(source_id, user)
        tools = await self._storage.sources.list_tools(source_id)
        there = LockedSource(source, {one.tool: one for one in tools if not one.gone}, None, 0)
        kept = list(chosen(there, wanted.tools).values())
        if not kept:
            raise ConflictError("this source has no tools to check: have it read again")
        await self._storage.source_checks.begin(source_id, self.name, _LEASE, len(kept), self._most)
        task = asyncio.create_task(self._run(source, kept, user, wanted))
        self._tasks[source_id] = task
        task.add_done_callback(lambda _: self._tasks.pop(source_id, None))
        return await self._registry.get(source_id, user)

    async def renew(self) -> None:
        """Go on holding what is under way, until cancelled."""
        while True:
            await asyncio.sleep(_LEASE.total_seconds() / 3)
            try:
                if self._tasks:
                    await self._storage.source_checks.renew(self.name, _LEASE)
                await self._storage.source_checks.abort_lost()
            except FootpathError as error:
                _log.warning("checks of sources: %s", error)

    async def settled(self) -> None:
        """When nothing is under way any more."""
        while self._tasks:
            await asyncio.wait(list(self._tasks.values()))

    async def close(self) -> None:
        """What is under way stops, and says so; where the rows cannot be reached, another process says it when the lease has ended."""
        for task in list(self._tasks.values()):
            task.cancel()
        await self.settled()
        try:
            await self._storage.source_checks.abort_lost([self.name])
        except FootpathError as error:
            _log.warning("checks of sources: %s", error)

    async def _run(self, source: Source, kept: Sequence[StoredTool], user: User, wanted: Wanted) -> None:
        trouble = ""
        try:
            async with self._turns:
                done = await self._examined(source, kept, user, wanted)
                await self._registry.take(
                    source.id, actor_of(user), lambda _: SourceChange("checked", named_tools=done, is_undoable=False)
                )
        except FootpathError as error:
            _log.warning("the check of source %s stopped: %s", source.id, error)  # where a store is, is not for users
            trouble = f"the check stopped: {error.public_message}"
        except Exception:  # noqa: BLE001  # told in the row; a defect of ours must not leave it as being checked
            _log.exception("the check of source %s failed", source.id)
            trouble = "the check stopped by a fault of this server; its log says which"
        await self._storage.source_checks.finish(source.id, self.name, trouble)

    async def _examined(
        self, source: Source, kept: Sequence[StoredTool], user: User, wanted: Wanted
    ) -> tuple[ToolId, ...]:
        container = await self._access.container()
        secrets = await self._access.secrets(source, user.id)
        by_id = {one.tool: one for one in kept}
        docs = {one.tool: offered_document(one, source.id) for one in kept}
        drafts = [
            ToolDraft(doc, wanted.requests.get(tool, ()), wanted.arguments.get(tool)) for tool, doc in docs.items()
        ]
        done: list[ToolId] = []
        offered = [one.tool for one in await self._storage.sources.list_tools(source.id) if one.offer is not None]
        deps = open_gate_deps(
            container, secrets, own_tools=offered, declared=source.base_url or source.address, keys_of=source.keys_of,
            allow_changes=wanted.allow_changes, account_note=wanted.account_note,
            hidden=await self._access.hidden(source.author_id),
        )  # fmt: skip
        async with deps as gate:
            async for one in examine(drafts, gate):
                await self._keep(source.id, by_id[one.tool], docs[one.tool], one, user)
                done.append(one.tool)
        return tuple(done)

    async def _keep(
        self, source_id: str, before: StoredTool, given: ToolDoc, found: ToolExamination, user: User
    ) -> None:
        """What was found out about one tool, as soon as it is known."""
        examined, learnt = looked_at(before), learnt_of(given, found.learnt_doc)

        def checked(held: LockedSource) -> SourceChange | None:
            source = held.source.model_copy(update={"checked": held.source.checked + 1})
            now = held.tools.get(found.tool)
            kept = after_check(now, examined, found.findings, learnt) if now is not None else None
            if kept is None:
                return SourceChange("checked", source=source, is_recorded=False)
            out = now is not None and now.offer is not None and kept.offer is None
            what = "quarantined" if out else "checked"
            return SourceChange(
                what, kept.reason if out else "", source=source, tools={kept.tool: kept}, is_recorded=out
            )

        await self._registry.take(source_id, actor_of(user), checked)


@asynccontextmanager
async def checking(
    storage: Storage, registry: SourceRegistry, access: StoreAccess, worker: str
) -> AsyncGenerator[SourceChecker]:
    """At work until the end. What another process of before had in hand is told as broken off when its lease ends."""
    checker = SourceChecker(storage, registry, access, worker)
    renewing = asyncio.create_task(checker.renew())
    try:
        yield checker
    finally:
        renewing.cancel()
        await asyncio.gather(renewing, return_exceptions=True)
        await checker.close()
