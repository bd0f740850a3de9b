"""Messages about failed steps and about runs without an answer."""

import re
from collections.abc import Sequence

from agent.text import clean_text, format_tool_title
from domain.plan import StepResult
from domain.tool import ToolDoc

REPEATED_CALL_NOTE = "Answered from the same call, made before in this run."
"""Note of a call that was answered from the cache of the run."""
TRIED_BEFORE_NOTE = "Tried before, without finding anything:"
"""Beginning of a note that lists earlier arguments; they follow it."""

# The last alternative is the wording of earlier versions, which stored runs contain.
_INTERNAL_NOTE = re.compile(
    rf"\s*(?:{re.escape(REPEATED_CALL_NOTE)}|{re.escape(TRIED_BEFORE_NOTE)}.*|The same call as step \d+; answered from it\.)",
    re.DOTALL,
)


def strip_internal_notes(note: str) -> str:
    """Return a note without sentences about the run's own bookkeeping, such as repeated calls."""
    return _INTERNAL_NOTE.sub("", note).strip()


def explain_step_failure(result: StepResult) -> str:
    """Return the reason why a failed step is abandoned for another path."""
    if result.status == "missing" or result.http_status == 200:
        return clean_text(result.note)
    status = f"HTTP {result.http_status}" if result.http_status else result.status
    return f"the call failed for good ({status}){': ' + clean_text(result.note) if result.note else ''}"


_ACCESS_STATUSES = frozenset({401, 403, 407})
"""HTTP statuses of a refused or missing key."""
_MAX_REASON_CHARS = 800
"""Limit of a reason in characters; generous because the advice is at its end."""


def format_failure_message(
    reason: str,
    failed: Sequence[tuple[ToolDoc, StepResult]],
    candidate_names: Sequence[str],
    setting_notes: Sequence[str] = (),
) -> str:
    """Explain why a run has no answer.

    What the user can fix comes first: an unreachable host, a missing or refused key, a forbidden address. Failed
    changes are left out, since the run reports them separately (:mod:`agent.outcome`).

    Args:
        reason: why the search ended.
        failed: calls that failed, with their tools.
        candidate_names: names of the first candidates.
        setting_notes: sentences about settings that tools need before they can be called.
    """
    notes = [
        (tool, result, clean_text(strip_internal_notes(result.note), _MAX_REASON_CHARS).rstrip(".") or result.status)
        for tool, result in failed
    ]
    tools_by_note: dict[str, list[str]] = {}
    for tool, result, note in notes:
        if is_access_failure(result) and tool.safe:
            tools_by_note.setdefault(note, []).append(format_tool_title(tool))
    access_failures = [
        f"{' and '.join(dict.fromkeys(tools))} could not be called: {note}." for note, tools in tools_by_note.items()
    ]
    end_reason = clean_text(reason, _MAX_REASON_CHARS).rstrip(".")
    lines = [f"This could not be answered: {line}" for line in dict.fromkeys(access_failures)]
    lines.append(
        f"Nothing else served: {end_reason}."
        if any(is_access_failure(result) for _, result in failed)
        else f"This could not be answered: {end_reason}."
    )
    lines += [
        f"{format_tool_title(tool)} gave no answer: {note}."
        for tool, result, note in notes
        if not is_access_failure(result) and tool.safe
    ]
    lines += setting_notes
    if candidate_names:
        lines.append(f"Considered to start with: {', '.join(candidate_names)}.")
    return "\n".join(dict.fromkeys(lines)) + "\n"


def is_access_failure(result: StepResult) -> bool:
    """Return whether a call failed for want of a connection, a key or a permitted address.

    Other arguments cannot help then.
    """
    if result.status != "failed" or result.outcome is None:
        return False
    return result.http_status is None or result.http_status in _ACCESS_STATUSES
