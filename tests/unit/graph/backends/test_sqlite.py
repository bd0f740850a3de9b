"""What can go wrong with the file of a SQLite graph, and what is then said and kept."""

import asyncio
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from domain.errors import StoreBusyError, StoreVersionError, UnavailableError
from graph.backends.recordings import SqliteRecordings
from graph.backends.sqlite import SqliteGraph
from graph.backends.sqlite_database import Database
from tests.contract.graph_samples import A, B, batch, document, walked
from tests.unit.graph.backends.large_batch import large_batch


def execute(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def filled(path: Path) -> None:
    """A store with one batch, closed."""
    graph = SqliteGraph(path)
    await graph.setup()
    await graph.put_tools([document(A)])
    await graph.apply(batch("k", {(A, B): 1}))
    await graph.close()


def content(path: Path) -> bytes:
    return path.read_bytes()


async def said(path: Path, kind: type[UnavailableError] = UnavailableError) -> str:
    """The message of ``setup`` and of a read, which must agree; the file must stay as it is."""
    before = content(path)
    graph = SqliteGraph(path)
    with pytest.raises(kind) as at_setup:
        await graph.setup()
    with pytest.raises(kind) as at_read:
        await graph.out_edges(A)
    await graph.close()
    assert content(path) == before
    assert str(at_setup.value) == str(at_read.value)
    assert str(path) in str(at_setup.value)
    return str(at_setup.value)


async def test_a_store_of_another_version_says_which(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    execute(path, "PRAGMA user_version = 99")
    assert "format 99 of the graph, while this Footpath reads format 1" in await said(path, StoreVersionError)


async def test_a_database_of_something_else_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    execute(path, "CREATE TABLE theirs (x)")
    assert "holds no Footpath graph" in await said(path, StoreVersionError)


async def test_recordings_are_no_graph(tmp_path: Path) -> None:
    recordings = SqliteRecordings(tmp_path / "recordings.db")
    await recordings.setup()
    await recordings.close()
    assert "holds no Footpath graph" in await said(tmp_path / "recordings.db", StoreVersionError)


async def test_a_file_that_is_no_database_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.write_text("Dear diary, " * 1000)
    assert "no SQLite database" in await said(path)


async def test_a_damaged_database_says_so(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    pages = bytearray(path.read_bytes())
    pages[4096:] = b"\xff" * (len(pages) - 4096)
    path.write_bytes(pages)
    graph = SqliteGraph(path)
    with pytest.raises(UnavailableError, match="damaged"):
        await graph.out_edges(A)
    with pytest.raises(UnavailableError, match="damaged"):
        await graph.learn(walked("r", A))
    await graph.close()


async def test_reading_where_no_store_is_creates_none(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    with pytest.raises(UnavailableError, match="no store here"):
        await graph.statistics()
    await graph.close()
    assert names(tmp_path) == []


async def test_a_folder_in_the_place_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "graph.db").mkdir()
    graph = SqliteGraph(tmp_path / "graph.db")
    with pytest.raises(UnavailableError, match="is a folder"):
        await graph.setup()
    await graph.close()


async def test_a_file_in_the_place_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "store").write_text("")
    graph = SqliteGraph(tmp_path / "store" / "graph.db")
    with pytest.raises(UnavailableError, match="store folder cannot be made"):
        await graph.setup()
    await graph.close()


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    path.touch()
    await filled(path)


async def test_a_path_of_odd_characters(tmp_path: Path) -> None:
    path = tmp_path / "a ?mode=ro#%20é" / "graph.db"
    await filled(path)
    assert path.is_file()


@pytest.fixture
def small_disk(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Limits every database opened from now on to so many pages of 4 KiB, as a full disk would."""
    connect = Database._connect  # pyright: ignore[reportPrivateUsage]

    def limit(pages: int) -> None:
        def limited(self: Database, mode: str) -> sqlite3.Connection:
            connection = connect(self, mode)  # pyright: ignore[reportArgumentType]
            connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

        monkeypatch.setattr(Database, "_connect", limited)

    return limit


async def test_a_full_disk_keeps_nothing_of_the_write_and_everything_before(
    tmp_path: Path, small_disk: Callable[[int], None]
) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    small_disk(100)
    graph = SqliteGraph(path)
    with pytest.raises(UnavailableError, match=r"disk is full.*run the same command again"):
        await graph.apply(large_batch("large"))
    assert await graph.applied(["large", "k"]) == {"k"}
    assert (await graph.statistics()).nodes == 2
    await graph.learn(walked("small", A))  # a write that fits still works
    await graph.close()

    small_disk(1_000_000)
    graph = SqliteGraph(path)
    assert await graph.apply(large_batch("large"))
    await graph.close()


async def test_a_full_disk_at_setup(tmp_path: Path, small_disk: Callable[[int], None]) -> None:
    small_disk(3)
    graph = SqliteGraph(tmp_path / "graph.db")
    with pytest.raises(UnavailableError, match="disk is full"):
        await graph.setup()
    await graph.close()
    small_disk(1_000_000)
    await filled(tmp_path / "graph.db")


async def test_a_writer_that_does_not_end_is_named_and_readers_go_on(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    graph = SqliteGraph(path, busy_seconds=0.05)
    with pytest.raises(StoreBusyError, match="another process"):
        await graph.learn(walked("r", A))
    assert len(await graph.out_edges(A)) == 1
    other.execute("ROLLBACK")
    other.close()
    assert await graph.learn(walked("r", A))
    await graph.close()


async def test_a_write_waits_for_another_one(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    graph = SqliteGraph(path)
    learning = asyncio.create_task(graph.learn(walked("r", A)))
    await asyncio.sleep(0.1)
    assert not learning.done()
    other.execute("COMMIT")
    other.close()
    assert await learning
    await graph.close()


@pytest.mark.parametrize("seconds", [0.0, 0.01, 0.1, 0.3])
async def test_cancelled_in_a_batch_it_holds_all_or_nothing(tmp_path: Path, seconds: float) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    await graph.setup()
    large = large_batch("large")
    applying = asyncio.create_task(graph.apply(large))
    await asyncio.sleep(seconds)
    applying.cancel()
    with pytest.raises(asyncio.CancelledError):
        await applying
    await graph.apply(large)  # queues behind what may still be running
    target = next(iter(large.transitions))[1]
    assert (await graph.statistics()).transitions == len(large.transitions)
    assert {edge.imported for edge in await graph.in_edges(target)} == {1}
    await graph.close()


async def test_reads_do_not_wait_for_a_write(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    graph = SqliteGraph(path)
    applying = asyncio.create_task(graph.apply(large_batch("large")))
    reads = 0
    while not applying.done():
        assert (await graph.statistics()).batches in (1, 2)
        reads += 1
    assert await applying
    assert reads > 1
    await graph.close()


async def test_closing_lets_what_was_asked_for_end(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    await graph.setup()
    learning = [asyncio.create_task(graph.learn(walked(f"r{n}", A))) for n in range(5)]
    await asyncio.sleep(0)
    await graph.close()
    assert await asyncio.gather(*learning) == [True] * 5
    assert names(tmp_path) == ["graph.db"]


async def test_a_closed_store_says_so(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    await graph.setup()
    await graph.close()
    for work in (graph.setup(), graph.statistics(), graph.learn(walked("r", A))):
        with pytest.raises(UnavailableError, match="closed"):
            await work
    with pytest.raises(UnavailableError, match="closed"):
        await asyncio.to_thread(graph.read_out_edges, A)


async def test_the_read_in_ones_own_thread_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    graph = SqliteGraph(path)
    assert await asyncio.to_thread(graph.read_out_edges, A) == await graph.out_edges(A) != []
    await graph.close()


def test_making_the_object_touches_nothing(tmp_path: Path) -> None:
    SqliteGraph(tmp_path / "nowhere" / "graph.db")
    assert names(tmp_path) == []


async def test_the_store_is_in_wal_mode_and_synchronises_fully(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    graph = SqliteGraph(path)
    modes = await graph._database.read(  # pyright: ignore[reportPrivateUsage]
        lambda c: [c.execute(f"PRAGMA {name}").fetchone()[0] for name in ("journal_mode", "synchronous")]
    )
    assert modes == ["wal", 2]
    await graph.close()
