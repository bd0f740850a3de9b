"""The states that a source's tools pass, and what each step makes of them. Nothing here reads or writes: a step is computed, then kept whole."""

from collections.abc import Sequence

from domain.errors import ConflictError, ForbiddenError, NotFoundError
from domain.tool import ToolId
from domain.tool_source import Corrections, Finding
from server.sources.documents import looked_at, offered_document
from server.storage.source_records import Actor, LockedSource, SourceChange, StoredTool

WAIVABLE = frozenset({"quality", "findable"})
"""Checks that an administrator may admit a tool despite: they say how good a tool is, not whether it is safe."""


def chosen(held: LockedSource, tools: Sequence[ToolId]) -> dict[ToolId, StoredTool]:
    """Those that are named, or all of them. ``NotFoundError``: one is not there."""
    if missing := next((one for one in tools if one not in held.tools), None):
        raise NotFoundError(f"this source has no tool {missing[:200]}")
    return {one: held.tools[one] for one in tools} if tools else dict(held.tools)


def admitted(held: LockedSource, tools: Sequence[ToolId], actor: Actor, despite: str = "") -> SourceChange | None:
    """Offer these, or, where none is named, all that passed: checked, called by the gate, and stopped by nothing. ``ConflictError`` says why one
    of those that are named may not be.
    """
    if despite and not actor.admin:
        raise ForbiddenError("only an administrator admits a tool despite a check that it failed")
    found: dict[ToolId, StoredTool | None] = {}
    for tool, kept in chosen(held, tools).items():
        if kept.offer is not None or not (tools or (kept.state == "tested" and called(kept))):
            continue
        why = why_not(kept, actor, despite=bool(despite))
        if why and tools:
            raise ConflictError(f"{kept.original.api} cannot be admitted: {why}")
        if not why:
            offer = offered_document(kept, held.source.id)
            found[tool] = kept.model_copy(
                update={"state": "admitted", "reason": despite, "offer": offer, "held": False}
            )
    if not found and not tools:
        raise ConflictError(_none_passed(held, actor))
    return SourceChange("admitted", despite, tools=found) if found else None


def called(kept: StoredTool) -> bool:
    """Whether the gate has really called a tool as its document is now, and the call did not fail: one that it could not, or may not, call is
    skipped. What it did not call is admitted only by its name.
    """
    probed = any(one.check == "probe" and one.verdict in ("passed", "warned") for one in kept.findings)
    return probed and kept.looked_at == looked_at(kept)


def _none_passed(held: LockedSource, actor: Actor) -> str:
    uncalled = [one for one in held.tools.values() if one.state == "tested" and not why_not(one, actor)]
    if not uncalled:
        return "nothing of this source can be admitted: check its tools, and look at what the checks say"
    named = ", ".join(one.tool for one in uncalled[:5]) + (" …" if len(uncalled) > 5 else "")
    return (
        f"the gate has called none of the tools that could be admitted; name those that you want all the same: {named}"
    )


def why_not(kept: StoredTool, actor: Actor, *, despite: bool = False) -> str:
    """Why a tool may not be offered now; empty where it may."""
    if kept.gone:
        return "its source does not name it any more"
    if kept.held and not actor.admin:
        return f"an administrator keeps it out ({kept.reason})"
    if not kept.looked_at:
        return "it has not been checked; check it first"
    if kept.looked_at != looked_at(kept):
        return "it has changed since it was checked; check it again"
    stops = [one for one in kept.findings if one.is_blocking and not (despite and one.check in WAIVABLE)]
    if stops:
        return f"{stops[0].told}{_advice(stops[0])}"
    return ""


def _advice(finding: Finding) -> str:
    return f" ({finding.advice})" if finding.advice else ""


def quarantined(held: LockedSource, tools: Sequence[ToolId], actor: Actor, reason: str) -> SourceChange | None:
    """Keep these out. What an administrator keeps out of another's source, only one lets in."""
    holds = actor.admin and actor.user_id != held.source.author_id and actor.user_id is not None
    out: dict[ToolId, StoredTool | None] = {
        tool: kept_out(kept, reason, held=holds or kept.held) for tool, kept in chosen(held, tools).items()
    }
    return SourceChange("quarantined", reason, tools=out) if out else None


def kept_out(kept: StoredTool, reason: str, *, held: bool = False) -> StoredTool:
    """The tool, in quarantine."""
    return kept.model_copy(update={"state": "quarantined", "reason": reason, "offer": None, "held": held})


def corrected_step(held: LockedSource, tool: ToolId, said: Corrections, reason: str) -> SourceChange | None:
    """What people say in place of the document. What is admitted goes live so at once; that it only reads is to be checked first."""
    kept = chosen(held, [tool])[tool]
    if said == kept.corrections:
        return None
    now = kept.model_copy(update={"corrections": said, "version": kept.version + 1})
    if kept.offer is not None and kept.looked_at == looked_at(now):
        now = now.model_copy(update={"offer": offered_document(now, held.source.id)})
    elif kept.offer is not None:
        why = "whether it only reads was said anew; check it, and admit it again"
        now = now.model_copy(update={"state": "tested", "reason": why, "offer": None})
    return SourceChange("corrected", reason, tools={tool: now})


def undone(held: LockedSource, actor: Actor, step_id: str = "") -> SourceChange:
    """What the latest step found, brought back. A tool comes back into the offer only as a document that was admitted, and passes still.

    ``step_id``: the step that is meant, where that is the latest.
    """
    if held.last_undoable is None:
        raise ConflictError("there is nothing to undo")
    step, before = held.last_undoable
    if step_id and step_id != step.id:
        raise ConflictError("only the latest step can be undone; undo those after it first")
    if step.by_admin and not actor.admin and step.user_id != actor.user_id and step.user_id is not None:
        raise ForbiddenError("an administrator did that; only an administrator undoes it")
    tools = {ToolId(tool): _back(was, held.tools.get(ToolId(tool))) for tool, was in before.tools.items()}
    operations = before.operations or held.source.operations
    source = held.source.model_copy(
        update={"version": before.version, "changes": before.changes, "operations": operations}
    )
    return SourceChange(
        "undone",
        f"{step.what}: {step.reason}".rstrip(": "),
        source=source,
        tools=tools,
        undoes=step.id,
        is_undoable=False,
    )


def _back(was: StoredTool | None, now: StoredTool | None) -> StoredTool | None:
    """As it was, with what the gate has found out since, where that is about the same document."""
    if was is None or now is None:
        return was
    if now.looked_at and now.looked_at == looked_at(was):
        was = was.model_copy(update={"looked_at": now.looked_at, "findings": now.findings, "learnt": now.learnt})
    if now.held and not was.held:
        was = was.model_copy(update={"held": False})
    if was.offer is None:
        return was
    stops = next((one for one in was.findings if one.is_blocking and one.check not in WAIVABLE), None)
    if stops is None:
        return was
    return was.model_copy(update={"state": "tested", "offer": None, "reason": f"a check found since: {stops.told}"})


def removed(held: LockedSource) -> SourceChange:
    """All of it is kept out, for good."""
    out: dict[ToolId, StoredTool | None] = {
        tool: kept_out(kept, "its source was removed") for tool, kept in held.tools.items()
    }
    return SourceChange("removed", tools=out, is_undoable=False)
