"""A source that is read again: what has changed, and what becomes of its tools. What nobody has looked at is not offered."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from admission.drift import compare_readings
from domain.tool import ToolDoc, ToolId
from domain.tool_source import Corrections, OperationChoice, ToolChange
from server.sources.documents import digest, offered_document
from server.sources.reading import ReadSource
from server.sources.states import kept_out
from server.storage.source_records import LockedSource, ObservedResponses, SourceChange, SourceReading, StoredTool

_CHANGES = 1000
"""Changes that are kept until somebody looks at them."""
NOTES = 100


def read_again(
    held: LockedSource,
    read: ReadSource,
    at: datetime,
    changes: Sequence[ToolChange],
    operations: OperationChoice | None = None,
) -> SourceChange | None:
    """The step that another reading is; None where it says the same. ``changes``: as :func:`changes_of` finds them.

    ``operations``: the choice by which it was read, where that is a new one. What a choice adds or leaves out is no change of the source's
    own, and waits for nobody to look at it.
    """
    notes = notes_of(read)
    if not changes:
        noted = held.source.model_copy(
            update={"notes": notes, "operations": held.source.operations if operations is None else operations}
        )
        if operations is not None and operations != held.source.operations:
            return SourceChange("changed", "operations", source=noted, is_undoable=False)
        return (
            SourceChange("read", source=noted, is_undoable=False, is_recorded=False)
            if notes != held.source.notes
            else None
        )
    own = changes
    if operations is not None:
        changes = [one.model_copy(update={"told": _told_of_choice(one)}) for one in changes]
        own = [one for one in changes if one.kind not in ("added", "removed")]
    now = {doc.id: doc for doc in read.docs}
    by_tool: dict[ToolId, list[ToolChange]] = {}
    for one in changes:
        by_tool.setdefault(one.tool, []).append(one)
    tools: Mapping[ToolId, StoredTool | None] = {
        tool: None
        if operations is not None and tool not in now and _is_untouched(held.tools[tool])
        else _tool(held, tool, now.get(tool), found)
        for tool, found in by_tool.items()
    }
    version = held.last_reading + 1
    source = held.source.model_copy(
        update={
            "version": version,
            "read_at": at,
            "trouble": "",
            "notes": notes,
            "changes": (*held.source.changes, *own)[-_CHANGES:],
            "operations": held.source.operations if operations is None else operations,
        }
    )
    reading = SourceReading(
        version=version, digest=digest(read.raw), documents=read.docs, skipped=read.skipped, at=at, raw=read.raw
    )
    why = _summary(changes) if operations is None else f"other operations were chosen: {_summary(changes)}"
    return SourceChange("read", why, source=source, tools=tools, reading=reading)


def _told_of_choice(change: ToolChange) -> str:
    if change.kind == "removed":
        return "it is not among the operations that were chosen for its source"
    return "it was chosen for its source" if change.kind == "added" else change.told


def _is_untouched(kept: StoredTool) -> bool:
    """Whether nobody has done anything with a tool yet, so that leaving it out needs no trace of it."""
    return kept.state == "draft" and not kept.held and kept.corrections == Corrections()


def changes_of(tools: Sequence[StoredTool], docs: Sequence[ToolDoc]) -> tuple[ToolChange, ...]:
    """How a source's tools differ from what they were."""
    return compare_readings([one.original for one in tools if not one.gone], docs)


def notes_of(read: ReadSource) -> tuple[str, ...]:
    """What could not be taken, or only in part, and what is to be said of the whole."""
    found = (*read.skipped, *(f"{one.told}: {one.advice}" if one.advice else one.told for one in read.findings))
    return tuple(one[:500] for one in found[:NOTES])


def _tool(held: LockedSource, tool: ToolId, now: ToolDoc | None, changes: Sequence[ToolChange]) -> StoredTool:
    before = held.tools.get(tool)
    told = "; ".join(one.told for one in changes)
    if now is None:
        assert before is not None  # noqa: S101  # what is not there now was there before
        return kept_out(before, told, held=before.held).model_copy(update={"gone": True})
    if before is None:
        return StoredTool(tool=tool, original=now)
    fresh = before.model_copy(update={"original": now, "version": before.version + 1, "gone": False})
    if before.gone:
        return (
            fresh
            if before.held
            else fresh.model_copy(update={"state": "draft", "reason": told, "learnt": ObservedResponses()})
        )
    if any(one.breaks for one in changes):
        return kept_out(fresh.model_copy(update={"learnt": ObservedResponses()}), told, held=before.held)
    if before.offer is None or offered_document(fresh, held.source.id) == offered_document(before, held.source.id):
        return fresh
    return fresh.model_copy(
        update={"state": "tested", "reason": f"{told}; check it again, and admit it", "offer": None}
    )


def _summary(changes: Sequence[ToolChange]) -> str:
    kinds: dict[str, int] = {}
    for one in changes:
        kinds[one.kind] = kinds.get(one.kind, 0) + 1
    return ", ".join(f"{number} {kind}" for kind, number in kinds.items())
