"""Programs that run below this one: started one after the other, started again where they end, stopped together."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from types import FrameType

import httpx

from domain.errors import UnavailableError

ROOT = Path(__file__).parents[1]
_STOP_SECONDS = 15.0
_LOOK = 0.2
_MINUTE = 60.0
MOST_AGAIN = 3
"""Times that one which ends by itself is started again within a minute."""


class Stopped(BaseException):
    """SIGTERM came."""


@dataclass(slots=True)
class _Child:
    """A program with all that starting it takes. ``ready`` waits until it answers and says where; ``ended``: when it ended by itself, in the last minute."""

    name: str
    command: list[str]
    environment: Mapping[str, str]
    stdout: int
    ready: Callable[[subprocess.Popen[str]], str]
    process: subprocess.Popen[str] | None = None
    ended: list[float] = field(default_factory=list[float])

    def start(self) -> str:
        self.close()
        self.process = subprocess.Popen(  # noqa: S603 (our own programs)
            [sys.executable, *self.command],
            stdin=subprocess.DEVNULL,
            stdout=self.stdout,
            text=True,
            process_group=0,
            env=os.environ | dict(self.environment),
        )
        return self.ready(self.process)

    def close(self) -> None:
        if self.process and self.process.stdout:
            self.process.stdout.close()


class Children:
    """What has been started. Each is a process group of its own: Ctrl-C reaches this program alone, which stops them in order."""

    def __init__(self) -> None:
        self._running: list[_Child] = []

    def announced(self, name: str, command: list[str], environment: Mapping[str, str]) -> str:
        """Start one that prints ``NAME: ADDRESS`` when it answers, and say its address.

        Raises:
            UnavailableError: it ended before; its own message is on stderr.
        """
        return self._start(_Child(name, command, environment, subprocess.PIPE, partial(_announcement, name)))

    def answering(self, name: str, command: list[str], environment: Mapping[str, str], health: str) -> None:
        """Start one that says nothing, and wait until ``health`` answers.

        Raises:
            UnavailableError: it ended before, or took more than a minute.
        """
        self._start(_Child(name, command, environment, subprocess.DEVNULL, partial(_health, name, health)))

    def watch(self) -> str:
        """Start again what ends by itself, and tell of it on stderr; the name of the first that ends more than ``MOST_AGAIN`` times in a minute.

        Raises:
            UnavailableError: it did not start again.
        """
        while True:
            for child in self._running:
                code = child.process.poll() if child.process else None
                if code is not None and not _again(child, code):
                    return child.name
            time.sleep(_LOOK)

    def stop(self) -> None:
        """All of them, the last first; one that does not stop in time is killed."""
        started = [(child, child.process) for child in reversed(self._running) if child.process]
        for _, process in started:
            process.terminate()
        end = time.monotonic() + _STOP_SECONDS
        for child, process in started:
            try:
                process.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            child.close()
        self._running.clear()

    def _start(self, child: _Child) -> str:
        self._running.append(child)
        return child.start()


def _announcement(name: str, process: subprocess.Popen[str]) -> str:
    line = process.stdout.readline() if process.stdout else ""
    if not line.startswith(f"{name}: "):
        raise UnavailableError(_not_started(name))
    return line.split(maxsplit=1)[1].strip()


def _health(name: str, health: str, process: subprocess.Popen[str]) -> str:
    end = time.monotonic() + 60
    with httpx.Client(timeout=5, trust_env=False) as client:
        while time.monotonic() < end and process.poll() is None:
            try:
                if client.get(health).is_success:
                    return health
            except httpx.TransportError:
                time.sleep(_LOOK)
    raise UnavailableError(_not_started(name))


def _not_started(name: str) -> str:
    return f"the {name} did not start; see its message above"


def _again(child: _Child, code: int) -> bool:
    """Start one again that has ended, unless it has ended too often."""
    now = time.monotonic()
    child.ended = [one for one in child.ended if now - one < _MINUTE] + [now]
    how = f"by {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    if len(child.ended) > MOST_AGAIN:
        print(f"the {child.name} has ended {how}, {len(child.ended)} times within a minute", file=sys.stderr)
        return False
    print(f"the {child.name} has ended {how}; it is started again …", file=sys.stderr, flush=True)
    child.start()
    print(f"the {child.name} answers again", file=sys.stderr, flush=True)
    return True


@contextmanager
def children() -> Generator[Children]:
    """Stopped at the end of the block, however it ends: an error, Ctrl-C, or SIGTERM, which raises :class:`Stopped` in it."""
    started = Children()
    before = signal.signal(signal.SIGTERM, _stopped)
    try:
        yield started
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        started.stop()
        signal.signal(signal.SIGTERM, before)


def _stopped(_number: int, _frame: FrameType | None) -> None:
    raise Stopped
