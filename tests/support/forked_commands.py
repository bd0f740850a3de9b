"""Our commands as processes of their own that need not import all packages anew: forked from one that has them (``forking``).

Importing takes a server two seconds and a command one, and hundreds are started in a whole run of the tests. What is forked is a process like
any other: it has its own streams, variables and folder, runs the script from its first line, is killed by a signal, and ends as Python does.
``tests/architecture/test_scripts.py`` starts every script the plain way, and so do the tests of the wheel, ``make demo`` and ``footpath up``,
and whoever measures a command's memory, which here begins with what was imported.
"""

import atexit
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path
from select import POLLIN, poll
from signal import SIGKILL, SIGTERM
from tempfile import TemporaryFile
from threading import Lock
from typing import IO, Any

_FORKING = Path(__file__).with_name("fork_server.py")
_LOCK = Lock()
_OF_PATHS = "PYTHONPATH"
"""The one variable of Python's own that changes nothing here: all that is ours is found without it."""


class Process:
    """A command that runs, as ``subprocess.Popen`` shows one. ``stdout``: what it writes, where that is a pipe of ours."""

    def __init__(self, args: Sequence[str], ends: int, stdout: IO[str] | None) -> None:
        self.args = args
        self.stdout = stdout
        self.returncode: int | None = None
        self._ends = os.fdopen(ends, "rb", buffering=0)
        self.pid = int(self._ends.readline())

    def poll(self) -> int | None:
        """How it ended; nothing while it runs."""
        if self.returncode is None and self._has_ended(0):
            self.returncode = int(self._ends.readline())
            self._ends.close()
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """How it ended, once it has.

        Raises:
            TimeoutExpired: it runs still.
        """
        if self.returncode is None:
            self._has_ended(timeout)
        if (code := self.poll()) is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return code

    def _has_ended(self, seconds: float | None) -> bool:
        """Whether that is told by then. Not ``select``, which knows the first 1,024 files of a process only."""
        told = poll()
        told.register(self._ends, POLLIN)
        return bool(told.poll(None if seconds is None else seconds * 1000))

    def send_signal(self, number: int) -> None:
        """To one that has ended nothing is sent, also where that is not told yet."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(SIGKILL)

    def terminate(self) -> None:
        self.send_signal(SIGTERM)


Command = Process | subprocess.Popen[str]


def run(
    command: Sequence[object],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    given: str = "",
    timeout: float | None = None,
) -> subprocess.CompletedProcess[str]:
    """A command to its end, without a terminal: what it wrote, and how it ended.

    Raises:
        TimeoutExpired: it ran for longer, and was killed.
    """
    words = [_word(word) for word in command]
    with ExitStack() as files:
        stdin, out, err = (files.enter_context(TemporaryFile("w+", encoding="utf-8")) for _ in range(3))
        stdin.write(given)
        stdin.seek(0)
        process = start(words, cwd=cwd, env=env, stdin=stdin, stdout=out, stderr=err)
        try:
            code = process.wait(timeout)
        finally:
            process.kill()
        for file in (out, err):
            file.seek(0)
        return subprocess.CompletedProcess(words, code, out.read(), err.read())


def start(
    command: Sequence[object],
    *,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: IO[Any] | int | None = None,
    stdout: IO[Any] | int | None = None,
    stderr: IO[Any] | int | None = None,
) -> Command:
    """A command that is begun. One of which Python itself is to know more, or that is no script of ours, is started the plain way."""
    words = [_word(word) for word in command]
    variables = dict(os.environ if env is None else env)
    actions, arguments = _read(words)
    if not arguments or any(variables.get(name) != os.environ.get(name) for name in _pythons(variables)):
        return subprocess.Popen(words, cwd=cwd, env=variables, stdin=stdin, stdout=stdout, stderr=stderr, text=True)
    told = {"arguments": arguments, "warnings": actions, "variables": variables, "folder": str(cwd or Path.cwd())}
    with ExitStack() as opened:
        pipe = _pipe(opened) if stdout == subprocess.PIPE else None
        ends, tells = os.pipe()
        opened.callback(os.close, tells)
        streams = [_number(stdin, 0), pipe[1] if pipe else _number(stdout, 1), _number(stderr, 2), tells]
        with _LOCK:
            socket.send_fds(_forking(), [json.dumps(told).encode()], streams)
    return Process(words, ends, os.fdopen(pipe[0], encoding="utf-8") if pipe else None)


def _word(word: object) -> str:
    """As Python reads it from its own command line."""
    return os.fsdecode(word) if isinstance(word, bytes) else str(word)


def _read(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """What is done with warnings, and the script with its arguments; nothing where it is another kind of command."""
    actions: list[str] = []
    rest = list(words[1:])
    while len(rest) > 1 and rest[0] == "-W":
        actions.append(rest[1])
        rest = rest[2:]
    ours = words[0] == sys.executable and rest and rest[0].endswith(".py") and sys.platform == "linux"
    return (actions, rest) if ours else ([], [])


def _pythons(variables: Mapping[str, str]) -> set[str]:
    """Names of what Python reads when it starts."""
    return {name for name in {*variables, *os.environ} if name.startswith("PYTHON") and name != _OF_PATHS}


def _pipe(opened: ExitStack) -> tuple[int, int]:
    """Its two ends; the one that is written to is the command's alone."""
    ours, theirs = os.pipe()
    opened.callback(os.close, theirs)
    return ours, theirs


def _number(stream: IO[Any] | int | None, usual: int) -> int:
    return usual if stream is None else stream if isinstance(stream, int) else stream.fileno()


@cache
def _forking() -> socket.socket:
    """The line to the process that is forked from, which ends when this one does."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    known = {name: value for name, value in os.environ.items() if not name.startswith("FOOTPATH_")}
    with theirs:
        command = [sys.executable, str(_FORKING), str(theirs.fileno())]
        process = subprocess.Popen(command, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, env=known)

    def ended() -> None:
        ours.close()
        process.wait()

    atexit.register(ended)
    return ours
