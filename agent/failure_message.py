"""Messages about failed steps and about runs without an answer."""

from collections.abc import Sequence

from agent.step_notes import strip_internal_notes
from agent.text import clean, format_tool_title
from domain.plan import StepResult
from domain.tool import ToolDoc

_REFUSED = frozenset({401, 403, 407})
"""HTTP statuses of a refused or missing key."""
_MAX_REASON_CHARS = 800
"""Limit of a reason in characters; generous because the advice is at its end."""


def format_failure(
    reason: str, failed: Sequence[tuple[ToolDoc, StepResult]], considered: Sequence[str], settings: Sequence[str] = ()
) -> str:
    """Explain why a run has no answer.

    What the user can fix comes first: an unreachable host, a missing or refused key, a forbidden address. Failed
    changes are left out, since the run reports them separately (:mod:`agent.change_report`).

    Args:
        reason: why the search ended.
        failed: calls that failed, with their tools.
        considered: names of the first candidates.
        settings: sentences about settings that tools need before they can be called.
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
    """Return whether a call failed for want of a connection, a key or a permitted address.

    Other arguments cannot help then.
    """
    if result.status != "failed" or result.outcome is None:
        return False
    return result.http_status is None or result.http_status in _REFUSED
