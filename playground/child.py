"""The playground as a child process: started on a port, ready when it says so, stopped with its parent's block."""

import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from domain.errors import UnavailableError
from playground.soay.application import Scenario

SCRIPT = Path(__file__).parents[1] / "scripts" / "serve_playground.py"


@contextmanager
def running_playground(
    port: int = 0, *, meteo_in_service: bool = False, workshop: bool = False, scenario: Scenario | None = None
) -> Generator[str]:
    """Start ``scripts/serve_playground.py`` and yield its address; on leaving, however that happens, stop it.
    ``workshop``, ``scenario``: that service instead.

    Raises:
        UnavailableError: it did not start; the message is what it wrote.
    """
    command = [sys.executable, str(SCRIPT), "--port", str(port), "--meteo" if meteo_in_service else "--no-meteo"]
    command += ["--workshop"] if workshop else []
    command += ["--scenario", scenario] if scenario else []
    # A group of its own: Ctrl-C reaches this process alone, which then stops the child in its own time.
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, process_group=0) as child:  # noqa: S603 (our own script)
        try:
            yield _address(child)
        finally:
            _stop(child)


def _address(child: subprocess.Popen[str]) -> str:
    """The address from the first line that it prints; its errors go to our stderr as they are."""
    assert child.stdout is not None  # noqa: S101 (stdout is a pipe: told to the type checker)
    line = child.stdout.readline()
    if not line.startswith("playground: "):
        raise UnavailableError("the playground did not start; see its message above")
    return line.split(maxsplit=1)[1].strip()


def _stop(child: subprocess.Popen[str]) -> None:
    child.terminate()
    try:
        child.wait(timeout=5)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()
