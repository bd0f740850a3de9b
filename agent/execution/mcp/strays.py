"""Processes that a started server left behind outside its group: known by a variable that all of them were given, and ended."""

import os
import signal
from pathlib import Path

MARK = "STARTED_FOR_SESSION"
"""A variable of a started server and of all that it starts; its value is one session's."""
_ROUNDS = 5
"""Each ends what was started while the one before looked."""


def end_strays(token: str) -> int:
    """End all that carry this token; how many. Where there is no ``/proc``, none is found. One that has cleared its environment is not found either."""
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
