"""A real PostgreSQL of one's own: a cluster in a temporary folder, on a free loopback port, never as root."""

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
from pathlib import Path

from tests.servers.missing import MissingServerError
from tests.support.server_processes import ServerProcess, find_free_port

PLACES = Path("/usr/lib/postgresql")
"""Where Debian puts its versions."""
START_SECONDS = 60
STOP_SECONDS = 20

_CONFIGURATION = """\
listen_addresses = '127.0.0.1'
port = {port}
unix_socket_directories = ''
fsync = off
synchronous_commit = off
full_page_writes = off
shared_buffers = 32MB
max_connections = 100
timezone = 'America/St_Johns'
"""


class PostgresServer:
    """One cluster. :meth:`start` may follow :meth:`kill` or :meth:`stop`: the port and the data stay."""

    user = "footpath"

    def __init__(self) -> None:
        self.password = secrets.token_hex(16)
        self.port = find_free_port()
        self._home: Path | None = None
        self._programs = Path()
        self._process: ServerProcess | None = None

    def url(self, database: str) -> str:
        """As the settings take it."""
        return f"postgresql+asyncpg://{self.user}:{self.password}@127.0.0.1:{self.port}/{database}"

    def start(self) -> None:
        """Make the cluster where there is none, start it and wait until it answers.

        Raises:
            MissingServerError: PostgreSQL is not installed, or did not start.
        """
        self._programs = _programs()
        if self._home is None:
            self._home = self._create()
        self._process = self._process or ServerProcess(self._home / "log", crash=signal.SIGQUIT)
        self._process.start(
            [self._programs / "postgres", "-D", self._home / "data"], self._answers, START_SECONDS, account=_account()
        )

    def stop(self) -> None:
        """Stop it in order (SIGINT: a fast shutdown, connections are ended)."""
        if self._process is not None:
            self._process.stop(signal.SIGINT, STOP_SECONDS)

    def kill(self) -> None:
        """End it at once, without a goodbye (SIGQUIT: a crash, with all its processes)."""
        if self._process is not None:
            self._process.kill()

    def remove(self) -> None:
        """Stop it and remove its data."""
        self.stop()
        if self._home is not None:
            shutil.rmtree(self._home, ignore_errors=True)

    def _create(self) -> Path:
        home = Path(tempfile.mkdtemp(prefix="footpath-postgres-"))
        secret = home / "password"
        secret.write_text(self.password)
        user, group = _account()
        if user is not None and group is not None:
            for path in (home, secret):
                os.chown(path, user, group)
        options = ["--auth=scram-sha-256", f"--username={self.user}", f"--pwfile={secret}", "--no-sync"]
        command = [self._programs / "initdb", "-D", home / "data", "--encoding=UTF8", "--locale=C", *options]
        done = subprocess.run(
            command, cwd=home, capture_output=True, text=True, timeout=120, check=False, user=user, group=group
        )
        if done.returncode:
            shutil.rmtree(home, ignore_errors=True)
            raise MissingServerError(f"initdb failed: {(done.stdout + done.stderr).strip()[-800:]}")
        with (home / "data" / "postgresql.conf").open("a") as file:
            file.write(_CONFIGURATION.format(port=self.port))
        return home

    def _answers(self) -> bool:
        ask = [self._programs / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        return subprocess.run(ask, check=False).returncode == 0


def _programs() -> Path:
    """Where the server's programs are: on the PATH, or where Debian puts them, the newest first."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    versions = (path for path in PLACES.glob("*/bin/initdb") if path.parts[-3].isdecimal())
    for path in sorted(versions, key=lambda path: -int(path.parts[-3])):
        return path.parent
    raise MissingServerError(
        "initdb is neither on the PATH nor below /usr/lib/postgresql: install PostgreSQL 15 or newer"
    )


def _account() -> tuple[int | None, int | None]:
    """PostgreSQL refuses root: then the account that its package makes, or nobody."""
    if os.geteuid() != 0:
        return None, None
    for name in ("postgres", "nobody"):
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        return account.pw_uid, account.pw_gid
    raise MissingServerError(
        "PostgreSQL does not run as root, and there is neither a postgres nor a nobody to run it as"
    )
