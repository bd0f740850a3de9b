"""All of Footpath as processes: ``scripts/up.py``, and a page on a server that has nothing to call."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source_tree import ROOT

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Up:
    """The running program, the addresses that it printed, by name, and the folder of its files."""

    process: subprocess.Popen[str]
    addresses: dict[str, str]
    folder: Path


@contextmanager
def everything(folder: Path, **variables: str) -> Generator[Up]:
    """All of Footpath on free ports, its files in ``folder``. ``variables``: settings."""
    command = [str(ROOT / "scripts" / "up.py"), "--home", str(folder / "up")]
    command += ["--page-port", "0", "--server-port", "0", "--playground-port", "0"]
    with _running(command, folder, lines=3, **variables) as up:
        yield up


@contextmanager
def without_a_store(folder: Path) -> Generator[Up]:
    """A page, and a server whose runs all fail: no graph was built for it."""
    with _running([str(Path(__file__).with_name("storeless.py"))], folder, lines=2) as up:
        yield up


@contextmanager
def _running(command: list[str], folder: Path, lines: int, **variables: str) -> Generator[Up]:
    environment = (
        os.environ
        | variables
        | {
            "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "scripts")]),
            "FOOTPATH_SERVER_HOME": str(folder / "server"),
            "HOME": str(folder),
        }
    )
    command = [sys.executable, *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        assert process.stdout
        try:
            told = [process.stdout.readline() for _ in range(lines)]
            yield Up(process, dict(line.strip().split(": ", 1) for line in told), folder)
        finally:
            process.terminate()
            process.wait(timeout=30)


def account(up: Up, name: str, role: str = "admin") -> None:
    """Make one that has not to be asked for, as an operator does."""
    command = [sys.executable, str(ROOT / "scripts" / "create_user.py"), name, "--role", role]
    home = {"FOOTPATH_SERVER_HOME": str(up.folder / "server"), "PYTHONPATH": str(ROOT), "NEW_USER_PASSWORD": PASSWORD}
    subprocess.run(command, cwd=up.folder, env=os.environ | home, check=True, timeout=60)


def children_of(process: subprocess.Popen[str]) -> list[int]:
    """The process ids of its children, in the order they were started."""
    return [int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
