"""Stores that are exported and imported together with the graph: memories, solutions and flows.

Flows count from which earlier answers recorded calls took their arguments (:mod:`graph.dataflow`).
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from pydantic import ValidationError

from domain.errors import UnavailableError
from domain.memory import LegacyMemory, Memory, MemoryStore, read_memory
from domain.model import describe_errors
from domain.program import ProgramPlan
from domain.solution import Solution, SolutionStore
from domain.tool import ToolId
from graph.dataflow import FlowCount, FlowStore
from graph.transfer.line_fields import LineError, get_field, get_integer, get_text

_PAGE_SIZE = 500


@dataclass(frozen=True, slots=True)
class FlowKey:
    """Key of a batch of recorded calls whose flows are counted."""

    key: str


CompanionItem = Memory | Solution | FlowKey | FlowCount
AdoptPrograms = Callable[[Sequence[LegacyMemory]], Awaitable[object]]
"""Stores the programs that earlier versions kept with memories as solutions; idempotent."""


@dataclass(frozen=True, slots=True)
class CompanionStores:
    """The stores next to the graph; None for one that does not exist, which is the same as an empty one."""

    memories: MemoryStore | None = None
    flows: FlowStore | None = None
    solutions: SolutionStore | None = None
    adopt_programs: AdoptPrograms | None = None
    """Called with memories that hold programs of an earlier version."""

    async def is_empty(self) -> bool:
        """Return whether the stores hold nothing."""
        if self.memories is not None and await self.memories.count():
            return False
        if self.solutions is not None and await self.solutions.count():
            return False
        return await anext(self.list_flow_keys(), None) is None and await anext(self.list_flow_counts(), None) is None

    async def list_memories(self) -> AsyncIterator[Memory]:
        """Yield the memories in the order of their ids."""
        if self.memories is not None:
            async for memory in self.memories.stream_all():
                yield memory

    async def list_solutions(self) -> AsyncIterator[Solution]:
        """Yield the solutions in the order of their ids."""
        if self.solutions is not None:
            async for solution in self.solutions.stream_all():
                yield solution

    async def adopt(self, earlier: Sequence[LegacyMemory]) -> None:
        """Store the programs of memories as solutions. Raises ``UnavailableError`` without a store for them."""
        if self.adopt_programs is None:
            raise UnavailableError("the export holds programs, and no place was given for them")
        await self.adopt_programs(earlier)

    async def list_flow_keys(self) -> AsyncIterator[FlowKey]:
        """Yield the keys of counted flows, in order."""
        after = ""
        while self.flows is not None and (page := await self.flows.list_keys(after, _PAGE_SIZE)):
            for key in page:
                yield FlowKey(key)
            after = page[-1]

    async def list_flow_counts(self) -> AsyncIterator[FlowCount]:
        """Yield the counts of flows in the order of target, parameter, source."""
        after: tuple[str, str, str] = ("", "", "")
        while self.flows is not None and (page := await self.flows.list_counts(after, _PAGE_SIZE)):
            for flow_count in page:
                yield flow_count
            after = page[-1].sort_key

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


def build_companion_sort_key(item: CompanionItem) -> tuple[str, ...]:
    """Return the key by which items of one section are sorted."""
    match item:
        case Memory() | Solution():
            return (item.id,)
        case FlowKey():
            return (item.key,)
        case FlowCount():
            return item.sort_key


def encode_companion(item: Memory | FlowKey | FlowCount) -> tuple[str, dict[str, object]]:
    """Return kind and content of the item's line."""
    match item:
        case Memory():
            return "memory", item.model_dump(mode="json", exclude_defaults=True)
        case FlowKey():
            return "flow_key", {"key": item.key}
        case FlowCount():
            ends = {"target": item.target, "parameter": item.parameter, "source": item.source}
            return "flow", {**ends, "total": item.total, "fields": dict(item.fields)}


def decode_companion(content: dict[str, Any]) -> CompanionItem:
    """Return the item of a parsed line. Raises :class:`LineError`."""
    match content["kind"]:
        case "memory":
            return _decode_memory(content)[0]
        case "flow_key":
            return FlowKey(get_text(content, "key"))
        case "flow":
            field_counts = cast("dict[str, Any]", get_field(content, "fields", dict))
            fields = tuple((name, get_integer(field_counts, name)) for name in field_counts)
            ends = (
                ToolId(get_text(content, "target")),
                get_text(content, "parameter"),
                ToolId(get_text(content, "source")),
            )
            return FlowCount(*ends, get_integer(content, "total"), fields)
        case other:
            raise LineError(f"{other!r} is no kind that belongs here")


def decode_earlier_memory(content: dict[str, Any]) -> LegacyMemory | None:
    """Return the memory and the program of a line that an earlier version wrote; None for any other line.

    Raises :class:`LineError`.
    """
    if content["kind"] != "memory":
        return None
    memory, program = _decode_memory(content)
    return LegacyMemory(memory, program) if program is not None else None


def _decode_memory(content: dict[str, Any]) -> tuple[Memory, ProgramPlan | None]:
    """Parse a memory, and the program that an earlier version kept with it."""
    try:
        return read_memory({name: value for name, value in content.items() if name != "kind"})
    except ValidationError as error:
        raise LineError(f"no memory: {describe_errors(error)}") from error
