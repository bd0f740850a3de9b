"""Connection to a Neo4j server: retried reads and writes, error messages with advice, and chunked queries.

Every query that the graph's stores send goes through :class:`Neo4jConnection`, which turns the driver's errors into ours.
"""

import asyncio
import random
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from time import monotonic
from typing import Any, Literal, LiteralString, TypeVar
from urllib.parse import urlsplit

from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncManagedTransaction, AsyncSession
from neo4j.exceptions import DriverError, IncompleteCommit, Neo4jError, ServiceUnavailable

from domain.errors import StoreRefusedError, StoreUnreachableError, UnavailableError
from graph.backends import cypher

Transaction = AsyncManagedTransaction
T = TypeVar("T")

OLDEST_VERSION = (5, 26)
"""Oldest supported server version, as (major, minor)."""
_MAX_COMMITS = 3
"""How often a transaction is tried whose commit has an unknown outcome."""
_FIRST_DELAY, _LONGEST_DELAY = 0.1, 5.0  # seconds between attempts, doubled each time
_CONNECT_SECONDS = 15.0
"""Time limit for opening a connection, handshake included."""


@dataclass(frozen=True, slots=True)
class GraphServer:
    """Address of the graph's database, without the password."""

    url: str
    user: str
    """Empty for a server without authentication."""
    database: str

    def __str__(self) -> str:
        """Return the address for messages, without any user and password in it."""
        try:
            parts = urlsplit(self.url)
        except ValueError:
            return "the graph's address"
        return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


_SCHEMES = frozenset({"bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc"})


def check_address(server: GraphServer) -> None:
    """Raise ``UnavailableError`` for an invalid address, or one with a user or password, which logs would show."""
    try:
        parts = urlsplit(server.url)
        is_valid = parts.scheme in _SCHEMES and bool(parts.hostname) and "@" not in parts.netloc
        is_valid = is_valid and (parts.port is None or parts.port > 0)
    except ValueError:
        is_valid = False
    if not is_valid:
        raise UnavailableError(
            f"{server}: this cannot be used as an address. Write FOOTPATH_GRAPH_URL as bolt://host:7687 or"
            " neo4j://host:7687 (+s for TLS), user and password in FOOTPATH_GRAPH_USER and FOOTPATH_GRAPH_PASSWORD"
        ).set_part("graph")


_ADVICE_BY_CODE = {
    # By Neo4j status code; formatted with the user and the database.
    "Neo.ClientError.Security.Unauthorized": "the server refused user {user!r} with this password. Check"
    " FOOTPATH_GRAPH_USER and FOOTPATH_GRAPH_PASSWORD",
    "Neo.ClientError.Security.AuthenticationRateLimit": "the server takes no password for some seconds after several wrong"
    " ones. Check FOOTPATH_GRAPH_USER and FOOTPATH_GRAPH_PASSWORD, wait, and try again",
    "Neo.ClientError.Security.CredentialsExpired": "the first password of user {user!r} must be changed before use."
    " Run on database system: ALTER CURRENT USER SET PASSWORD FROM 'old' TO 'new'",
    "Neo.ClientError.Security.Forbidden": "user {user!r} may not do this in database {database!r}. Give it a role that may"
    " read and write, and for the first start one that may create constraints (Enterprise: publisher, architect)",
    "Neo.ClientError.Database.DatabaseNotFound": "there is no database {database!r}. Set FOOTPATH_GRAPH_DATABASE to one that"
    " exists (SHOW DATABASES lists them; Neo4j Community has one, usually called neo4j)",
    "Neo.ClientError.General.ForbiddenOnReadOnlyDatabase": "database {database!r} is read-only. Make it writable"
    " (server.databases.default_to_read_only, server.databases.read_only), or only read from it",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase": "database {database!r} is read-only. Make it writable"
    " (server.databases.default_to_read_only, server.databases.read_only), or only read from it",
    "Neo.ClientError.Cluster.NotALeader": "this member of the cluster takes no writes. Use a neo4j:// address, which finds"
    " the one that does",
    "Neo.TransientError.Database.DatabaseUnavailable": "database {database!r} is not running. Start it (START DATABASE), or"
    " wait until it has recovered",
    "Neo.TransientError.General.MemoryPoolOutOfMemoryError": "this is too much for the server's memory in one transaction."
    " Nothing of it was kept. Raise dbms.memory.transaction.total.max and the heap, or write smaller batches",
    "Neo.TransientError.General.OutOfMemoryError": "the server ran out of memory. Nothing of this was kept. Raise"
    " server.memory.heap.max_size, or write smaller batches",
}


_SERVER_FAILURE_ADVICE = "the server failed in itself; nothing of this was kept. See its log and its free disk, and restart the database if it asks for that"
"""Advice for any error of class DatabaseError without a text of its own."""


def explain_driver_error(error: Exception, server: GraphServer) -> str:
    """Describe a driver error and its remedy, with the driver's own message; never contains the password."""
    detail = " ".join(str(error).split())[:400]
    return (
        f"{_find_advice(error).format(user=server.user, database=server.database)} ({detail or type(error).__name__})"
    )


def _find_advice(error: Exception) -> str:
    """Return the cause and the remedy of a driver error, with placeholders for user and database."""
    if isinstance(error, Neo4jError):
        code = error.code or ""
        is_server_failure = code.startswith("Neo.DatabaseError.")
        return _ADVICE_BY_CODE.get(
            code, _SERVER_FAILURE_ADVICE if is_server_failure else "the server refused this; nothing of it was kept"
        )
    if isinstance(error, ServiceUnavailable | TimeoutError):
        return (
            "no Neo4j answers there. Start the server, or correct FOOTPATH_GRAPH_URL (Bolt's port is 7687 unless it was"
            " changed; 7474 is the browser's)"
        )
    if isinstance(error, DriverError):
        return "the connection failed. Check that this is a Neo4j 5.26 or newer, and try again: nothing that was acknowledged is lost"
    return "the driver cannot send this"


class Neo4jConnection:
    """A pool of connections to one database, for one event loop. Nothing is opened before :meth:`open`.

    ``retry_seconds``: how long a query or transaction that fails transiently (a deadlock, a server that restarts) is
    retried. Every write must therefore be safe to repeat.
    """

    def __init__(self, server: GraphServer, password: str, *, retry_seconds: float) -> None:
        self._server = server
        self._password = password
        self._retry_seconds = retry_seconds
        self._gave_up_before = False
        self._driver: AsyncDriver | None = None
        self._bookmarks = AsyncGraphDatabase.bookmark_manager()

    async def open(self) -> None:
        """Connect, without retries, and check the server's version; idempotent.

        Raises:
            UnavailableError: the server, the account or the database is missing, or the server is too old.
        """
        if self._driver is not None:
            return
        check_address(self._server)
        async with self._translate_errors():
            driver = self._create_driver()
            try:
                # The driver's own limits leave out the handshake: another service may listen there and never answer.
                async with asyncio.timeout(_CONNECT_SECONDS), self._open_session(driver) as session:
                    # An auto-commit query is not repeated: a wrong address fails now, not after the retries.
                    result = await session.run(cypher.READ_SERVER_VERSION)
                    version = (await result.single(strict=True)).value()
                check_version(version, self._server)
            except BaseException:
                await driver.close()
                raise
        self._driver = driver

    async def read(self, query: LiteralString, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """Return the rows of one query as lists of values, in one round trip without a transaction."""
        return await self._run_with_retries(query, parameters, "READ")

    async def write_query(self, query: LiteralString, parameters: Mapping[str, Any]) -> list[list[Any]]:
        """Run one query that writes and return its rows.

        Atomic as :meth:`write`, in one round trip instead of at least three. The query is repeated if its response is
        lost, so a second execution must have no effect.
        """
        return await self._run_with_retries(query, parameters, "WRITE")

    async def _run_with_retries(
        self, query: LiteralString, parameters: Mapping[str, Any] | None, mode: Literal["READ", "WRITE"]
    ) -> list[list[Any]]:
        """Run an auto-commit query, with the retries that the driver makes only for transactions.

        If the previous operation used up all its retries, this one is tried once: a run that continues without the
        store asks it several more times, and must not wait for the full retry time at each.
        """
        deadline = monotonic() + (0.0 if self._gave_up_before else self._retry_seconds)
        delay = _FIRST_DELAY
        async with self._translate_errors(retried=True):
            while True:
                try:
                    async with self._open_session(self._driver, mode) as session:
                        return await (await session.run(query, dict(parameters or {}))).values()
                except (Neo4jError, DriverError) as error:
                    if not error.is_retryable() or monotonic() + delay > deadline:
                        raise
                # A random delay: two queries that deadlocked would collide again after the same pause.
                await asyncio.sleep(random.uniform(delay / 2, delay))
                delay = min(2 * delay, _LONGEST_DELAY)

    async def check_reachable(self) -> None:
        """Raise ``UnavailableError`` if the server does not answer; without retries."""
        async with self._translate_errors(), self._open_session(self._driver) as session:
            await (await session.run(cypher.READ_SERVER_VERSION)).consume()

    async def write(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        """Run ``work`` in one transaction, which takes effect as a whole or not at all.

        If the connection breaks during the commit, its outcome is unknown and ``work`` runs again: it must then have
        no effect if the commit went through.
        """
        async with self._translate_errors(retried=True):
            for _ in range(_MAX_COMMITS - 1):
                with suppress(IncompleteCommit):
                    return await self._run_transaction(work)
            return await self._run_transaction(work)

    async def _run_transaction(self, work: Callable[[Transaction], Awaitable[T]]) -> T:
        async with self._open_session(self._driver) as session:
            return await session.execute_write(work)

    async def close(self) -> None:
        """Close every connection; idempotent. :meth:`open` opens again."""
        driver, self._driver = self._driver, None
        if driver is not None:
            await driver.close()

    def _create_driver(self) -> AsyncDriver:
        return AsyncGraphDatabase.driver(  # pyright: ignore[reportUnknownMemberType]
            self._server.url,
            auth=(self._server.user, self._password) if self._server.user else None,
            connection_timeout=_CONNECT_SECONDS,
            max_transaction_retry_time=self._retry_seconds,
            # Notifications (a label that no node has yet) only help while queries are being written.
            notifications_min_severity="OFF",
            user_agent="footpath",
        )

    def _open_session(self, driver: AsyncDriver | None, mode: Literal["READ", "WRITE"] = "READ") -> AsyncSession:
        if driver is None:
            raise UnavailableError(f"{self._server}: the connection is not open; call setup() first").set_part("graph")
        # Bookmarks: in a cluster, each member then sees earlier writes, whichever member took them.
        return driver.session(  # pyright: ignore[reportUnknownMemberType]
            database=self._server.database, bookmark_manager=self._bookmarks, default_access_mode=mode
        )

    @asynccontextmanager
    async def _translate_errors(self, *, retried: bool = False) -> AsyncGenerator[None]:
        """Turn driver errors into ``UnavailableError``. ``retried``: the operation was retried to its time limit."""
        try:
            yield
        except (Neo4jError, DriverError, TimeoutError, ValueError) as error:
            error_class = get_error_class(error)
            self._gave_up_before = self._gave_up_before or (retried and issubclass(error_class, StoreUnreachableError))
            raise error_class(f"{self._server}: {explain_driver_error(error, self._server)}").set_part(
                "graph"
            ) from error
        self._gave_up_before = False


_UNREACHABLE_CODES = (
    "Neo.DatabaseError.",
    "Neo.TransientError.",
    "Neo.ClientError.Transaction.",
    "Neo.ClientError.Security.AuthenticationRateLimit",
)
"""Code prefixes of a server that cannot answer at present.

Neo4j defines a DatabaseError as a failure of the server rather than of the query: a full disk, a log that cannot be
written, a database that needs a restart. Transaction codes mean that the server ended the transaction, as it does when
it stops. The rate limit passes by itself, and the wrong passwords of other clients trigger it too.
"""
_REFUSED_CODES = (
    "Neo.ClientError.Security.",
    "Neo.ClientError.Database.",
    "Neo.ClientError.General.WriteOnReadOnlyAccessDatabase",
)
"""Code prefixes about the account or the database, rather than about the query."""


def get_error_class(error: Exception) -> type[UnavailableError]:
    """Return the class of a driver error: unreachable for now, refused for this account, or otherwise unavailable."""
    if isinstance(error, TimeoutError):
        return StoreUnreachableError
    if not isinstance(error, Neo4jError | DriverError):
        return UnavailableError
    code = (error.code or "") if isinstance(error, Neo4jError) else ""
    if isinstance(error, ServiceUnavailable) or error.is_retryable() or code.startswith(_UNREACHABLE_CODES):
        return StoreUnreachableError
    return StoreRefusedError if code.startswith(_REFUSED_CODES) else UnavailableError


def check_version(version: str, server: GraphServer) -> None:
    """Raise ``UnavailableError`` unless ``version`` (``5.26.30``, ``2025.11.2``) is new enough."""
    numbers = re.match(r"(\d+)\.(\d+)", version)
    if numbers is None or (int(numbers[1]), int(numbers[2])) < OLDEST_VERSION:
        oldest = ".".join(map(str, OLDEST_VERSION))
        raise UnavailableError(
            f"{server}: this is Neo4j {version}; Footpath needs {oldest} or newer. Upgrade the server"
        ).set_part("graph")


_CHUNK_SIZE = 2_000
"""Rows of one query."""


class Neo4jBackend:
    """Base of the stores on a Neo4j server: holds the connection, and reads in pages and chunks."""

    def __init__(self, connection: Neo4jConnection) -> None:
        self._connection = connection

    async def _stream(self, page_query: LiteralString, **position: str) -> AsyncIterator[list[Any]]:
        """Yield the rows of a paged query; each page is a read of its own.

        A page begins after ``$after`` and the other parameters in ``position``, which the first columns of a row give for
        the next page, in this order.
        """
        position = {"after": "", **position}
        while rows := await self._connection.read(page_query, {**position, "limit": _CHUNK_SIZE}):
            for row in rows:
                yield row
            position = dict(zip(position, rows[-1], strict=False))

    async def _read_in_chunks(self, query: LiteralString, values: Iterable[str]) -> list[list[Any]]:
        """Return the rows of a query over ``$values``, which gets each distinct value once, a chunk at a time."""
        unique_values = sorted(set(values))
        chunks = (unique_values[start : start + _CHUNK_SIZE] for start in range(0, len(unique_values), _CHUNK_SIZE))
        return [row for chunk in chunks for row in await self._connection.read(query, {"values": chunk})]


async def ensure_structure(connection: Neo4jConnection, statements: Sequence[LiteralString]) -> None:
    """Connect, and create missing constraints and indexes, each in a transaction of its own, as Neo4j requires."""
    await connection.open()
    for statement in statements:

        async def run_statement(transaction: Transaction, statement: LiteralString = statement) -> None:
            await (await transaction.run(statement)).consume()

        await connection.write(run_statement)


async def run_in_chunks(
    transaction: Transaction, query: LiteralString, rows: Sequence[object], **parameters: object
) -> int:
    """Run a query over ``$rows``, a chunk at a time, and return the number of nodes that it created."""
    created = 0
    for start in range(0, len(rows), _CHUNK_SIZE):
        result = await transaction.run(query, {**parameters, "rows": rows[start : start + _CHUNK_SIZE]})
        created += (await result.consume()).counters.nodes_created
    return created
