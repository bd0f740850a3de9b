"""Commands that are run at a terminal of the system, or without any."""

import os
import pty
import re
from collections.abc import Mapping, Sequence

from tests.support import forked_commands

QUESTION = "calls of this tool in this run (a): "


def alone(command: Sequence[str], environment: Mapping[str, str]) -> tuple[int, str]:
    """A command without a terminal: its exit code, and what it wrote."""
    made = forked_commands.run(command, env=environment, timeout=120)
    return made.returncode, made.stdout + made.stderr


def at_a_terminal(command: Sequence[str], environment: Mapping[str, str], answers: Sequence[str]) -> tuple[int, str]:
    """A command at a terminal. ``answers``: typed one after the other, each when a question is asked."""
    ours, theirs = pty.openpty()
    process = forked_commands.start(command, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    told, left = "", list(answers)
    while piece := _read(ours):
        told += piece
        if told.count(QUESTION) > len(answers) - len(left) and left:
            os.write(ours, left.pop(0).encode())
    os.close(ours)
    code = process.wait(timeout=60)
    assert not left, told
    return code, re.sub(r"\x1b\[[0-9;]*m", "", told)


def _read(terminal: int) -> str:
    """What was written next; empty where the other end is closed, which a terminal tells as an error."""
    try:
        return os.read(terminal, 65_536).decode(errors="replace")
    except OSError:
        return ""
