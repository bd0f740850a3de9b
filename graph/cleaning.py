"""Cleaning of trajectories: which ones, and which of their calls, transitions are counted from (thesis 3.3.2)."""

from collections.abc import Sequence
from typing import Literal

from domain.tool import ToolId
from domain.trajectory import RecordedOutcome, TrajectoryEnd

MAX_RAW_CALLS = 8
"""Maximum length of an accepted branch. Longer ones are noise: the solver was lost."""

PSEUDO_TOOLS = frozenset({"ask_to_user", "Finish", "finish"})
"""Functions that talk to the user rather than call a tool."""

DropReason = Literal["gave_up", "unfinished", "no_calls", "too_long", "empty"]
"""Why a trajectory is dropped. ``no_calls``: the record had none. ``empty``: none remained after cleaning."""

_DROPPED_ENDINGS: dict[TrajectoryEnd, DropReason] = {"give_up": "gave_up", "none": "unfinished"}

_FAILED = frozenset(outcome for outcome in RecordedOutcome if outcome.failed)

RawCall = tuple[str, ToolId, RecordedOutcome]
"""A raw call of the accepted branch: function as recorded, node, outcome."""


def clean(steps: Sequence[RawCall], finish: TrajectoryEnd) -> list[ToolId] | DropReason:
    """Return the nodes of the cleaned path in order, each once, or the reason why the trajectory is dropped.

    The ending is checked first, then the number of raw calls, failed ones and pseudo-tools included. Failed calls and
    pseudo-tools are then removed, and of several calls of one API only the last is kept. Calls of unknown outcome stay.
    """
    if finish in _DROPPED_ENDINGS:
        return _DROPPED_ENDINGS[finish]
    if not steps:
        return "no_calls"
    if len(steps) > MAX_RAW_CALLS:
        return "too_long"
    path: dict[ToolId, None] = {}
    for function, node, outcome in steps:
        if outcome in _FAILED or function in PSEUDO_TOOLS:
            continue
        path.pop(node, None)
        path[node] = None
    return list(path) or "empty"
