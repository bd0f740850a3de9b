"""An administrator's word on a tool, on an edge, on a parameter or field: put into the graph, where runs heed it from the next one on, and kept with its reason."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from domain.errors import ConflictError, UsageError
from domain.tool import FeedMark, ToolDoc, ToolId
from domain.tool_source import parse_source_id
from graph.facts import Mark
from graph.links import LinkedGraph
from server.explorer.correcting import correct_entity, correct_entity_of_source, correct_feed, forget_runs, put_back
from server.sources.registry import SourceRegistry
from server.storage.accounts import User
from server.storage.tool_library import MarkKind, MarkWord, NewToolMark, ToolMark, ToolMarks
from wiring.container import Container

WORDS: Mapping[MarkKind, tuple[MarkWord, ...]] = {
    "edge": ("pin", "mute", "ban", "clear"),
    "tool": ("mute", "ban", "clear"),
    "effect": ("reads", "changes", "clear"),
    "entity": ("set", "clear"),
    "feed": ("add", "forbid", "clear"),
    "runs": ("forget", "clear"),
}
_NAMES: Mapping[MarkKind, frozenset[str]] = {
    "edge": frozenset({"target"}),
    "entity": frozenset({"place"}),
    "feed": frozenset({"target", "place", "field"}),
}
"""What has to be named beside the tool, and what nothing else may name."""
_EDGE: Mapping[MarkWord, Mark] = {"pin": "pin", "mute": "mute", "ban": "ban"}


@dataclass(frozen=True, slots=True)
class Marking:
    """What a mark is put into, and who says it. ``container``: of the server itself, which sees all tools."""

    container: Container
    marks: ToolMarks
    sources: SourceRegistry
    user: User


async def mark(said: NewToolMark, doc: ToolDoc, at: Marking) -> None:
    """Heed it and keep it.

    ``UsageError``: this cannot be said of it, or the edge's other end is no node. ``ConflictError``: it is said elsewhere, or there is nothing to take back.
    """
    check(said)
    graph, kept = at.container.graph, dict[str, Any]()
    match said.kind:
        case "edge":
            await graph.mark(doc.id, ToolId(said.target), _EDGE.get(said.mark))
        case "effect":
            if parse_source_id(doc.source):
                raise ConflictError("its source says what calling it does: correct that on the page of the source")
            await graph.put_tools([doc.model_copy(update={"marked": "" if said.mark == "clear" else said.mark})])
        case "tool":
            said = await _whole(said, graph, await at.marks.list_for_tool(doc.id))
        case "entity":
            await _entity(said, doc, at)
        case "feed":
            mark = FeedMark(
                source=ToolId(said.target), field=said.field, parameter=said.place, fills=said.mark == "add"
            )
            await correct_feed(at.container, doc.id, mark, clear=said.mark == "clear")
        case "runs":
            kept = await _runs(said, at)
    await at.marks.add(said, at.user.id, at.user.name, kept)


def check(said: NewToolMark) -> None:
    """``UsageError``: it is no word for this, or names too much or too little."""
    if said.mark not in WORDS[said.kind]:
        raise UsageError(f"of {said.kind} one says {', '.join(WORDS[said.kind])}")
    wanted = _NAMES.get(said.kind, frozenset[str]())
    named = {name for name in ("target", "place", "field") if getattr(said, name)}
    if named != set(wanted):
        raise UsageError(
            f"of {said.kind} name {' and '.join(sorted(wanted)) or 'nothing beside the tool'}, and no more"
        )
    if bool(said.entity) != (said.kind == "entity" and said.mark == "set"):
        raise UsageError("say what a place is of where that is set, and nowhere else")


async def _entity(said: NewToolMark, doc: ToolDoc, at: Marking) -> None:
    source = parse_source_id(doc.source)
    if source is None:
        await correct_entity(at.container, doc.id, said.place, said.entity)
    else:
        await correct_entity_of_source(at.sources, source, doc, said.place, said.entity, at.user, said.reason)


async def _runs(said: NewToolMark, at: Marking) -> dict[str, Any]:
    """What is put aside; what was put aside last is put back."""
    if said.mark == "forget":
        return dict(await forget_runs(at.container, said.tool))
    last = next((one for one in await at.marks.list_for_tool(said.tool) if one.kind == "runs"), None)
    if last is None or last.mark != "forget":
        raise ConflictError("what runs said of it was not forgotten, so there is nothing to put back")
    await put_back(at.container, said.tool, await at.marks.get_set_aside(last.id))
    return {}


async def _whole(said: NewToolMark, graph: LinkedGraph, before: Sequence[ToolMark]) -> NewToolMark:
    """Of a tool that is muted, all edges into it are; of one that is not any more, those that were with it, and are still."""
    into = await graph.get_in_edges(said.tool)
    last = frozenset(next((one.sources for one in before if one.kind == "tool"), ()))
    muted = {edge.source for edge in into if edge.source in last and edge.mark == "mute"}
    if said.mark != "mute":
        await graph.mark_into(said.tool, muted, None)
        return said
    free = {edge.source for edge in into if edge.mark is None} | muted
    await graph.mark_into(said.tool, free, "mute")
    return said.model_copy(update={"sources": tuple(sorted(free))})
