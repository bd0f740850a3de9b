"""Where a path stands on another that was walked before."""

from collections.abc import Sequence

from domain.tool import FINISH, ToolId


def next_of(remembered: Sequence[ToolId], path: Sequence[ToolId]) -> ToolId | None:
    """What follows on a remembered path behind what was walked so far: a tool, ``FINISH`` at its end, None off it.

    Remembered paths hold each tool once, so a tool that was called again counts where it stood first.
    """
    walked = tuple(dict.fromkeys(path))
    if tuple(remembered[: len(walked)]) != walked:
        return None
    return remembered[len(walked)] if len(remembered) > len(walked) else FINISH
