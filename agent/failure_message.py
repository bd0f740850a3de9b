"""Message for a run without an answer: first what the user can fix, then how far the run got."""

from collections.abc import Sequence

from agent.step_notes import strip_internal_notes
from agent.text import clean, format_tool_title
from domain.plan import StepResult
from domain.tool import ToolDoc

_REFUSED = frozenset({401, 403, 407})
_MAX_REASON_CHARS = 800
"""Limit of a reason in characters; generous because the advice is at its end."""


def format_failure(
    reason: str, failed: Sequence[tuple[ToolDoc, StepResult]], considered: Sequence[str], settings: Sequence[str] = ()
) -> str:
    """Explain why a run has no answer.

    A host that cannot be reached, a missing or refused key and a forbidden address come first, since no other request will work
    until that is fixed. Failed changes are left out: the run reports them separately (:mod:`agent.change_report`). ``reason`` is why
    the search ended, ``considered`` the names of the first candidates, ``settings`` sentences about settings that unused tools need.
    """
    notes = [
        (tool, result, clean(strip_internal_notes(result.note), _MAX_REASON_CHARS).rstrip(".") or result.status)
        for tool, result in failed
    ]
    tools_by_note: dict[str, list[str]] = {}
    for tool, result, note in notes:
        if is_trouble(result) and tool.safe:
            tools_by_note.setdefault(note, []).append(format_tool_title(tool))
    troubles = [
        f"{' and '.join(dict.fromkeys(tools))} could not be called: {note}." for note, tools in tools_by_note.items()
    ]
    ends = clean(reason, _MAX_REASON_CHARS).rstrip(".")
    lines = [f"This could not be answered: {line}" for line in dict.fromkeys(troubles)]
    lines.append(
        f"Nothing else served: {ends}."
        if any(is_trouble(result) for _, result in failed)
        else f"This could not be answered: {ends}."
    )
    lines += [
        f"{format_tool_title(tool)} gave no answer: {note}."
        for tool, result, note in notes
        if not is_trouble(result) and tool.safe
    ]
    lines += settings
    if considered:
        lines.append(f"Considered to start with: {', '.join(considered)}.")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def is_trouble(result: StepResult) -> bool:
    """Return whether a call failed for lack of a connection, a key or a permitted address, whatever its arguments."""
    if result.status != "failed" or result.outcome is None:
        return False
    return result.http_status is None or result.http_status in _REFUSED
