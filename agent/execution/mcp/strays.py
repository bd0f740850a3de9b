"""Kill processes that a started server left outside its process group; an inherited variable marks them."""

import os
import signal
from pathlib import Path

MARK = "STARTED_FOR_SESSION"
"""Environment variable of a started server and all its descendants; its value is unique to the session."""
_ROUNDS = 5
"""Each round kills what was started while the one before was looking."""


def end_strays(token: str) -> int:
    """Kill all processes that carry this token, and return their number.

    Without ``/proc`` none is found, and neither is one that has cleared its environment.
    """
    ended = 0
    for _ in range(_ROUNDS):
        found = _carrying(f"{MARK}={token}".encode())
        for process in found:
            _kill(process)
        ended += len(found)
        if not found:
            break
    return ended


def _carrying(mark: bytes) -> list[int]:
    return [int(place.name) for place in Path("/proc").glob("[0-9]*") if mark in _environment(place).split(b"\0")]


def _environment(place: Path) -> bytes:
    try:
        return (place / "environ").read_bytes()
    except OSError:  # it has ended, or is another user's
        return b""


def _kill(process: int) -> None:
    try:
        os.kill(process, signal.SIGKILL)
    except ProcessLookupError:  # it has ended meanwhile
        return
