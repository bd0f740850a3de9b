"""A real Qdrant server of one's own: a process on free loopback ports, in a temporary folder."""

import hashlib
import lzma
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import urllib.error
import urllib.request
from pathlib import Path

from tests.servers.downloads import locked_folder
from tests.servers.missing import MissingServerError
from tests.support.server_processes import ServerProcess, find_free_port
from tests.support.shared_files import SHARED_SERVERS

START_SECONDS = 60
STOP_SECONDS = 20


class QdrantServer:
    """One server. :meth:`start` may follow :meth:`kill` or :meth:`stop`: the ports and the data stay.

    The port of gRPC is the one after that of HTTP, where clients look for it.
    """

    def __init__(self, api_key: str = "", read_only_key: str = "") -> None:
        self.port = _two_free_ports()
        self._keys = {"API_KEY": api_key, "READ_ONLY_API_KEY": read_only_key}
        self._home = Path(tempfile.mkdtemp(prefix="footpath-qdrant-"))
        self._process = ServerProcess(self._home / "log")

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it and wait until it answers.

        Raises:
            MissingServerError: there is no server here, or it did not start.
        """
        settings = {
            "SERVICE__HOST": "127.0.0.1",
            "SERVICE__HTTP_PORT": str(self.port),
            "SERVICE__GRPC_PORT": str(self.port + 1),
            "STORAGE__STORAGE_PATH": str(self._home / "storage"),
            "STORAGE__SNAPSHOTS_PATH": str(self._home / "snapshots"),
            # A collection of a test holds a few points: more threads and larger segments only take memory.
            "STORAGE__PERFORMANCE__MAX_SEARCH_THREADS": "1",
            "STORAGE__OPTIMIZERS__DEFAULT_SEGMENT_NUMBER": "1",
            "STORAGE__WAL__WAL_CAPACITY_MB": "1",
            "TELEMETRY_DISABLED": "true",
            "LOG_LEVEL": "WARN",
            **{f"SERVICE__{name}": key for name, key in self._keys.items() if key},
        }
        environment = {"PATH": os.defpath} | {f"QDRANT__{name}": value for name, value in settings.items()}
        self._process.start([find_program()], self._is_ready, START_SECONDS, environment=environment, folder=self._home)

    def stop(self) -> None:
        """Stop it in order (SIGTERM)."""
        self._process.stop(signal.SIGTERM, STOP_SECONDS)

    def kill(self) -> None:
        """End it at once, as a crash would (SIGKILL)."""
        self._process.kill()

    def remove(self) -> None:
        """End it and remove its data."""
        self.kill()
        shutil.rmtree(self._home, ignore_errors=True)

    def _is_ready(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=5) as answer:  # our own loopback
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


def find_program() -> Path:
    """The server's program: ``QDRANT_BIN``, else the packed one beside the project, unpacked once for a machine.

    Raises:
        MissingServerError: there is neither, or what is packed is not what its README says.
    """
    if named := os.environ.get("QDRANT_BIN", ""):
        if shutil.which(named) is None:
            raise MissingServerError(f"QDRANT_BIN names {named}, which is no program")
        return Path(named).resolve()
    packed = sorted(SHARED_SERVERS.glob("qdrant-*.xz"))
    if not packed:
        raise MissingServerError("QDRANT_BIN names no Qdrant server, and QDRANT_URL none that runs")
    content = packed[-1].read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    if digest not in re.findall(r"\b[0-9a-f]{64}\b", (SHARED_SERVERS / "README.md").read_text(encoding="utf-8")):
        raise MissingServerError(f"{packed[-1].name} has another checksum than the README beside it says")
    with locked_folder(f"qdrant-{digest[:16]}") as folder:
        program = folder / "qdrant"
        if not program.exists():
            unpacked = folder / "unpacked"
            unpacked.write_bytes(lzma.decompress(content))
            unpacked.chmod(0o700)
            unpacked.rename(program)
    if subprocess.run([program, "--version"], capture_output=True, check=False).returncode:
        raise MissingServerError(f"{packed[-1].name} does not run on this machine")
    return program


def _two_free_ports() -> int:
    """The lower one of two that follow each other."""
    while True:
        lower = find_free_port()
        if lower < 65_535 and _is_free(lower + 1):
            return lower


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
