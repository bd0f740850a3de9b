"""One database by URL: its connections, its transactions, and its errors in our words."""

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

T = TypeVar("T")


def run_to_completion(work: Coroutine[Any, Any, T]) -> Coroutine[Any, Any, T]:
    """What ``work`` gives. Cancelled, it waits for the end of the work first.

    The work is begun at once, and not when this is first awaited: among things that are gathered, one may be cancelled before its first step,
    and would leave a coroutine that nobody has ever started.
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
    """Whoever waits for the work has its failure from there; where nobody does any more, it is none to be logged."""
    if not task.cancelled():
        task.exception()


_BUSY_MESSAGES = ("database is locked", "database table is locked")
_CONFLICT_STATES = ("40001", "40P01", "55P03")
"""PostgreSQL's states of transactions that stood in each other's way."""
_TRANSIENT_STATES = ("08", "53", "55000", "57P")
"""Of servers that start, stop or recover, or have no room for another connection."""
_REFUSALS = {
    "28": "check user and password in FOOTPATH_DATABASE_URL",
    "3D000": "make it (createdb), or correct its name in FOOTPATH_DATABASE_URL",
    "42501": "let this account own the database, so that it may make its tables",
    "25006": "name a server in FOOTPATH_DATABASE_URL that takes writes",
}
"""What to do about its states that do not pass by themselves."""
_CONNECTION_ADVICE = "check FOOTPATH_DATABASE_URL, and that the database is there and lets this account in"


@contextmanager
def translate_errors(failed: Callable[[FootpathError], None] = lambda _: None) -> Generator[None]:
    """Raise ``ConflictError``, ``StoreBusyError`` or ``UnavailableError`` in place of the driver's errors.

    ``failed`` is told of the latter two: what is in conflict is the caller's.
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
        if (told := _to_domain_error(error)) is None:
            raise
        raise told from error
    except PoolTimeoutError as error:
        raise StoreBusyError("all connections to the database are in use; try again") from error
    except OSError as error:
        raise StoreUnreachableError(
            f"the database is not reached ({error.strerror or error}); {_CONNECTION_ADVICE}"
        ) from error


def _to_domain_error(error: DBAPIError) -> FootpathError | None:
    """The driver's refusal in our words; None for what is a fault of ours."""
    said, state = _first_line(error.orig), str(getattr(error.orig, "sqlstate", None) or "")
    if any(word in said for word in _BUSY_MESSAGES) or state in _CONFLICT_STATES:
        return StoreBusyError("the database is busy with another program's write; try again")
    for known, advice in _REFUSALS.items():
        if state.startswith(known):
            return UnavailableError(f"the database cannot be used ({said}); {advice}")
    if error.connection_invalidated or state.startswith(_TRANSIENT_STATES):
        return StoreUnreachableError(f"the database does not answer just now ({said}); try again in a moment")
    if isinstance(error, OperationalError | InterfaceError):
        return UnavailableError(f"the database cannot be used ({said}); {_CONNECTION_ADVICE}")
    return None


def _first_line(error: BaseException | None) -> str:
    """The first line of what the database said, without the driver's name for it."""
    lines = str(error).splitlines()
    return re.sub(r"^<class '[^']*'>: ", "", lines[0]) if lines else type(error).__name__


BUSY_SECONDS = 30
"""How long a write waits for another program's."""
_SSL_MODES = ("disable", "allow", "prefer", "require", "verify-ca", "verify-full")
_POOL_SIZE = 8
"""Kept open; as many again in a rush. What is over waits its turn."""
MAX_CONNECTIONS = 2 * _POOL_SIZE
"""The most that one process has with PostgreSQL."""
_PING_AFTER_SECONDS = 30.0
"""How long a connection may rest before it is asked whether it is still there."""
_LAST_USED, _SINGLE = "footpath_used", "footpath_single"
_STATEMENT_CACHE_SIZE = 1000
"""How many statements PostgreSQL keeps ready for each connection; one that is new to it takes a round trip more."""


class Database:
    """Opens nothing until used. ``url``: ``sqlite+aiosqlite:///file`` or ``postgresql+asyncpg://…``."""

    def __init__(self, url: str) -> None:
        self.on_error: Callable[[FootpathError], None] = lambda _: None
        """Told of every error of the database itself."""
        self._engine = build_engine(url, pooled=True)
        # Each statement of PostgreSQL sees what is there when it begins, in a transaction or not: what only reads goes without one, in one round trip.
        self._autocommit_engine = self._engine
        if self._engine.dialect.name == "postgresql":
            self._autocommit_engine = self._engine.execution_options(isolation_level="AUTOCOMMIT")
        # SQLite has one writer at a time. Who waits here is served in order and at once; who waits there polls.
        self._write_lock = asyncio.Lock() if self._engine.dialect.name == "sqlite" else nullcontext()
        self._thread_engine = _build_thread_engine(url) if self._engine.dialect.name == "sqlite" else None

    @property
    def dialect(self) -> str:
        """``sqlite`` or ``postgresql``."""
        return self._engine.dialect.name

    @asynccontextmanager
    async def read_session(self) -> AsyncGenerator[AsyncSession]:
        """What only reads: on SQLite in one transaction; on PostgreSQL each statement by itself."""
        with translate_errors(self.on_error):
            async with AsyncSession(self._autocommit_engine, expire_on_commit=False) as session:
                yield session

    @asynccontextmanager
    async def write_session(self, *, durable: bool = False, single: bool = False) -> AsyncGenerator[AsyncSession]:
        """A transaction: all of it, or nothing where an exception leaves it.

        ``durable``: it is on the disk when this returns, whatever happens to the machine. Otherwise SQLite may lose the last
        moments in a power cut, never in a crash of the program; PostgreSQL is always durable.
        ``single``: it is one statement, which is whole by itself; on PostgreSQL that takes one round trip instead of three, and a second one raises.
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
        """What ``work`` gives, in a transaction that only reads, as :meth:`write` does it."""
        if (engine := self._thread_engine) is None:
            async with self.read_session() as session:
                return await session.run_sync(work)
        with translate_errors(self.on_error):
            return await run_to_completion(asyncio.to_thread(_run_in_session, engine, work, {}))

    async def write(self, work: Callable[[Session], T], *, durable: bool = False, single: bool = False) -> T:
        """What ``work`` gives, in a transaction as :meth:`writing` begins it.

        On SQLite all of it is one visit to a thread. Otherwise each statement is several, and after each it waits until a busy loop
        comes to it, with everybody who writes behind it. ``work`` neither waits for anything nor touches what others have.
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
    """For work that is done in a thread; its connections go from one thread to another, and are in one at a time."""
    engine = create_engine(
        make_url(url).set(drivername="sqlite"), hide_parameters=True, connect_args={"check_same_thread": False}
    )
    event.listen(engine, "connect", _prepare_connection)
    event.listen(engine, "begin", _begin_transaction)
    return engine


def build_engine(url: str, *, pooled: bool) -> AsyncEngine:
    """An engine that has opened nothing yet. Raises ``UsageError`` for a URL that names no database of ours."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise UsageError("FOOTPATH_DATABASE_URL is no address of a database") from error
    given: dict[str, Any] = {} if pooled else {"poolclass": NullPool}
    if parsed.drivername == "sqlite+aiosqlite" and parsed.database not in (None, "", ":memory:"):
        engine = create_async_engine(parsed, hide_parameters=True, **given)
        event.listen(engine.sync_engine, "connect", _prepare_connection)
        event.listen(engine.sync_engine, "begin", _begin_transaction)
        return engine
    if parsed.drivername == "postgresql+asyncpg":
        parsed = _build_asyncpg_url(parsed)
        if pooled:
            given = {
                "pool_size": _POOL_SIZE,
                "max_overflow": MAX_CONNECTIONS - _POOL_SIZE,
                "pool_use_lifo": True,  # those that were used last have the statements ready
            }
            parsed = parsed.update_query_dict(
                {"prepared_statement_cache_size": str(_STATEMENT_CACHE_SIZE)} | dict(parsed.query)
            )
        # Times are told apart by their zone; JSON travels as text, and nothing else is cast.
        engine = create_async_engine(
            parsed, hide_parameters=True, connect_args={"server_settings": {"timezone": "UTC"}}, **given
        )
        if pooled:
            event.listen(engine.sync_engine, "checkin", _note_use)
            event.listen(engine.sync_engine, "checkout", _check_connection)
            event.listen(engine.sync_engine, "before_cursor_execute", _check_single)
        return engine
    raise UsageError(
        "FOOTPATH_DATABASE_URL must begin with postgresql+asyncpg:// or name a file: sqlite+aiosqlite:///…"
    )


def _note_use(_connection: Any, record: ConnectionPoolEntry) -> None:
    record.info[_LAST_USED] = monotonic()
    record.info.pop(_SINGLE, None)


def _check_connection(connection: Any, record: ConnectionPoolEntry, _proxy: object) -> None:
    """Have a connection that is closed made anew.

    That a server closed it is seen without asking; what lies between may have forgotten it without a word, for which a connection is asked that
    rested for long. SQLAlchemy's own ping asks every time, in three round trips.
    """
    try:
        if connection.driver_connection.is_closed():
            raise DisconnectionError
        if monotonic() - record.info.get(_LAST_USED, monotonic()) > _PING_AFTER_SECONDS:
            connection.ping()
    except (AsyncAdapt_asyncpg_dbapi.Error, OSError) as error:
        raise DisconnectionError from error


def _check_single(connection: Connection, *_: object) -> None:
    """Without BEGIN each statement is a transaction of its own: what was announced as one must be one."""
    if connection.get_execution_options().get("footpath_single") and connection.info.get(_SINGLE):
        raise RuntimeError("a second statement in a transaction that was announced to have a single one")
    connection.info[_SINGLE] = True


def _build_asyncpg_url(url: URL) -> URL:
    """The URL with PostgreSQL's ``sslmode`` under the driver's name for it. ``UsageError`` for what the driver does not take."""
    given = dict(url.query)
    mode = given.pop("sslmode", given.get("ssl"))
    if mode is not None and mode not in _SSL_MODES:
        raise UsageError(f"FOOTPATH_DATABASE_URL: sslmode is one of {', '.join(_SSL_MODES)}")
    if unknown := given.keys() - {"ssl", "prepared_statement_cache_size"}:
        raise UsageError(f"FOOTPATH_DATABASE_URL: nothing is known of ?{min(unknown)}=; it takes ?sslmode=")
    return url.set(query=given | ({} if mode is None else {"ssl": mode}))


def build_sqlite_url(path: Path) -> str:
    """The URL of an SQLite file."""
    return f"sqlite+aiosqlite:///{path.absolute()}"


def find_sqlite_file(url: str) -> Path | None:
    """The SQLite file of a URL; None where it names none."""
    try:
        parsed = make_url(url)
    except ArgumentError:
        return None  # whoever opens it says so
    named = parsed.database if parsed.get_backend_name() == "sqlite" else None
    return Path(named) if named and named != ":memory:" else None


def _prepare_connection(connection: Any, _record: object) -> None:
    # The driver's own idea of transactions leaves out reads and DDL; they are begun by hand below.
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
    # Outside a transaction only, which this still is.
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if options.get('footpath_durable') else 'NORMAL'}")
    # The write lock at once: a transaction that reads first and asks for it later can be refused.
    connection.exec_driver_sql("BEGIN IMMEDIATE")
