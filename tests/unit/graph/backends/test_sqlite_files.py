"""What can go wrong with the file of a SQLite graph, and what is then said and kept."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from domain.errors import StoreVersionError, UnavailableError
from domain.tool import ToolId
from graph.backends.sqlite_database import SqliteDatabase
from graph.backends.sqlite_graph import SqliteGraph
from graph.backends.sqlite_recordings import SqliteRecordings
from graph.facts import Edge, LiveBatch, LiveOutcome, ToolFacts
from tests.support.graph_samples import NOON, A, B, C, batch, walked
from tests.unit.graph.backends.filled_store import filled, names
from tests.unit.graph.backends.large_batch import large_batch


def execute(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    for statement in statements:
        connection.execute(statement)
    connection.close()


def content(path: Path) -> bytes:
    return path.read_bytes()


async def said(path: Path, kind: type[UnavailableError] = UnavailableError) -> str:
    """The message of ``setup`` and of a read, which must agree; the file must stay as it is."""
    before = content(path)
    graph = SqliteGraph(path)
    with pytest.raises(kind) as at_setup:
        await graph.setup()
    with pytest.raises(kind) as at_read:
        await graph.get_out_edges(A)
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


OLDER = ("mark", "lesson", "link", "feed", "substitute")
"""Tables that stores made before them do not have."""


@pytest.mark.parametrize("first", ["setup", "read", "write"])
async def test_an_older_store_gets_what_it_lacks(tmp_path: Path, first: str) -> None:
    path = tmp_path / "graph.db"
    await filled(path)
    execute(path, *(f"DROP TABLE {table}" for table in OLDER))
    graph = SqliteGraph(path)
    match first:
        case "setup":
            await graph.setup()
        case "read":
            assert (await graph.get_out_edges(A))[0].edge == Edge(A, B, 1)
        case _:
            assert await graph.learn(walked("r", A))
    await graph.mark(A, B, "ban")
    assert await graph.get_in_edges(B) == [Edge(A, B, 1, 0, "ban")]
    assert await graph.get_lessons(B) == await graph.get_feeds_into(A) == []
    await graph.close()


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
        await graph.get_out_edges(A)
    with pytest.raises(UnavailableError, match="damaged"):
        await graph.learn(walked("r", A))
    await graph.close()


async def test_reading_where_no_store_is_creates_none(tmp_path: Path) -> None:
    graph = SqliteGraph(tmp_path / "graph.db")
    with pytest.raises(UnavailableError, match="no store here"):
        await graph.compute_statistics()
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
    connect = SqliteDatabase._connect  # pyright: ignore[reportPrivateUsage]

    def limit(pages: int) -> None:
        def limited(self: SqliteDatabase, mode: str) -> sqlite3.Connection:
            connection = connect(self, mode)  # pyright: ignore[reportArgumentType]
            connection.execute(f"PRAGMA max_page_count = {pages}")
            return connection

        monkeypatch.setattr(SqliteDatabase, "_connect", limited)

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
    assert await graph.find_applied(["large", "k"]) == {"k"}
    assert (await graph.compute_statistics()).nodes == 2
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


async def test_an_older_store_gets_its_live_evidence_from_its_counts(tmp_path: Path) -> None:
    path = tmp_path / "graph.db"
    graph = SqliteGraph(path)
    await graph.setup()
    good: list[tuple[ToolId, LiveOutcome]] = [(A, "ok")] * 60
    bad: list[tuple[ToolId, LiveOutcome]] = [(A, "gone")] * 3
    await graph.learn(LiveBatch("r", {(A, B): 3}, (), (*good, (A, "transient"), *bad), at=NOON))
    await graph.apply(batch("k", {(A, C): 7}, {B: 4}, {B: 3}))
    known = (await graph.get_facts([A]))[A]
    await graph.close()
    columns = [("node", name) for name in ("good", "bad", "trouble", "heard")] + [("edge", "strength")]
    execute(path, *(f"ALTER TABLE {table} DROP COLUMN {name}" for table, name in columns))
    older = SqliteGraph(path)
    await older.setup()
    expected = replace(known, good=60 * 50 / 73, bad=13 * 50 / 73, trouble=-known.reliability, heard=NOON.timestamp())
    assert (await older.get_facts([A, B])) == {A: expected, B: ToolFacts(4, 3)}
    assert [edge async for edge in older.stream_edges()] == [Edge(A, B, 0, 3, None, 3.0), Edge(A, C, 7)]
    await older.learn(walked("r2", A, B))
    await older.close()
    again = SqliteGraph(path)
    await again.setup()
    assert (await again.get_facts([A]))[A].good == pytest.approx(60 * 50 / 73 * 0.98 + 1)
    await again.close()
