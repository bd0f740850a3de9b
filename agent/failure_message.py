"""Why there is no answer: what somebody can mend comes first, then how far the run came."""

from collections.abc import Sequence

from agent.step_notes import fit_to_tell
from agent.text import clean, title
from domain.plan import StepResult
from domain.tool import ToolDoc

_REFUSED = frozenset({401, 403, 407})
_WHOLE = 800
"""Characters of a reason: what to do stands at its end, and is of no use without it."""


def failure_message(
    reason: str, failed: Sequence[tuple[ToolDoc, StepResult]], considered: Sequence[str], settings: Sequence[str] = ()
) -> str:
    """What kept a run from its answer.

    A host that cannot be reached, a key that is missing or refused and an address that is forbidden come first: no other request
    will fare better before that is mended. Of what changes something the run itself has told before. ``reason``: why the walk ended. ``considered``: the first tools, by name.
    ``settings``: what to set for tools that were left aside, in sentences.
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
    """Whether a call failed for want of a connection, a key or an address that may be called, whatever was asked."""
    if result.status != "failed" or result.outcome is None:
        return False
    return result.http_status is None or result.http_status in _REFUSED
