"""What the gate found out about a tool, and what becomes of the tool by it."""

from collections.abc import Sequence

from domain.tool import ToolDoc
from domain.tool_source import Finding
from server.sources.documents import looked_at
from server.sources.states import WAIVABLE, kept_out
from server.storage.source_records import ObservedResponses, StoredTool

_PASSING = WAIVABLE | {"probe"}
"""Checks by which an admitted tool is not taken out of the offer: a server may be down, and how good a tool is was decided."""


def after_check(
    now: StoredTool, examined: str, findings: Sequence[Finding], learnt: ObservedResponses
) -> StoredTool | None:
    """The tool with these; None where it is another by now. ``examined``: digest of what was looked at."""
    if looked_at(now) != examined:
        return None
    kept = now.model_copy(
        update={"findings": tuple(findings), "looked_at": examined, "learnt": _both(now.learnt, learnt)}
    )
    stops = next((one for one in findings if one.is_blocking and one.check not in _PASSING), None)
    if kept.offer is not None:
        return kept if stops is None else kept_out(kept, stops.told)
    if kept.held or kept.gone:
        return kept
    return kept.model_copy(update={"state": "tested", "reason": ""})


def learnt_of(given: ToolDoc, after: ToolDoc) -> ObservedResponses:
    """What is new in a document after its probe."""
    return ObservedResponses(
        example_response=after.example_response if after.example_response != given.example_response else None,
        learnt_response=after.learnt_response if after.learnt_response != given.learnt_response else None,
    )


def _both(old: ObservedResponses, new: ObservedResponses) -> ObservedResponses:
    return ObservedResponses(
        example_response=new.example_response or old.example_response,
        learnt_response=new.learnt_response or old.learnt_response,
    )
