"""A server's process: it ends with the tests, however they end."""

import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.servers.missing import MissingServerError


def find_free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class ServerProcess:
    """One program that is started, asked until it answers, and ended in order or as a crash would."""

    def __init__(self, log: Path, *, crash: signal.Signals = signal.SIGKILL) -> None:
        """``log`` takes what it prints; ``crash`` is the signal that ends it and all of its own at once."""
        self._log = log
        self._crash = crash
        self._process: subprocess.Popen[bytes] | None = None
        self._watch: subprocess.Popen[bytes] | None = None

    def start(
        self,
        command: Sequence[str | Path],
        answers: Callable[[], bool],
        seconds: float,
        *,
        environment: Mapping[str, str] | None = None,
        folder: Path | None = None,
        account: tuple[int | None, int | None] = (None, None),
    ) -> None:
        """Start it and wait until it ``answers``.

        Raises:
            MissingServerError: it ended, or did not answer within ``seconds``; what it printed last is told.
        """
        with self._log.open("ab") as log:
            # A session of its own: Ctrl-C reaches the tests, which then stop the server in order.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                env=environment,
                cwd=folder,
                user=account[0],
                group=account[1],
            )
        # Should the tests die, the watch's input ends, and it ends the server.
        watch = ["sh", "-c", f'read -r _; kill -{self._crash.value} "$0"', str(self._process.pid)]
        self._watch = subprocess.Popen(watch, stdin=subprocess.PIPE, start_new_session=True)
        try:
            self._wait(self._process, answers, seconds)
        except BaseException:
            self.kill()
            raise

    def stop(self, end: signal.Signals, seconds: float) -> None:
        """End it in order, by force where that takes longer than ``seconds``."""
        if process := self._release():
            process.send_signal(end)
            try:
                process.wait(seconds)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def kill(self) -> None:
        """End it at once, without a goodbye."""
        if process := self._release():
            process.send_signal(self._crash)
            process.wait()

    def _release(self) -> subprocess.Popen[bytes] | None:
        """The process, no longer watched: its number may be another's soon."""
        process, self._process = self._process, None
        watch, self._watch = self._watch, None
        if watch is not None:
            watch.kill()
            watch.communicate()
        return process

    def _wait(self, process: subprocess.Popen[bytes], answers: Callable[[], bool], seconds: float) -> None:
        deadline = time.monotonic() + seconds
        while not answers():
            if process.poll() is not None:
                raise MissingServerError(f"the server ended with status {process.returncode}: {self._last_lines()}")
            if time.monotonic() > deadline:
                raise MissingServerError(f"the server did not answer in {seconds:.0f} s: {self._last_lines()}")
            time.sleep(0.1)

    def _last_lines(self) -> str:
        return self._log.read_text(encoding="utf-8", errors="replace")[-1500:]
