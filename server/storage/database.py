"""Access to the server's database: connections, transactions, and the translation of driver errors."""

import asyncio
import re
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager, contextmanager, nullcontext
from pathlib import Path
from time import monotonic
from typing import Any, TypeVar

from sqlalchemy import URL, Connection, Engine, create_engine, event, make_url
from sqlalchemy.dialects.postgresql.asyncpg import AsyncAdapt_asyncpg_dbapi
from sqlalchemy.exc import (
    ArgumentError,
    DBAPIError,
    DisconnectionError,
    IntegrityError,
    InterfaceError,
    OperationalError,
)
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, AsyncSession, create_async_engine
from sqlalchemy.orm import Session
from sqlalchemy.pool import ConnectionPoolEntry, NullPool

from domain.errors import (
    ConflictError,
    FootpathError,
    StoreBusyError,
    StoreUnreachableError,
    UnavailableError,
    UsageError,
)
from domain.sqlite_inserts import ensure_inserts_recognised

T = TypeVar("T")


BUSY_SECONDS = 30
"""How long a write waits for another program's write."""
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_POOL_SIZE = 8
"""Connections kept open; as many again are opened under load, and further requests wait."""
MAX_CONNECTIONS = 2 * _POOL_SIZE
"""Connections that one process has with PostgreSQL at most."""
_PING_AFTER_SECONDS = 30.0
"""A connection that was idle for longer is pinged before use."""
_LAST_USED, _SINGLE = "footpath_used", "footpath_single"
_STATEMENT_CACHE_SIZE = 1000
"""Prepared statements that are cached for each connection. One that is not cached costs a round trip more."""
_BUSY_MESSAGES = ("database is locked", "database table is locked")
_CONFLICT_STATES = ("40001", "40P01", "55P03")
"""SQLSTATEs of serialization failures, deadlocks and lock timeouts."""
_TRANSIENT_STATES = ("08", "53", "55000", "57P")
"""SQLSTATE prefixes of servers that start, stop or recover, or have no connection left."""
_REFUSALS = {
    "28": "check user and password in FOOTPATH_DATABASE_URL",
    "3D000": "make it (createdb), or correct its name in FOOTPATH_DATABASE_URL",
    "42501": "let this account own the database, so that it may make its tables",
    "25006": "name a server in FOOTPATH_DATABASE_URL that takes writes",
}
"""Advice about SQLSTATEs that do not pass by themselves."""
_CONNECTION_ADVICE = "check FOOTPATH_DATABASE_URL, and that the database is there and lets this account in"


class Database:
    """One database. Opens nothing until used.

    ``url`` is ``sqlite+aiosqlite:///file`` or ``postgresql+asyncpg://…``.
    """

    def __init__(self, url: str) -> None:
        self.on_error: Callable[[FootpathError], None] = lambda _: None
        """Called with each error of the database itself."""
        self._engine = build_engine(url, pooled=True)
        # At READ COMMITTED each statement of PostgreSQL sees what was committed before it, in a transaction or not:
        # reads go without one, in one round trip instead of three.
        self._autocommit_engine = self._engine
        if self._engine.dialect.name == "postgresql":
            self._autocommit_engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        # SQLite has one writer at a time. Waiters of this lock are served in order and at once; SQLite's lock is polled.
        self._write_lock = asyncio.Lock() if self._engine.dialect.name == "sqlite" else nullcontext()
        self._thread_engine = _build_thread_engine(url) if self._engine.dialect.name == "sqlite" else None

    @property
    def dialect(self) -> str:
        """Return ``sqlite`` or ``postgresql``."""
        return self._engine.dialect.name

    @asynccontextmanager
    async def read_session(self) -> AsyncGenerator[AsyncSession]:
        """Yield a session for reading: one transaction on SQLite, one per statement on PostgreSQL."""
        with translate_errors(self.on_error):
            async with AsyncSession(self._autocommit_engine, expire_on_commit=False) as session:
                yield session

    @asynccontextmanager
    async def write_session(self, *, durable: bool = False, single: bool = False) -> AsyncGenerator[AsyncSession]:
        """Yield a session in a transaction, which is rolled back where an exception leaves it.

        ``durable``: the data is on disk when this returns, even after a power cut. Otherwise SQLite may lose the
        last moments in a power cut, but never in a crash of the program; PostgreSQL is always durable.

        ``single``: the transaction has one statement, which is atomic by itself; on PostgreSQL it then takes one
        round trip instead of three, and a second statement raises.
        """
        options = {"footpath_write": True, "footpath_durable": durable, "footpath_single": single}
        with translate_errors(self.on_error):
            async with (
                self._write_lock,
                AsyncSession(self._autocommit_engine if single else self._engine, expire_on_commit=False) as session,
            ):
                await session.connection(execution_options=options)
                yield session
                await session.commit()

    async def read(self, work: Callable[[Session], T]) -> T:
        """Return the result of ``work`` in a read-only transaction; see :meth:`write` for what it may do."""
        if (engine := self._thread_engine) is None:
            async with self.read_session() as session:
                return await session.run_sync(work)
        with translate_errors(self.on_error):
            return await run_to_completion(asyncio.to_thread(_run_in_session, engine, work, {}))

    async def write(self, work: Callable[[Session], T], *, durable: bool = False, single: bool = False) -> T:
        """Return the result of ``work`` in a transaction, with the options of :meth:`write_session`.

        On SQLite all of ``work`` runs in one thread call. With an asynchronous session each statement takes
        several, and after each the writer, with everyone queued behind it, waits until a busy event loop returns to
        it. ``work`` must neither block nor touch shared state.
        """
        if (engine := self._thread_engine) is None:
            async with self.write_session(durable=durable, single=single) as session:
                return await session.run_sync(work)
        options = {"footpath_write": True, "footpath_durable": durable}
        with translate_errors(self.on_error):
            async with self._write_lock:
                return await run_to_completion(asyncio.to_thread(_run_in_session, engine, work, options))

    async def close(self) -> None:
        """Close all connections; idempotent."""
        await self._engine.dispose()
        if self._thread_engine is not None:
            await asyncio.to_thread(self._thread_engine.dispose)


def _run_in_session(engine: Engine, work: Callable[[Session], T], options: dict[str, Any]) -> T:
    with Session(engine, expire_on_commit=False) as session:
        session.connection(execution_options=options)
        result = work(session)
        session.commit()
        return result


def _build_thread_engine(url: str) -> Engine:
    """Build an engine for work in threads.

    Its connections are passed from thread to thread and are used by one at a time.
    """
    engine = create_engine(
        make_url(url).set(drivername="sqlite"), hide_parameters=True, connect_args={"check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def build_engine(url: str, *, pooled: bool) -> AsyncEngine:
    """Build an engine that has opened nothing yet.

    Raises:
        UsageError: the URL names no supported database.
    """
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UsageError("FOOTPATH_DATABASE_URL is no address of a database") from error
    pool_options: dict[str, Any] = {} if pooled else {"poolclass": NullPool}
    if parsed.drivername == "sqlite+aiosqlite" and parsed.database not in (None, "", ":memory:"):
        ensure_inserts_recognised()
        engine = create_async_engine(parsed, hide_parameters=True, **pool_options)
        event.listen(engine.sync_engine, "connect", _prepare_connection)
        event.listen(engine.sync_engine, "begin", _begin_transaction)
        return engine
    if parsed.drivername == "postgresql+asyncpg":
        parsed = _build_asyncpg_url(parsed)
        if pooled:
            pool_options = {
                "pool_size": _POOL_SIZE,
                "max_overflow": MAX_CONNECTIONS - _POOL_SIZE,
                "pool_use_lifo": True,  # the most recently used ones have the statements cached
            }
            parsed = parsed.update_query_dict(
                {"prepared_statement_cache_size": str(_STATEMENT_CACHE_SIZE)} | dict(parsed.query)
            )
        # Times must come back in UTC, whatever the server's own zone is.
        engine = create_async_engine(
            parsed, hide_parameters=True, connect_args={"server_settings": {"timezone": "UTC"}}, **pool_options
        )
        if pooled:
            event.listen(engine.sync_engine, "checkin", _record_use)
            event.listen(engine.sync_engine, "checkout", _check_connection)
            event.listen(engine.sync_engine, "before_cursor_execute", _check_single)
        return engine
    raise UsageError(
        "FOOTPATH_DATABASE_URL must begin with postgresql+asyncpg:// or name a file: sqlite+aiosqlite:///…"
    )


def _record_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    """Record when a connection was last used, for :func:`_check_connection`."""
    record.info[_LAST_USED] = monotonic()
    record.info.pop(_SINGLE, None)


def _check_connection(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Have the pool replace a connection that is closed.

    A connection that the server closed is seen without asking. A device in between may have dropped it silently, so
    a connection that was idle for long is pinged. SQLAlchemy's ``pool_pre_ping`` would ping every time, in three
    round trips.
    """
    try:
        if connection.driver_connection.is_closed():
            raise DisconnectionError
        if monotonic() - record.info.get(_LAST_USED, monotonic()) > _PING_AFTER_SECONDS:
            connection.ping()
    except (AsyncAdapt_asyncpg_dbapi.Error, OSError) as error:
        raise DisconnectionError from error


def _check_single(connection: Connection, *_: object) -> None:
    """Refuse a second statement where one was announced: without BEGIN each is a transaction of its own."""
    if connection.get_execution_options().get("footpath_single") and connection.info.get(_SINGLE):
        raise RuntimeError("a second statement in a transaction that was announced to have a single one")
    connection.info[_SINGLE] = True


def _build_asyncpg_url(url: URL) -> URL:
    """Rename PostgreSQL's ``sslmode`` to the driver's ``ssl``.

    Raises:
        UsageError: the URL has an option that the driver does not support.
    """
    options = dict(url.query)
    mode = options.pop("sslmode", options.get("ssl"))
    if mode is not None and mode not in _SSL_MODES:
        raise UsageError(f"FOOTPATH_DATABASE_URL: sslmode is one of {', '.join(_SSL_MODES)}")
    if unknown := options.keys() - {"ssl", "prepared_statement_cache_size"}:
        raise UsageError(f"FOOTPATH_DATABASE_URL: nothing is known of ?{min(unknown)}=; it takes ?sslmode=")
    return url.set(query=options | ({} if mode is None else {"ssl": mode}))


def build_sqlite_url(path: Path) -> str:
    """Return the URL of an SQLite file."""
    return f"sqlite+aiosqlite:///{path.absolute()}"


def find_sqlite_file(url: str) -> Path | None:
    """Return the SQLite file of a URL; None where it names none."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None  # opening it raises the error
    file = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return Path(file) if file and file != ":memory:" else None


def _prepare_connection(connection: Any, _record: object) -> None:
    # sqlite3 begins no transaction for reads and DDL, so _begin_transaction does it.
    connection.isolation_level = None
    try:
        cursor = connection.cursor()
        for pragma in (f"busy_timeout={1000 * BUSY_SECONDS}", "journal_mode=WAL", "foreign_keys=ON"):
            cursor.execute(f"PRAGMA {pragma}")
        cursor.close()
    except BaseException:
        connection.close()  # the pool forgets a connection that could not be prepared
        raise


def _begin_transaction(connection: Connection) -> None:
    options = connection.get_execution_options()
    if not options.get("footpath_write"):
        connection.exec_driver_sql("BEGIN")
        return
    # This pragma has an effect outside a transaction only, and none has begun yet.
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get('footpath_durable') else 'NORMAL'}")
    # Take the write lock at once: a transaction that reads first and upgrades later fails with SQLITE_BUSY.
    connection.exec_driver_sql("BEGIN IMMEDIATE")


@contextmanager
def translate_errors(failed: Callable[[FootpathError], None] = lambda _: None) -> Generator[None]:
    """Raise ``ConflictError``, ``StoreBusyError`` or ``UnavailableError`` in place of the driver's errors.

    ``failed`` is called with the latter two; a conflict is the caller's business.
    """
    try:
        with _translate_driver_errors():
            yield
    except (StoreBusyError, UnavailableError) as error:
        error.part = error.part or "database"
        if error.__cause__ is not None and not isinstance(error.__cause__, FootpathError):
            failed(error)
        raise


@contextmanager
def _translate_driver_errors() -> Generator[None]:
    try:
        yield
    except IntegrityError as error:
        raise ConflictError("what was to be written does not go with what is there") from error
    except DBAPIError as error:
        if (translated := _to_domain_error(error)) is None:
            raise
        raise translated from error
    except PoolTimeoutError as error:
        raise StoreBusyError("all connections to the database are in use; try again") from error
    except OSError as error:
        raise StoreUnreachableError(
            f"the database is not reached ({error.strerror or error}); {_CONNECTION_ADVICE}"
        ) from error


def _to_domain_error(error: DBAPIError) -> FootpathError | None:
    """Return a driver's error as ours; None for one that is a bug of ours."""
    message, state = _get_first_line(error.orig), str(getattr(error.orig, "sqlstate", None) or "")
    if any(word in message for word in _BUSY_MESSAGES) or state in _CONFLICT_STATES:
        return StoreBusyError("the database is busy with another program's write; try again")
    for prefix, advice in _REFUSALS.items():
        if state.startswith(prefix):
            return UnavailableError(f"the database cannot be used ({message}); {advice}")
    if error.connection_invalidated or state.startswith(_TRANSIENT_STATES):
        return StoreUnreachableError(f"the database does not answer just now ({message}); try again in a moment")
    if isinstance(error, OperationalError | InterfaceError):
        return UnavailableError(f"the database cannot be used ({message}); {_CONNECTION_ADVICE}")
    return None


def _get_first_line(error: BaseException | None) -> str:
    """Return the first line of the database's message, without the driver's class name."""
    lines = str(error).splitlines()
    return re.sub(r"^<class '[^']*'>: ", "", lines[0]) if lines else type(error).__name__


def run_to_completion(work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """Run ``work``; where the caller is cancelled, wait for the end of the work first.

    A query that is cut off costs a connection. The task is created at once, not when the result is first awaited:
    where several are gathered, one may be cancelled before its first step, and its coroutine would never be
    awaited.
    """
    task = asyncio.create_task(work)
    task.add_done_callback(_retrieve_exception)
    return _await_completion(task)


async def _await_completion(task: "asyncio.Task[T]") -> T:
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait([task])
        raise


def _retrieve_exception(task: "asyncio.Task[Any]") -> None:
    """Mark the task's exception as retrieved, so that it is not logged when nobody waits for the task any more."""
    if not task.cancelled():
        task.exception()
