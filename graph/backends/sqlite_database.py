"""Access to one SQLite file in WAL mode: connections, threads, transactions, format versions and error messages.

Any number of processes may open the file. Within a process, one thread does all writes, so that they queue without
blocking readers, and a few other threads do the reads. A connection is used by one thread at a time.
"""

import asyncio
import math
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Generator, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeVar

import orjson

from domain.errors import FootpathError, StoreBusyError, StoreVersionError, UnavailableError
from domain.sqlite_inserts import ensure_inserts_recognised

T = TypeVar("T")

_READER_COUNT = 4
"""Threads that read."""
_CACHE_KIB = 64 << 10
"""Page cache of a connection. With SQLite's default of 2 MiB, a batch that changes more pages than fit writes each of
them several times: importing a batch of edges then takes more than twice as long."""


@dataclass(frozen=True, slots=True)
class AddedColumn:
    """A column that was added to a table in a later version."""

    table: str
    name: str
    definition: str
    """Type and constraints, in SQL."""
    fill_statement: str
    """Statement that sets the column's value in existing rows."""


@dataclass(frozen=True, slots=True)
class SqliteFormat:
    """Expected format of a database file."""

    content_name: str
    """Name of the content, for error messages."""
    application_id: int
    """SQLite's ``application_id``, which marks the file as ours."""
    version: int
    """SQLite's ``user_version``; a file with another version is refused."""
    tables: tuple[str, ...]
    """Statements that create the tables and indexes of a new file."""
    synchronous: Literal["NORMAL", "FULL"]
    """``FULL``: acknowledged writes survive a power cut; ``NORMAL``: only a crash of the process."""
    added_tables: Mapping[str, str] = field(default_factory=dict[str, str])
    """Statements for tables and indexes of later versions, by name.

    A file that lacks them gets them when it is opened, and keeps its version: earlier versions work without them.
    """
    added_columns: tuple[AddedColumn, ...] = ()
    """Columns of later versions, which a file gets likewise."""


class SqliteDatabase:
    """One database file, opened at the first use.

    ``busy_seconds``: how long a write waits for the write of another process before it fails.
    """

    def __init__(self, path: Path, layout: SqliteFormat, *, busy_seconds: float = 30.0) -> None:
        self.path = path
        self._format = layout
        self._busy_seconds = busy_seconds
        self._idle: list[sqlite3.Connection] = []
        self._lock = threading.Lock()
        self._closed = False
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="store-write")
        self._readers = ThreadPoolExecutor(_READER_COUNT, thread_name_prefix="store-read")

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in a reading thread and return its result."""
        return await self._run(self._readers, lambda: self._run_with_connection(work))

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in the writing thread as one transaction, and return its result.

        Cancelling the caller does not stop a transaction that has begun; it is completed in its thread.
        """
        return await self._run(self._writer, lambda: self._run_transaction(work))

    async def setup(self) -> None:
        """Create the file and its tables if they are missing. Raises ``StoreVersionError`` if it has another format."""
        await self._run(self._writer, self._create)

    async def close(self) -> None:
        """Close every connection after the pending reads and writes; idempotent."""
        self._closed = True
        await asyncio.to_thread(self._close_connections)

    async def _run(self, threads: ThreadPoolExecutor, work: Callable[[], T]) -> T:
        self._check_open()
        return await asyncio.get_running_loop().run_in_executor(threads, work)

    def read_now(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``work`` in the calling thread, and return its result."""
        self._check_open()
        return self._run_with_connection(work)

    def _run_with_connection(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._open_connection() as connection:
            return work(connection)

    def _run_transaction(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._open_connection() as connection, _open_transaction(connection):
            return work(connection)

    @contextmanager
    def _open_connection(self) -> Generator[sqlite3.Connection]:
        """Borrow a connection for the time of the block; after an SQLite error it is closed, not reused."""
        with translate_sqlite_errors(self.path):
            connection = self._borrow_connection()
            try:
                yield connection
            except sqlite3.Error:
                connection.close()
                raise
            except BaseException:
                self._return_connection(connection)
                raise
            self._return_connection(connection)

    def _borrow_connection(self) -> sqlite3.Connection:
        with self._lock:
            if self._idle:
                return self._idle.pop()
        connection = self._connect("rw")
        try:
            self._check_format(connection)
            self._add_missing(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _return_connection(self, connection: sqlite3.Connection) -> None:
        with self._lock:
            if not self._closed:
                self._idle.append(connection)
                return
        connection.close()

    def _connect(self, mode: Literal["rw", "rwc"]) -> sqlite3.Connection:
        # Only setup() may create the file: "rw" fails if it is missing, where a plain open would create an empty one.
        address = f"{self.path.absolute().as_uri()}?mode={mode}"
        ensure_inserts_recognised()
        connection = sqlite3.connect(
            address, uri=True, timeout=self._busy_seconds, isolation_level=None, check_same_thread=False
        )
        try:
            connection.create_function("pow", 2, math.pow, deterministic=True)  # not every SQLite is built with it
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute(f"PRAGMA synchronous = {self._format.synchronous}")
            connection.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")  # negative: KiB, not pages
        except BaseException:
            connection.close()
            raise
        return connection

    def _create(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UnavailableError(f"{self.path.parent}: the store folder cannot be made ({error.strerror})") from error
        with translate_sqlite_errors(self.path, creating=True):
            connection = self._connect("rwc")
            try:
                if _is_empty(connection):
                    self._create_tables(connection)
                self._check_format(connection)
                self._add_missing(connection)
            except BaseException:
                connection.close()
                raise
        self._return_connection(connection)

    def _create_tables(self, connection: sqlite3.Connection) -> None:
        self._switch_to_wal(connection)
        with _open_transaction(connection):
            if _is_empty(connection):
                for table in (*self._format.tables, *self._format.added_tables.values()):
                    connection.execute(table)
                _add_columns(connection, self._format.added_columns)
                connection.execute(f"PRAGMA application_id = {self._format.application_id}")
                connection.execute(f"PRAGMA user_version = {self._format.version}")

    def _add_missing(self, connection: sqlite3.Connection) -> None:
        """Create the tables and columns of later versions that the file lacks."""
        if _list_names(connection) >= self._format.added_tables.keys() and not _find_missing_columns(
            connection, self._format.added_columns
        ):
            return
        with _open_transaction(connection):
            existing = _list_names(connection)
            for name, table in self._format.added_tables.items():
                if name not in existing:
                    connection.execute(table)
            _add_columns(connection, _find_missing_columns(connection, self._format.added_columns))

    def _switch_to_wal(self, connection: sqlite3.Connection) -> None:
        # Unlike other statements, this switch does not wait for its lock: retry while another process sets the file up.
        deadline = time.monotonic() + self._busy_seconds
        while True:
            try:
                (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
                break
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
                time.sleep(0.01)
        if mode != "wal":
            raise UnavailableError(f"{self.path}: this file system cannot share a database. Choose a local folder")

    def _check_format(self, connection: sqlite3.Connection) -> None:
        (application,) = connection.execute("PRAGMA application_id").fetchone()
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        expected = self._format
        if application != expected.application_id:
            raise StoreVersionError(
                f"{self.path}: this database holds no Footpath {expected.content_name}. Choose another store folder, "
                "or build a store with scripts/build_graph.py --store"
            )
        if version != expected.version:
            raise StoreVersionError(
                f"{self.path}: format {version} of the {expected.content_name}, while this Footpath reads format "
                f"{expected.version}. Use the version that wrote it, or build the store again in another folder"
            )

    def _check_open(self) -> None:
        if self._closed:
            raise UnavailableError(f"{self.path}: this store was closed. Open it again")

    def _close_connections(self) -> None:
        for threads in (self._writer, self._readers):
            threads.shutdown(wait=True)
        with self._lock:
            while self._idle:
                self._idle.pop().close()


@contextmanager
def _open_transaction(connection: sqlite3.Connection) -> Generator[None]:
    """Run the block as one transaction, which is rolled back if it raises."""
    # IMMEDIATE takes the write lock now: a transaction that upgrades to a write later fails if another wrote meanwhile.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _list_names(connection: sqlite3.Connection) -> set[str]:
    """Return the names of all tables and indexes."""
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}


def _find_missing_columns(connection: sqlite3.Connection, columns: Iterable[AddedColumn]) -> list[AddedColumn]:
    """Return the columns that the file lacks."""
    existing = {
        (table, name)
        for table in {column.table for column in columns}
        for (name,) in connection.execute("SELECT name FROM pragma_table_info(?)", (table,))
    }
    return [column for column in columns if (column.table, column.name) not in existing]


def _add_columns(connection: sqlite3.Connection, columns: Iterable[AddedColumn]) -> None:
    for column in columns:
        connection.execute(f"ALTER TABLE {column.table} ADD COLUMN {column.name} {column.definition}")
        connection.execute(column.fill_statement)


def _is_empty(connection: sqlite3.Connection) -> bool:
    """Return whether the file has no tables, no application id and no version."""
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return not (tables or application or version)


_PAGE_SIZE = 500
"""Rows of a page of a streamed read."""


class SqliteBackend:
    """Base of the SQLite stores: holds the database, and reads in pages."""

    def __init__(self, database: SqliteDatabase) -> None:
        self._database = database

    async def _stream(self, page_query: str, after: tuple[str, ...]) -> AsyncIterator[tuple[Any, ...]]:
        """Yield the rows of a paged query; each page is a read of its own, so a slow consumer holds no snapshot open.

        ``after``: the position to begin after. The first columns of a page's last row are the next one.
        """
        while True:
            arguments = (*after, _PAGE_SIZE)
            rows = await self._database.read(lambda c, place=arguments: c.execute(page_query, place).fetchall())
            for row in rows:
                yield row
            if len(rows) < _PAGE_SIZE:
                return
            after = rows[-1][: len(after)]


def to_json_list(values: Iterable[str]) -> str:
    """Serialize values as one bound parameter for ``json_each``: SQLite limits the number of parameters."""
    return orjson.dumps(list(values)).decode()


_COPY_TARGET_ERRORS = ("SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN", "SQLITE_PERM")
"""Prefixes of errors that are due to the copy's file or disk."""


def copy_database(source: Path, target: Path) -> None:
    """Copy the database at ``source`` to a new file. Raises ``UnavailableError`` if one of the two cannot be used."""
    with translate_sqlite_errors(source), closing(_open_plain(source, "rw")) as source_connection:
        try:
            with closing(_open_plain(target, "rwc")) as target_connection:
                source_connection.backup(
                    target_connection
                )  # all pages in one read transaction, so that no writer waits
        except sqlite3.Error as error:
            if not error.sqlite_errorname.startswith(_COPY_TARGET_ERRORS):
                raise
            raise UnavailableError(
                f"cannot write a copy of {source} in {target.parent} ({error}): free some space, or name another folder"
            ) from error


def _open_plain(path: Path, mode: str) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode={mode}", uri=True, timeout=30)


_ADVICE_BY_ERROR = {
    # By primary error code.
    "SQLITE_FULL": "the disk is full; nothing of this write was kept. Free some space and run the same command again",
    "SQLITE_NOTADB": "this file is no SQLite database. Choose another store folder, or move the file away",
    "SQLITE_CORRUPT": "the database is damaged. Restore a copy, or move it away and build the store again",
    "SQLITE_READONLY": "the file and its folder must be writable, even for reading. Check their permissions",
    "SQLITE_PERM": "the store cannot be opened. Check the permissions of the file and of its folder",
    "SQLITE_IOERR": "reading or writing failed. Check the disk: it may be full or failing",
}


@contextmanager
def translate_sqlite_errors(path: Path, *, creating: bool = False) -> Generator[None]:
    """Raise the matching ``FootpathError`` in place of an ``sqlite3.Error``; other exceptions pass."""
    try:
        yield
    except sqlite3.Error as error:
        raise to_footpath_error(error, path, creating=creating) from error


def to_footpath_error(error: sqlite3.Error, path: Path, *, creating: bool = False) -> FootpathError:
    """Return the error to raise in place of ``error``. ``creating``: it occurred while the file was created."""
    # Extended codes append to the primary one (SQLITE_IOERR_WRITE); errors of the sqlite3 module itself have none.
    name: str = getattr(error, "sqlite_errorname", "")
    primary = "_".join(name.split("_")[:2])
    if primary in ("SQLITE_BUSY", "SQLITE_LOCKED"):
        return StoreBusyError(f"{path}: another process keeps writing to it. Wait until it is done and try again")
    if primary == "SQLITE_CANTOPEN":
        return UnavailableError(f"{path}: {_explain_cannot_open(path, creating=creating)}")
    return UnavailableError(f"{path}: {_ADVICE_BY_ERROR.get(primary, 'the database refused this operation')} ({error})")


def _explain_cannot_open(path: Path, *, creating: bool) -> str:
    try:
        missing, folder = not path.exists(), path.is_dir()
    except OSError:  # a parent folder is not accessible
        missing = folder = False
    if folder:
        return "this is a folder, not a database. Name the store folder that holds the database"
    if missing and not creating:
        return "there is no store here. Build one with scripts/build_graph.py --store, or name its folder"
    return (
        "the store cannot be opened. The file and its folder must be writable, even for reading, and the disk not full: "
        "check their permissions, or copy the store to a folder of your own"
    )
