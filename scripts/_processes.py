"""Programs that run below this one: started one after the other, watched together, stopped together."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

import httpx

from domain.errors import UnavailableError

ROOT = Path(__file__).parents[1]
_STOP_SECONDS = 15.0
_LOOK = 0.2


class Stopped(BaseException):
    """SIGTERM came."""


class Children:
    """What has been started. Each is a process group of its own: Ctrl-C reaches this program alone, which stops them in order."""

    def __init__(self) -> None:
        self._running: list[tuple[str, subprocess.Popen[str]]] = []

    def announced(self, name: str, command: list[str], environment: Mapping[str, str]) -> str:
        """Start one that prints ``NAME: ADDRESS`` when it answers, and say its address.

        Raises:
            UnavailableError: it ended before; its own message is on stderr.
        """
        child = self._start(name, command, environment, subprocess.PIPE)
        assert child.stdout is not None  # noqa: S101 (stdout is a pipe: told to the type checker)
        line = child.stdout.readline()
        if not line.startswith(f"{name}: "):
            raise UnavailableError(f"the {name} did not start; see its message above")
        return line.split(maxsplit=1)[1].strip()

    def answering(self, name: str, command: list[str], environment: Mapping[str, str], health: str) -> None:
        """Start one that says nothing, and wait until ``health`` answers.

        Raises:
            UnavailableError: it ended before, or took more than a minute.
        """
        child = self._start(name, command, environment, subprocess.DEVNULL)
        end = time.monotonic() + 60
        with httpx.Client(timeout=5, trust_env=False) as client:
            while time.monotonic() < end and child.poll() is None:
                try:
                    if client.get(health).is_success:
                        return
                except httpx.TransportError:
                    time.sleep(_LOOK)
        raise UnavailableError(f"the {name} did not start; see its message above")

    def watch(self) -> str:
        """Wait until one ends by itself, and name it."""
        while True:
            for name, child in self._running:
                if child.poll() is not None:
                    return name
            time.sleep(_LOOK)

    def stop(self) -> None:
        """All of them, the last first; one that does not stop in time is killed."""
        for _, child in reversed(self._running):
            child.terminate()
        end = time.monotonic() + _STOP_SECONDS
        for _, child in reversed(self._running):
            try:
                child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()
                child.wait()
            if child.stdout:
                child.stdout.close()
        self._running.clear()

    def _start(
        self, name: str, command: list[str], environment: Mapping[str, str], stdout: int
    ) -> subprocess.Popen[str]:
        child = subprocess.Popen(  # noqa: S603 (our own programs)
            [sys.executable, *command],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            text=True,
            process_group=0,
            env=os.environ | dict(environment),
        )
        self._running.append((name, child))
        return child


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
