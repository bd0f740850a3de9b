"""Short-term memory of a search (thesis 4.3.2.4): its moves with their reasons, summarized to fit a prompt."""

from collections.abc import Sequence
from typing import Literal

from agent.text import clean
from domain.model import Model
from domain.tool import ToolId, split_tool_id

RECENT = 16
"""Latest moves that are listed one by one; earlier ones are summarized in one line."""
_REASON = 200
"""Characters of a reason."""
_NAMED = 12
"""Tools named in the summary."""
_KEPT = 400
"""Moves that are kept."""

Kind = Literal["advance", "backtrack", "failed", "reflect"]
_SAID: dict[Kind, str] = {
    "advance": "went to",
    "backtrack": "left",
    "failed": "the call failed, went back before",
    "reflect": "on reflection, went back before",
}


class Move(Model):
    """One move of a search."""

    kind: Kind
    tool: ToolId | None
    """The tool that was advanced to or left; None for the start."""
    depth: int
    """Length of the path after the move."""
    reason: str


def moved(trail: tuple[Move, ...], kind: Kind, tool: ToolId | None, depth: int, reason: str) -> tuple[Move, ...]:
    """Return the moves with one more; the oldest beyond ``_KEPT`` are dropped, so that a state stays small."""
    return (*trail[-(_KEPT - 1) :], Move(kind=kind, tool=tool, depth=depth, reason=clean(reason, _REASON)))


def told(trail: Sequence[Move], recent: int = RECENT) -> tuple[str, ...]:
    """Render the moves as lines, oldest first; those before the last ``recent`` are summarized in one line."""
    before, last = trail[: max(0, len(trail) - recent)], trail[max(0, len(trail) - recent) :]
    return (*_summary(before), *(_line(move) for move in last))


def _line(move: Move) -> str:
    name = _name(move.tool) if move.tool else "the first step"
    return f"{_SAID[move.kind]} {name}: {move.reason or 'no reason given'}"


def _summary(moves: Sequence[Move]) -> tuple[str, ...]:
    """Summarize moves by their number and the tools that were left again, most often first."""
    if not moves:
        return ()
    left = [_name(move.tool) for move in moves if move.kind != "advance" and move.tool]
    names = sorted(dict.fromkeys(left), key=lambda name: -left.count(name))
    shown = ", ".join(f"{name} ({left.count(name)} times)" if left.count(name) > 1 else name for name in names[:_NAMED])
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return (f"{len(moves)} moves before these; left again: {shown or 'none'}{more}",)


def _name(tool: ToolId) -> str:
    _, toolset, api = split_tool_id(tool)
    return f"{clean(toolset, 50)}/{clean(api, 60)}"
