"""All of Footpath as processes: ``scripts/up.py``, and a page on a server that has nothing to call."""

import os
import subprocess
import sys
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import httpx

from tests.support.source_tree import ROOT

PASSWORD = "correct horse battery"


@dataclass(frozen=True)
class Up:
    """The running program and the addresses that it printed, by name. ``folder``: where its files are."""

    process: subprocess.Popen[str]
    addresses: dict[str, str]
    folder: Path

    def account(self, name: str, role: str) -> str:
        """Make one, as an administrator of the server does. Gives its name."""
        with httpx.Client(base_url=f"{self.addresses['server']}/api/v1", trust_env=False, timeout=30) as client:
            made = client.post("/auth/register", json={"name": name, "password": PASSWORD}).raise_for_status().json()
            boss = {"name": self._boss, "password": PASSWORD}
            token = client.post("/auth/login", json=boss).raise_for_status().json()["access_token"]
            client.patch(
                f"/users/{made['user']['id']}", json={"role": role}, headers={"Authorization": f"Bearer {token}"}
            ).raise_for_status()
        return name

    @cached_property
    def _boss(self) -> str:
        """The first administrator, whom only the command makes."""
        command = [sys.executable, str(ROOT / "scripts" / "create_user.py"), "boss"]
        environment = _environment(self.folder)
        subprocess.run(
            command, input=f"{PASSWORD}\n", text=True, check=True, cwd=self.folder, env=environment, capture_output=True
        )
        return "boss"


@contextmanager
def everything(folder: Path, *options: str, **variables: str) -> Generator[Up]:
    """All of Footpath on free ports, its files in ``folder``. ``options``: further ones; ``variables``: settings."""
    command = [str(ROOT / "scripts" / "up.py"), "--home", str(folder / "up")]
    command += ["--page-port", "0", "--server-port", "0", "--playground-port", "0", *options]
    with _running(command, folder, lines=3, **variables) as up:
        yield up


@contextmanager
def without_a_store(folder: Path) -> Generator[Up]:
    """A page, and a server whose runs all fail: no graph was built for it."""
    with _running([str(Path(__file__).with_name("storeless.py"))], folder, lines=2) as up:
        yield up


@contextmanager
def _running(command: list[str], folder: Path, lines: int, **variables: str) -> Generator[Up]:
    environment = _environment(folder) | variables
    command = [sys.executable, *command]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=folder, env=environment) as process:
        assert process.stdout
        try:
            told = [process.stdout.readline() for _ in range(lines)]
            yield Up(process, dict(line.strip().split(": ", 1) for line in told), folder)
        finally:
            process.terminate()
            process.wait(timeout=30)


def _environment(folder: Path) -> dict[str, str]:
    return os.environ | {
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "scripts")]),
        "FOOTPATH_SERVER_HOME": str(folder / "server"),
        "HOME": str(folder),
    }


def children_of(process: subprocess.Popen[str]) -> list[int]:
    """The process ids of its children, in the order they were started."""
    return [int(one) for one in Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()]
