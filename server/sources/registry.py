"""The sources of a server: who may see and change which, and the steps of their lives."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import orjson

from domain.errors import BrokenInputError, ConflictError, FootpathError, NotFoundError, UnavailableError, UsageError
from domain.tool import ToolId
from domain.tool_source import Corrections, OperationChoice, OperationOutline, parse_source_id
from graph.importers.mcp import McpSource
from server.sources import states
from server.sources.documents import digest
from server.sources.reading import ReadSource, outline_openapi, read_openapi
from server.sources.readings import changes_of, notes_of, read_again
from server.sources.sent_documents import SentDocuments
from server.sources.store_access import StoreAccess
from server.storage.accounts import User
from server.storage.source_records import (
    Actor,
    LockedSource,
    OfferChange,
    Source,
    SourceChange,
    SourceReading,
    StoredTool,
)
from server.storage.storage import Storage
from wiring.mcp_listing import build_mcp_url, list_mcp_server

Follow = Callable[[OfferChange], Awaitable[None]]
"""Told after each step what is offered now, and what is not any more."""
_REASONS = 5
"""Of what cannot be called, so many reasons are told where nothing can be."""
Reader = Callable[[Source], Awaitable[ReadSource]]


@dataclass(frozen=True, slots=True)
class Bounds:
    """``sources``: of one author; ``tools``: of one source."""

    sources: int
    tools: int


class SourceRegistry:
    """What a user may not know of is not found: an author has their own, administrators have all."""

    def __init__(self, storage: Storage, access: StoreAccess, follow: Follow) -> None:
        self._storage = storage
        self._access = access
        self._follow = follow
        chosen = access.settings
        self._bounds = Bounds(chosen.author_sources, chosen.source_tools)
        self.documents = SentDocuments(chosen)

    async def all(self, user: User) -> list[Source]:
        """Those that this user may change."""
        return await self._storage.sources.list_all(None if user.role == "admin" else user.id)

    async def get(self, source_id: str, user: User, *, removed: bool = False) -> Source:
        """One of them. ``removed``: or one that was, for an administrator."""
        found = await self._storage.sources.get(source_id, removed=removed and user.role == "admin")
        if found is None or (user.role != "admin" and found.author_id != user.id):
            raise NotFoundError("you have no such source")
        return found

    async def add(self, source: Source, read: ReadSource, user: User) -> Source:
        """A new one, with its tools as drafts. ``ConflictError``: as many as there may be."""
        if not source.trouble:
            self.check_size(read)
        at = source.created_at
        reading = SourceReading(
            version=1, digest=digest(read.raw), documents=read.docs, skipped=read.skipped, at=at, raw=read.raw
        )
        source = source.model_copy(update={"notes": notes_of(read)})
        drafts = [StoredTool(tool=doc.id, original=doc) for doc in read.docs]
        return await self._storage.sources.add(source, drafts, reading, actor_of(user), self._bounds.sources)

    def check_size(self, read: ReadSource) -> None:
        """``BrokenInputError`` where a source would have more tools than it may, or none."""
        if len(read.docs) > self._bounds.tools:
            raise BrokenInputError(
                f"holds {len(read.docs)} operations, and a source may have {self._bounds.tools}; leave out some of them, "
                "split it into several sources, or have FOOTPATH_SOURCE_TOOLS raised",
                file="the document",
            )
        if not read.docs:
            why = " ".join(f"({number}) {one}." for number, one in enumerate(read.skipped[:_REASONS], start=1))
            more = f" And {len(read.skipped) - _REASONS} more." if len(read.skipped) > _REASONS else ""
            told = f"; correct it and give it again: {why}{more}" if why else ""
            raise BrokenInputError(f"holds no operation that can be called{told}", file="the document")

    async def read(self, source: Source, document: bytes | None = None) -> ReadSource:
        """What a source says now, or this document in its place.

        Raises ``BrokenInputError``, ``ForbiddenAddressError``, ``SecretError`` and ``UnavailableError``, which say what to do.
        """
        if source.kind == "openapi":
            if document is None and not source.address:
                raise UsageError("this source has no address to be read from; send its document")
            return await read_openapi(self._access.settings, source, document)
        if source.kind == "form":
            raise UsageError("the tools of this source are written by hand; send them")
        if document is not None:
            raise UsageError("what an MCP server offers is asked of it; send no document")
        container = await self._access.container()
        secrets = await self._access.secrets(source, None)
        url = build_mcp_url(source.address, source.command)
        asked = McpSource(url, source.category, source.toolset, credentials=source.credentials, name=source.name)
        listing = await list_mcp_server(container, asked, secrets, f"source:{source.id}")
        raw = orjson.dumps([doc.model_dump(mode="json") for doc in listing.docs])
        return ReadSource(raw, listing.docs, listing.skipped)

    async def outline(self, address: str, document: bytes | None = None) -> OperationOutline:
        """List the operations of a document, or of the one at an address. Raises as :meth:`read`."""
        return await outline_openapi(self._access.settings, address, document)

    async def outline_of(self, source: Source) -> OperationOutline:
        """List the operations of a source's document. Raises as :meth:`read`."""
        if source.kind != "openapi":
            raise UsageError("this source has no document, and so no operations to choose from")
        return await self.outline(source.address, await self._last_document(source))

    async def choose(self, source_id: str, user: User, operations: OperationChoice) -> Source:
        """Take other operations of a source's document, which is read again. Raises as :meth:`read`; the source then stays as it is."""
        source = await self.get(source_id, user)
        if source.kind != "openapi":
            raise UsageError("this source has no document, and so no operations to choose from")
        document = await self._last_document(source)
        return await self.refresh(source_id, actor_of(user), lambda one: self.read(one, document), operations)

    async def _last_document(self, source: Source) -> bytes | None:
        """Return the document of a source without an address, as it was last given; None where there is an address to fetch it from."""
        if source.address:
            return None
        reading = await self._storage.sources.get_reading(source.id, source.version)
        if reading is None or not reading.raw:
            raise UsageError(
                "the document of this source is not kept any more; have it read again with its document first"
            )
        return reading.raw

    async def refresh(
        self, source_id: str, actor: Actor, read: Reader, operations: OperationChoice | None = None
    ) -> Source:
        """Have it read again and compared. What nobody has looked at since it changed is not offered. ``operations``: taken from now on.

        Raises as :meth:`read`; the source then tells why it could not be read, but where only the choice is at fault.
        """
        source = await self._storage.sources.get(source_id)
        if source is None:
            raise NotFoundError("there is no such source")
        if operations is not None:
            source = source.model_copy(update={"operations": operations})
        try:
            found = await read(source)
            self.check_size(found)
        except FootpathError as error:
            if operations is None:
                await self._storage.source_watches.record_reading(source_id, error.public_message[:1000])
            raise
        before = await self._storage.sources.list_tools(source_id)
        changes = await asyncio.to_thread(changes_of, before, found.docs)
        known, at = _versions(before), self._storage.sources.get_time()

        def again(held: LockedSource) -> SourceChange | None:
            tools = list(held.tools.values())
            latest = changes if _versions(tools) == known else changes_of(tools, found.docs)
            return read_again(held, found, at, latest, operations)

        followed = await self.take(source_id, actor, again)
        await self._storage.source_watches.record_reading(source_id, "")
        return followed.source

    async def change(self, source_id: str, user: User, values: dict[str, object]) -> Source:
        """Its name, who may use it, how it is watched."""

        def changed(held: LockedSource) -> SourceChange | None:
            source = Source.model_validate(held.source.model_dump() | values)
            said = ", ".join(sorted(name for name in values if getattr(source, name) != getattr(held.source, name)))
            return SourceChange("changed", said, source=source, is_undoable=False) if said else None

        return (await self.step(source_id, user, changed)).source

    async def remove(self, source_id: str, user: User) -> None:
        """Withdraw its tools; what was done with it stays known to administrators."""
        at = self._storage.sources.get_time()

        def removed(held: LockedSource) -> SourceChange:
            done = states.removed(held)
            gone = held.source.model_copy(update={"removed_at": at, "watch_minutes": 0})
            return SourceChange("removed", source=gone, tools=done.tools, is_undoable=False)

        await self.step(source_id, user, removed)

    async def correct(
        self, source_id: str, tool: ToolId, said: Corrections, user: User, reason: str = ""
    ) -> StoredTool:
        """Say something in place of a tool's document."""
        await self.step(source_id, user, lambda held: states.corrected_step(held, tool, said, reason))
        return await self.tool(source_id, tool)

    async def admit(self, source_id: str, tools: Sequence[ToolId], user: User, despite: str = "") -> list[StoredTool]:
        """Offer these, or all that passed."""
        actor = actor_of(user)
        await self.get(source_id, user)
        await self._check_imported(tools or [one.tool for one in await self._storage.sources.list_tools(source_id)])
        await self.step(source_id, user, lambda held: states.admitted(held, tools, actor, despite))
        return await self._storage.sources.list_tools(source_id)

    async def _check_imported(self, tools: Sequence[ToolId]) -> None:
        """``ConflictError`` where an import has put one of these ids into the store: no source takes it over."""
        try:
            there = await (await self._access.container()).graph.get_tools(tools)
        except UnavailableError:
            return  # there is no store yet, or it is out of reach: what an import has is left to it when the store follows
        if taken := next((one.id for one in there.values() if parse_source_id(one.source) is None), None):
            raise ConflictError(
                f"{taken} is a tool of this server's own store already; add the source under another category or tool set"
            )

    async def quarantine(self, source_id: str, tools: Sequence[ToolId], user: User, reason: str) -> list[StoredTool]:
        """Keep these out."""
        actor = actor_of(user)
        await self.step(source_id, user, lambda held: states.quarantined(held, tools, actor, reason))
        return await self._storage.sources.list_tools(source_id)

    async def undo(self, source_id: str, user: User) -> list[StoredTool]:
        """Undo the latest step that can be."""
        actor = actor_of(user)
        await self.step(source_id, user, lambda held: states.undone(held, actor))
        return await self._storage.sources.list_tools(source_id)

    async def looked(self, source_id: str, user: User) -> Source:
        """The changes of its tools have been looked at."""

        def seen(held: LockedSource) -> SourceChange | None:
            if not held.source.changes:
                return None
            tools = tuple(dict.fromkeys(one.tool for one in held.source.changes))
            return SourceChange(
                "looked", source=held.source.model_copy(update={"changes": ()}), named_tools=tools, is_undoable=False
            )

        return (await self.step(source_id, user, seen)).source

    async def tool(self, source_id: str, tool: ToolId) -> StoredTool:
        """One of its tools."""
        if (found := await self._storage.sources.get_tool(source_id, tool)) is None:
            raise NotFoundError(f"this source has no tool {tool[:200]}")
        return found

    async def step(
        self, source_id: str, user: User, work: Callable[[LockedSource], SourceChange | None]
    ) -> OfferChange:
        """Take a step with one that this user may change, and have the graph follow."""
        await self.get(source_id, user)
        return await self.take(source_id, actor_of(user), work)

    async def take(
        self, source_id: str, actor: Actor, work: Callable[[LockedSource], SourceChange | None]
    ) -> OfferChange:
        """Take a step, and have the graph follow. The rows are written first: they say what is offered, whatever happens to the graph."""
        followed = await self._storage.sources.apply_step(source_id, actor, work)
        if followed.offered or followed.withdrawn:
            await self._follow(followed)
        return followed


def _versions(tools: Sequence[StoredTool]) -> dict[ToolId, tuple[int, bool]]:
    return {one.tool: (one.version, one.gone) for one in tools}


def actor_of(user: User) -> Actor:
    """Who does something."""
    return Actor(user_id=user.id, name=user.name, admin=user.role == "admin")
