"""The servers of the tests: started when a test first needs one, one per test run, stopped at the end.

``--require=neo4j`` (or ``postgres``, ``qdrant``) turns a server that cannot be had into a failure; without it such tests are skipped, with a line
that says why. A test that uses Neo4j or PostgreSQL carries that name in its node id; xdist gives all of them to one worker. Qdrant starts in a
third of a second: each test process that needs one has its own.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NoReturn, cast

import pytest
from xdist.scheduler import LoadFileScheduling  # pyright: ignore[reportMissingTypeStubs]

from graph.backends.neo4j_graph import Neo4jGraph
from tests.servers.missing import MissingServerError
from tests.servers.neo4j.server import Neo4jServer
from tests.servers.postgres.server import PostgresServer
from tests.servers.qdrant.places import QdrantPlace
from tests.servers.qdrant.server import QdrantServer, find_program

SERVERS = {"neo4j": "neo4j_server", "postgres": "postgres_server"}
"""Those of which a test run has one, and the fixture of each."""

# The first such test may fetch jars (once for a machine) and starts the server; a killed one replays its log.
_SECONDS = 1200
_PAGE = "tests/browser/"
_OUTER = (_PAGE, "tests/faults/", "tests/flows/", "tests/servers/")
"""Where all tests need a server, the browser, a killed process or a long flow."""
_SKIPPED = "not tested on a real server: "


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--require",
        action="append",
        default=[],
        choices=sorted([*SERVERS, "qdrant", "chromium", "python3.13"]),
        help="fail where this server, the browser, or that Python cannot be started",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is of the outer ring, before ``-m`` chooses."""
    for item in items:
        fixtures: set[str] = set(getattr(item, "fixturenames", ()))
        chosen = {one for one in _params(item) if isinstance(one, str)}
        if item.nodeid.startswith(_OUTER) or fixtures & {*SERVERS.values(), "run_qdrant"} or chosen & {*SERVERS}:
            item.add_marker(pytest.mark.outer)
        for name, fixture in SERVERS.items():
            if fixture not in fixtures:
                continue
            if name not in item.nodeid:
                raise pytest.UsageError(f"{item.nodeid} uses {fixture}: say {name} in the name of the test or its file")
            if item.get_closest_marker("timeout") is None:
                item.add_marker(pytest.mark.timeout(_SECONDS))


def _params(item: pytest.Item) -> list[object]:
    """The values that a test or its fixtures were parametrised with: a fixture asks for a server by the name of one."""
    return (
        list(item.callspec.params.values()) if isinstance(item, pytest.Function) and hasattr(item, "callspec") else []
    )


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
def run_qdrant(request: pytest.FixtureRequest) -> Callable[..., AbstractContextManager[QdrantServer]]:
    """Starts a Qdrant server of a test's own, with the keys that it is given; it ends with its block."""

    @contextmanager
    def run(api_key: str = "", read_only_key: str = "") -> Generator[QdrantServer]:
        server = QdrantServer(api_key, read_only_key)
        try:
            server.start()
        except MissingServerError as error:
            server.remove()
            _missing(request.config, "qdrant", str(error))
        try:
            yield server
        finally:
            server.remove()

    return run


@pytest.fixture(scope="session")
def qdrant_server(run_qdrant: Callable[..., AbstractContextManager[QdrantServer]]) -> Iterator[QdrantPlace]:
    """A running Qdrant of this process's own, or the one that ``QDRANT_URL`` names. Tests use collections of their own."""
    if (url := os.environ.get("QDRANT_URL", "")) and not _has_qdrant():
        yield QdrantPlace(url, os.environ.get("QDRANT_API_KEY", ""))
        return
    with run_qdrant() as server:
        yield QdrantPlace(server.url)


@pytest.fixture
def qdrant_settings(qdrant_server: QdrantPlace) -> Iterator[dict[str, str]]:
    """Settings of collections of a test's own on it; they go at the end."""
    with qdrant_server.collections() as name:
        yield qdrant_server.settings(name)


def _has_qdrant() -> bool:
    try:
        find_program()
    except MissingServerError:
        return False
    return True


def _missing(config: pytest.Config, name: str, why: str) -> NoReturn:
    if name in cast("list[str]", config.getoption("require")):
        pytest.fail(f"--require={name}: {why}", pytrace=False)
    pytest.skip(f"{name} {_SKIPPED}{why}")
