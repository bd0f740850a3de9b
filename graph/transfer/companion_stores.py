"""Stores next to the graph that move with it: memories, solutions, and flows of recorded calls.

Flows count where the arguments of recorded calls came from.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from domain.errors import UnavailableError
from domain.memory import EarlierMemory, Memory, MemoryStore, read_memory
from domain.model import what_is_wrong
from domain.program import ProgramPlan
from domain.solution import Solution, SolutionStore
from domain.tool import ToolId
from graph.dataflow import FlowCount, FlowStore
from graph.transfer.fields import LineError, field, text, whole

_PAGE = 500


@dataclass(frozen=True, slots=True)
class FlowKey:
    """Key under which recorded calls were searched for flows."""

    key: str


CompanionItem = Memory | Solution | FlowKey | FlowCount
Adopts = Callable[[Sequence[EarlierMemory]], Awaitable[object]]
"""Makes solutions of the programs that earlier versions kept with memories; idempotent."""


@dataclass(frozen=True, slots=True)
class CompanionStores:
    """The stores next to the graph; None for one that does not exist, which is the same as an empty one."""

    memories: MemoryStore | None = None
    flows: FlowStore | None = None
    solutions: SolutionStore | None = None
    adopts: Adopts | None = None
    """Called with memories that hold programs of an earlier version."""

    async def empty(self) -> bool:
        """Return whether the stores hold nothing."""
        if self.memories is not None and await self.memories.count():
            return False
        if self.solutions is not None and await self.solutions.count():
            return False
        return await anext(self.flow_keys(), None) is None and await anext(self.flow_counts(), None) is None

    async def all_memories(self) -> AsyncIterator[Memory]:
        """Yield the memories in the order of their ids."""
        if self.memories is not None:
            async for one in self.memories.all():
                yield one

    async def all_solutions(self) -> AsyncIterator[Solution]:
        """Yield the solutions in the order of their ids."""
        if self.solutions is not None:
            async for one in self.solutions.all():
                yield one

    async def adopt(self, earlier: Sequence[EarlierMemory]) -> None:
        """Keep the programs of memories as solutions. Raises ``UnavailableError`` without a store for them."""
        if self.adopts is None:
            raise UnavailableError("the export holds programs, and no place was given for them")
        await self.adopts(earlier)

    async def flow_keys(self) -> AsyncIterator[FlowKey]:
        """Yield the keys of counted flows, in order."""
        after = ""
        while self.flows is not None and (page := await self.flows.keys(after, _PAGE)):
            for key in page:
                yield FlowKey(key)
            after = page[-1]

    async def flow_counts(self) -> AsyncIterator[FlowCount]:
        """Yield the counts of flows in the order of target, parameter, source."""
        after: tuple[str, str, str] = ("", "", "")
        while self.flows is not None and (page := await self.flows.counts(after, _PAGE)):
            for one in page:
                yield one
            after = page[-1].place

    async def write(self, chunk: Sequence[CompanionItem]) -> None:
        """Write items of one kind. Raises ``UnavailableError`` without a store for them."""
        match chunk[0]:
            case Memory():
                store = self.memories
            case Solution():
                store = self.solutions
            case _:
                store = self.flows
        if store is None:
            raise UnavailableError("the export holds memories, solutions or flows, and no place was given for them")
        match chunk[0]:
            case Memory():
                await cast("MemoryStore", store).add(cast("Sequence[Memory]", chunk))
            case Solution():
                await cast("SolutionStore", store).put(cast("Sequence[Solution]", chunk))
            case FlowKey():
                keys = [item.key for item in cast("Sequence[FlowKey]", chunk)]
                await cast("FlowStore", store).restore(keys, [])
            case FlowCount():
                await cast("FlowStore", store).restore([], cast("Sequence[FlowCount]", chunk))


def place_of(item: CompanionItem) -> tuple[str, ...]:
    """Return the key by which items of one section are sorted."""
    match item:
        case Memory() | Solution():
            return (item.id,)
        case FlowKey():
            return (item.key,)
        case FlowCount():
            return item.place


def content_of(item: Memory | FlowKey | FlowCount) -> tuple[str, dict[str, object]]:
    """Return kind and content of the item's line."""
    match item:
        case Memory():
            return "memory", item.model_dump(mode="json", exclude_defaults=True)
        case FlowKey():
            return "flow_key", {"key": item.key}
        case FlowCount():
            ends = {"target": item.target, "parameter": item.parameter, "source": item.source}
            return "flow", {**ends, "total": item.total, "fields": dict(item.fields)}


def item_of(content: dict[str, Any]) -> CompanionItem:
    """Return the item of a parsed line. Raises :class:`LineError`."""
    match content["kind"]:
        case "memory":
            return _memory(content)[0]
        case "flow_key":
            return FlowKey(text(content, "key"))
        case "flow":
            counted = cast("dict[str, Any]", field(content, "fields", dict))
            fields = tuple((name, whole(counted, name)) for name in counted)
            ends = ToolId(text(content, "target")), text(content, "parameter"), ToolId(text(content, "source"))
            return FlowCount(*ends, whole(content, "total"), fields)
        case other:
            raise LineError(f"{other!r} is no kind that belongs here")


def earlier_of(content: dict[str, Any]) -> EarlierMemory | None:
    """Return the memory of a parsed line with the program that an earlier version kept there, or None without one.

    Raises :class:`LineError`.
    """
    if content["kind"] != "memory":
        return None
    memory, program = _memory(content)
    return EarlierMemory(memory, program) if program is not None else None


def _memory(content: dict[str, Any]) -> tuple[Memory, ProgramPlan | None]:
    """Parse a memory, and the program that an earlier version kept with it."""
    try:
        return read_memory({name: value for name, value in content.items() if name != "kind"})
    except ValidationError as error:
        raise LineError(f"no memory: {what_is_wrong(error)}") from error
