"""An administrator's word on a tool or on an edge: put into the graph, where runs heed it from the next one on, and kept with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from domain.errors import ConflictError, UsageError
from domain.source import source_id_of
from domain.tool import ToolDoc, ToolId
from graph.facts import Mark
from graph.links import LinkedGraph
from server.storage.tool_marks import MarkKind, MarkWord, NewToolMark, ToolMark, ToolMarks

WORDS: Mapping[MarkKind, tuple[MarkWord, ...]] = {
    "edge": ("pin", "mute", "ban", "clear"),
    "tool": ("mute", "ban", "clear"),
    "effect": ("reads", "changes", "clear"),
}
_EDGE: Mapping[MarkWord, Mark] = {"pin": "pin", "mute": "mute", "ban": "ban"}


@dataclass(frozen=True, slots=True)
class Author:
    """Who says it."""

    id: str
    name: str


async def mark(said: NewToolMark, doc: ToolDoc, graph: LinkedGraph, marks: ToolMarks, by: Author) -> None:
    """Heed it and keep it. ``UsageError``: this cannot be said of it, or the edge's other end is no node. ``ConflictError``: it is said elsewhere."""
    if said.mark not in WORDS[said.kind]:
        raise UsageError(f"of {said.kind} one says {', '.join(WORDS[said.kind])}")
    if (said.kind == "edge") != bool(said.target):
        raise UsageError("name the target of an edge, and of nothing else")
    if said.kind == "effect" and source_id_of(doc.source):
        raise ConflictError("its source says what calling it does: correct that on the page of the source")
    match said.kind:
        case "edge":
            await graph.mark(doc.id, ToolId(said.target), _EDGE.get(said.mark))
        case "effect":
            await graph.put_tools([doc.model_copy(update={"marked": "" if said.mark == "clear" else said.mark})])
        case "tool":
            said = await _whole(said, graph, await marks.of(doc.id))
    await marks.add(said, by.id, by.name)


async def _whole(said: NewToolMark, graph: LinkedGraph, before: Sequence[ToolMark]) -> NewToolMark:
    """Of a tool that is muted, all edges into it are; of one that is not any more, those that were with it, and are still."""
    into = await graph.in_edges(said.tool)
    last = frozenset(next((one.sources for one in before if one.kind == "tool"), ()))
    muted = {edge.source for edge in into if edge.source in last and edge.mark == "mute"}
    if said.mark != "mute":
        await graph.mark_into(said.tool, muted, None)
        return said
    free = {edge.source for edge in into if edge.mark is None} | muted
    await graph.mark_into(said.tool, free, "mute")
    return said.model_copy(update={"sources": tuple(sorted(free))})
