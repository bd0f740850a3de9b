"""Message for a run without an answer: first what the user can fix, then how far the run got."""

from collections.abc import Sequence

from agent.step_notes import fit_to_tell
from agent.text import clean, title
from domain.plan import StepResult
from domain.tool import ToolDoc

_REFUSED = frozenset({401, 403, 407})
_WHOLE = 800
"""Limit of a reason in characters; generous because the advice is at its end."""


def failure_message(
    reason: str, failed: Sequence[tuple[ToolDoc, StepResult]], considered: Sequence[str], settings: Sequence[str] = ()
) -> str:
    """Explain why a run has no answer.

    A host that cannot be reached, a missing or refused key and a forbidden address come first, since no other request will work
    until that is fixed. Failed changes are left out: the run reports them separately (:mod:`agent.change_report`). ``reason`` is why
    the search ended, ``considered`` the names of the first candidates, ``settings`` sentences about settings that unused tools need.
    """
    told = [
        (tool, result, clean(fit_to_tell(result.note), _WHOLE).rstrip(".") or result.status) for tool, result in failed
    ]
    kept_from: dict[str, list[str]] = {}
    for tool, result, note in told:
        if is_trouble(result) and tool.safe:
            kept_from.setdefault(note, []).append(title(tool))
    troubles = [
        f"{' and '.join(dict.fromkeys(tools))} could not be called: {note}." for note, tools in kept_from.items()
    ]
    ends = clean(reason, _WHOLE).rstrip(".")
    lines = [f"This could not be answered: {line}" for line in dict.fromkeys(troubles)]
    lines.append(
        f"Nothing else served: {ends}."
        if any(is_trouble(result) for _, result in failed)
        else f"This could not be answered: {ends}."
    )
    lines += [
        f"{title(tool)} gave no answer: {note}." for tool, result, note in told if not is_trouble(result) and tool.safe
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
