"""The servers of the tests: started when a test first needs one, one per test run, stopped at the end.

``--require=neo4j`` (or ``postgres``, ``qdrant``) turns a server that cannot be had into a failure; without it such tests are skipped, with a line
that says why. A test that uses a server carries the server's name in its node id; xdist gives all of them to one worker.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from typing import Any, NoReturn, cast

import pytest
from xdist.scheduler import LoadFileScheduling  # pyright: ignore[reportMissingTypeStubs]

from graph.backends.neo4j import Neo4jGraph
from tests.servers.missing import MissingServerError
from tests.servers.neo4j.server import Neo4jServer
from tests.servers.postgres.server import PostgresServer
from tests.servers.qdrant.places import QdrantPlace

SERVERS = {"neo4j": "neo4j_server", "postgres": "postgres_server", "qdrant": "qdrant_server"}
"""Names as ``--require`` takes them, and the fixture of each."""

# The first such test may fetch jars (once for a machine) and starts the server; a killed one replays its log.
_SECONDS = 1200
_PAGE = "tests/browser/"
_SKIPPED = "not tested on a real server: "


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require",
        action="append",
        default=[],
        choices=sorted([*SERVERS, "chromium", "python3.13"]),
        help="fail where this server, the browser, or that Python cannot be started",
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        for name, fixture in SERVERS.items():
            if fixture not in getattr(item, "fixturenames", ()):
                continue
            if name not in item.nodeid:
                raise pytest.UsageError(f"{item.nodeid} uses {fixture}: say {name} in the name of the test or its file")
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(_SECONDS))


class _ServerScheduling(LoadFileScheduling):
    """A file's tests to one worker; all tests of a server, and all of the page, to one worker: one of each is enough."""

    def _split_scope(self, nodeid: str) -> str:
        return next((name for name in (*SERVERS, _PAGE) if name in nodeid), nodeid.partition("::")[0])


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadFileScheduling | None:
    return _ServerScheduling(config, log) if config.getoption("dist") in ("load", "loadfile") else None


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say once what was not tested: a line of skips is easily overlooked."""
    reports: list[Any] = terminalreporter.stats.get("skipped", [])
    lines = (line for report in reports for line in str(report.longrepr).splitlines())
    reasons = {line[line.index("Skipped: ") :].strip("()'\"") for line in lines if _SKIPPED in line}
    for reason in sorted(reasons):
        terminalreporter.write_line(reason, yellow=True)


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jServer]:
    """A running Neo4j with an account that may do everything; its data is that of the last test."""
    home = tmp_path_factory.mktemp("neo4j")
    server = Neo4jServer(home)
    try:
        server.start()
    except MissingServerError as error:
        _missing(request.config, "neo4j", str(error))
    yield server
    server.stop()
    shutil.rmtree(home, ignore_errors=True)


@pytest.fixture
async def neo4j_graph(neo4j_server: Neo4jServer) -> AsyncIterator[Neo4jGraph]:
    """An empty graph on the server, set up."""
    await asyncio.to_thread(neo4j_server.wipe)
    graph = Neo4jGraph(neo4j_server.url, neo4j_server.user, neo4j_server.password)
    await graph.setup()
    yield graph
    await graph.close()


@pytest.fixture(scope="session")
def postgres_server(request: pytest.FixtureRequest) -> Iterator[PostgresServer]:
    """A running PostgreSQL of this run's own. Tests make databases of their own on it."""
    server = PostgresServer()
    try:
        server.start()
    except MissingServerError as error:
        _missing(request.config, "postgres", str(error))
    yield server
    server.remove()


@pytest.fixture(scope="session")
def qdrant_server(request: pytest.FixtureRequest) -> QdrantPlace:
    """The Qdrant server that ``QDRANT_URL`` names: this program cannot start one. Tests use collections of their own."""
    if not (url := os.environ.get("QDRANT_URL", "")):
        _missing(request.config, "qdrant", "QDRANT_URL names no Qdrant server")
    return QdrantPlace(url, os.environ.get("QDRANT_API_KEY", ""))


@pytest.fixture(scope="session")
def qdrant_stand_in() -> Iterator[QdrantPlace]:
    """What stands in for a Qdrant server, in this process."""
    from tests.servers.qdrant.stand_in import serving_stand_in

    with serving_stand_in() as url:
        yield QdrantPlace(url)


def _missing(config: pytest.Config, name: str, why: str) -> NoReturn:
    if name in cast("list[str]", config.getoption("require")):
        pytest.fail(f"--require={name}: {why}", pytrace=False)
    pytest.skip(f"{name} {_SKIPPED}{why}")
