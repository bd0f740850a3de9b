"""A real Neo4j Community server of one's own: a process on a free loopback port, in a temporary home."""

import shutil
import signal
import socket
from contextlib import suppress
from pathlib import Path

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError

from tests.servers.missing import MissingServerError
from tests.servers.neo4j.jars import fetched_jars
from tests.support.server_processes import ServerProcess, find_free_port

START_SECONDS = 120
STOP_SECONDS = 30
_USER, _FIRST_PASSWORD = "neo4j", "neo4j"

_JVM = (
    "-Xms256m",
    "-Xmx512m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.util.concurrent=ALL-UNNAMED",
    "--enable-native-access=ALL-UNNAMED",
)

# Without preallocation a fresh home takes 3 MB instead of 517; without the internal key a stop takes ten seconds.
_CONFIGURATION = """\
server.default_listen_address=127.0.0.1
server.bolt.enabled=true
server.bolt.listen_address=127.0.0.1:{port}
server.bolt.advertised_address=127.0.0.1:{port}
server.http.enabled=false
server.https.enabled=false
dbms.security.auth_enabled=true
server.memory.pagecache.size=128m
dbms.usage_report.enabled=false
db.tx_log.preallocate=false
internal.server.bolt.thread_pool_shutdown_wait_time=0s
"""


class Neo4jServer:
    """One server. :meth:`start` may follow :meth:`kill` or :meth:`stop`: the home, the port and the data stay."""

    user = _USER
    password = "of-the-tests-only"

    def __init__(self, home: Path) -> None:
        self._home = home
        self._process = ServerProcess(home / "console.log")
        self.port = find_free_port()

    @property
    def url(self) -> str:
        return f"bolt://127.0.0.1:{self.port}"

    def start(self, *settings: str) -> None:
        """Start and wait until it answers. ``settings`` are further lines of ``neo4j.conf``, for this start only.

        Raises:
            MissingServerError: there is no Java or Maven, or the server did not answer in time.
        """
        java = shutil.which("java")
        if java is None:
            raise MissingServerError("java is not on the PATH: install Java 17")
        jars = fetched_jars()
        configuration = self._home / "conf"
        configuration.mkdir(parents=True, exist_ok=True)
        lines = _CONFIGURATION.format(port=self.port) + "\n".join(settings) + "\n"
        (configuration / "neo4j.conf").write_text(lines, encoding="utf-8")
        main = ["org.neo4j.server.CommunityEntryPoint", f"--home-dir={self._home}", f"--config-dir={configuration}"]
        self._process.start([java, *_JVM, "-cp", f"{jars}/*", *main], self._answers, START_SECONDS)

    def stop(self) -> None:
        """Stop it in order (SIGTERM)."""
        self._process.stop(signal.SIGTERM, STOP_SECONDS)

    def kill(self) -> None:
        """End it at once, as a crash would (SIGKILL)."""
        self._process.kill()

    def _answers(self) -> bool:
        """Whether it takes the tests' password; a fresh home gets that password first."""
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
            for password in (self.password, _FIRST_PASSWORD):
                with suppress(DriverError, Neo4jError):
                    self._sign_in(password)
                    return True
        return False

    def _sign_in(self, password: str) -> None:
        with self.driver(password) as driver:
            if password == self.password:
                driver.execute_query("RETURN 1", database_="neo4j")
            else:
                change = "ALTER CURRENT USER SET PASSWORD FROM $old TO $new"
                driver.execute_query(change, old=password, new=self.password, database_="system")

    def driver(self, password: str = password) -> Driver:
        """A connection of the tests' own, beside the code under test."""
        return GraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
            self.url, auth=(self.user, password), connection_timeout=5, notifications_min_severity="OFF"
        )

    def wipe(self) -> None:
        """Remove all data; constraints and indexes stay."""
        with self.driver() as driver, driver.session(database="neo4j") as session:  # pyright: ignore[reportUnknownMemberType]
            session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()
