"""``scripts/up.py`` as a process: what it says, and how it stops."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.architecture.source_tree import ROOT


@dataclass(frozen=True)
class Up:
    """The running program and the addresses that it printed, by name."""

    process: subprocess.Popen[str]
    addresses: dict[str, str]


@contextmanager
def everything(folder: Path) -> Generator[Up]:
    """All of Footpath on free ports, its files in ``folder``."""
    command = [sys.executable, str(ROOT / "scripts" / "up.py"), "--home", str(folder / "up")]
    command += ["--page-port", "0", "--server-port", "0", "--playground-port", "0"]
    environment = os.environ | {
        "PYTHONPATH": str(ROOT),
        "FOOTPATH_SERVER_HOME": str(folder / "server"),
        "HOME": str(folder),
    }
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        assert process.stdout
        try:
            lines = [process.stdout.readline() for _ in range(3)]
            yield Up(process, dict(line.strip().split(": ", 1) for line in lines))
        finally:
            process.terminate()
            process.wait(timeout=30)


def children_of(process: subprocess.Popen[str]) -> list[int]:
    """The process ids of its children, in the order they were started."""
    return [int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
