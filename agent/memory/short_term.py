"""Short-term memory of a search (thesis 4.3.2.4): its moves with their reasons, summarized to fit a prompt."""

from collections.abc import Sequence
from typing import Literal

from agent.text import clean_text
from domain.model import Model
from domain.tool import ToolId, split_tool_id

RECENT_MOVES = 16
"""Latest moves that are listed one by one; earlier ones are summarized in one line."""
_MAX_REASON_CHARS = 200
"""Characters of a reason."""
_MAX_NAMED_TOOLS = 12
"""Tools named in the summary."""
_MAX_MOVES = 400
"""Moves that are kept."""

MoveKind = Literal["advance", "backtrack", "failed", "reflect"]
_MOVE_PHRASES: dict[MoveKind, str] = {
    "advance": "went to",
    "backtrack": "left",
    "failed": "the call failed, went back before",
    "reflect": "on reflection, went back before",
}


class SearchMove(Model):
    """One move of a search."""

    kind: MoveKind
    tool: ToolId | None
    """The tool that was advanced to or left; None for the start."""
    depth: int
    """Length of the path after the move."""
    reason: str


def append_move(
    trail: tuple[SearchMove, ...], kind: MoveKind, tool: ToolId | None, depth: int, reason: str
) -> tuple[SearchMove, ...]:
    """Return the moves with one more; the oldest beyond ``_MAX_MOVES`` are dropped, so that a state stays small."""
    return (
        *trail[-(_MAX_MOVES - 1) :],
        SearchMove(kind=kind, tool=tool, depth=depth, reason=clean_text(reason, _MAX_REASON_CHARS)),
    )


def render_move_history(trail: Sequence[SearchMove], recent_count: int = RECENT_MOVES) -> tuple[str, ...]:
    """Render the moves as lines, oldest first; those before the last ``recent_count`` are summarized in one line."""
    before, last = trail[: max(0, len(trail) - recent_count)], trail[max(0, len(trail) - recent_count) :]
    return (*_summarize_moves(before), *(_render_move(move) for move in last))


def _render_move(move: SearchMove) -> str:
    name = _name_tool(move.tool) if move.tool else "the first step"
    return f"{_MOVE_PHRASES[move.kind]} {name}: {move.reason or 'no reason given'}"


def _summarize_moves(moves: Sequence[SearchMove]) -> tuple[str, ...]:
    """Summarize moves by their number and the tools that were left again, most often first."""
    if not moves:
        return ()
    left_tools = [_name_tool(move.tool) for move in moves if move.kind != "advance" and move.tool]
    names = sorted(dict.fromkeys(left_tools), key=lambda name: -left_tools.count(name))
    tool_list = ", ".join(
        f"{name} ({left_tools.count(name)} times)" if left_tools.count(name) > 1 else name
        for name in names[:_MAX_NAMED_TOOLS]
    )
    more = f" and {len(names) - _MAX_NAMED_TOOLS} more" if len(names) > _MAX_NAMED_TOOLS else ""
    return (f"{len(moves)} moves before these; left again: {tool_list or 'none'}{more}",)


def _name_tool(tool: ToolId) -> str:
    _, toolset, api = split_tool_id(tool)
    return f"{clean_text(toolset, 50)}/{clean_text(api, 60)}"
