"""Tools by category and tool set. Ids hold both, so that one pass over them counts all, and a selection needs no document."""

import asyncio
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from domain.tool import ToolId, make_tool_id, split_tool_id


@dataclass(frozen=True, slots=True)
class ToolsetCount:
    """A tool set, and how many tools it has."""

    toolset: str
    tools: int


@dataclass(frozen=True, slots=True)
class CategoryCount:
    """A category with its tool sets, by name."""

    category: str
    tools: int
    toolsets: tuple[ToolsetCount, ...]


def counted(ids: Sequence[ToolId]) -> list[CategoryCount]:
    """The categories of ordered ids, by name."""
    sets = Counter(tool.rpartition("/")[0] for tool in ids)
    found: dict[str, list[ToolsetCount]] = {}
    for name, tools in sets.items():
        category, toolset, _ = split_tool_id(ToolId(f"{name}/x"))
        found.setdefault(category, []).append(ToolsetCount(toolset, tools))
    return [
        CategoryCount(name, sum(one.tools for one in of), tuple(sorted(of, key=lambda one: one.toolset)))
        for name, of in sorted(found.items())
    ]


class Catalogue:
    """One process's counts, for the ids that were last asked for: as long as these are the same list, nothing is counted anew."""

    def __init__(self) -> None:
        self._ids: Sequence[ToolId] = ()
        self._counts: list[CategoryCount] = []

    async def of(self, ids: Sequence[ToolId], hidden: Collection[ToolId] = ()) -> list[CategoryCount]:
        """The categories of ordered ids, by name, without the ``hidden`` ones. ``ids`` is never changed in place."""
        counts = self._counts
        if ids is not self._ids:
            counts = await asyncio.to_thread(counted, ids)
            self._ids, self._counts = ids, counts
        return without(counts, [tool for tool in hidden if _holds(ids, tool)])


def without(counts: Sequence[CategoryCount], tools: Iterable[ToolId]) -> list[CategoryCount]:
    """The same with these, which are among them, taken away."""
    less = Counter(split_tool_id(tool)[:2] for tool in tools)
    touched = {category for category, _ in less}
    return [one for each in counts if (one := _less(each, less) if each.category in touched else each).tools]


def _less(one: CategoryCount, less: Mapping[tuple[str, str], int]) -> CategoryCount:
    left = [ToolsetCount(each.toolset, each.tools - less.get((one.category, each.toolset), 0)) for each in one.toolsets]
    sets = tuple(each for each in left if each.tools)
    return CategoryCount(one.category, sum(each.tools for each in sets), sets)


def _holds(ids: Sequence[ToolId], tool: ToolId) -> bool:
    place = bisect_left(ids, tool)
    return place < len(ids) and ids[place] == tool


def selected(ids: Sequence[ToolId], category: str = "", toolset: str = "") -> Sequence[ToolId]:
    """Those of a category, of a tool set, or of both; empty names select nothing out."""
    if category:
        named = make_tool_id(category, toolset, "") if toolset else make_tool_id(category, "", "").removesuffix("/")
        return ids[beginning_with(named.removesuffix("/"), ids)]
    if toolset:
        named = make_tool_id("", toolset, "")
        return [tool for tool in ids if named in tool and split_tool_id(tool)[1] == toolset]
    return ids


def beginning_with(name: str, ids: Sequence[ToolId]) -> slice:
    """Where those of a category or a tool set are among ordered ids: "0" comes right after "/"."""
    return slice(bisect_left(ids, f"{name}/"), bisect_left(ids, f"{name}0"))


def after(ids: Sequence[ToolId], last: str) -> Sequence[ToolId]:
    """Those behind an id, whether it is among them or not."""
    return ids[bisect_right(ids, last) :] if last else ids
