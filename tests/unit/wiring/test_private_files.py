"""Stores and homes are their owner's alone: new ones, and those that were made wider."""

import shutil
import sqlite3
import stat
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from server.storage.storage import open_storage
from wiring.container import open_container
from wiring.private_files import keep_private, make_database_private
from wiring.settings import Settings


def modes(folder: Path) -> dict[str, str]:
    """What others may do: nothing, where all are empty. Folders, then files."""
    found = {path: stat.S_IMODE(path.lstat().st_mode) & 0o077 for path in [folder, *folder.rglob("*")]}
    return {path.name: f"{mode:o}" for path, mode in found.items() if mode}


async def test_a_new_home_and_its_rows(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with open_storage(Settings(server_home=home)) as storage:
        await storage.users.add("ada", "a hash")
        assert (home / "rows.db-wal").exists()
        assert modes(home) == {}


async def test_a_home_that_was_wider_is_tightened(tmp_path: Path) -> None:
    home = tmp_path / "home"
    async with open_storage(Settings(server_home=home)) as storage:
        await storage.users.add("ada", "a hash")
    (home / "rows.db").chmod(0o644)
    (home / "rows.db-wal").touch(0o666)
    home.chmod(0o755)
    async with open_storage(Settings(server_home=home)) as storage:
        assert [user.name for user in await storage.users.list_page()] == ["ada"]
        assert modes(home) == {}


async def test_rows_elsewhere_are_tightened_too(tmp_path: Path) -> None:
    rows = tmp_path / "mine.db"
    url = f"sqlite+aiosqlite:///{rows}"
    async with open_storage(Settings(server_home=tmp_path / "home", database_url=url)):  # pyright: ignore[reportArgumentType]
        assert stat.S_IMODE(rows.stat().st_mode) == 0o600


async def test_a_store(tmp_path: Path) -> None:
    store = tmp_path / "store"
    async with open_container(Settings(), store, create=True) as container:
        await container.recordings()
        await container.flows()
    assert (store / "graph.db").exists()
    assert modes(store) == {}
    for path in store.iterdir():
        path.chmod(0o755 if path.is_dir() else 0o664)
    store.chmod(0o775)
    async with open_container(Settings(), store):
        assert modes(store) == {}


def test_what_cannot_be_changed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refused(self: Path, mode: int) -> None:
        raise PermissionError(1, "Operation not permitted")

    tmp_path.chmod(0o755)
    monkeypatch.setattr(Path, "chmod", refused)
    keep_private(tmp_path)
    assert f"others may read {tmp_path}" in caplog.text
    assert "chmod 700" in caplog.text


def test_one_that_is_in_use_keeps_its_locks(tmp_path: Path) -> None:
    path, left = tmp_path / "rows.db", tmp_path / "left.db"
    make_database_private(path)
    with closing(sqlite3.connect(path, isolation_level=None)) as ours:
        ours.execute("PRAGMA journal_mode=WAL")
        ours.execute("CREATE TABLE said (text)")
        make_database_private(path)
        another = (
            f"import sqlite3; c = sqlite3.connect({str(path)!r}); c.execute('SELECT * FROM said').fetchall(); c.close()"
        )
        subprocess.run([sys.executable, "-c", another], check=True)
        ours.execute("INSERT INTO said VALUES ('kept')")
        for end in ("", "-wal"):  # what lies in the files is all that there is after a hard stop
            shutil.copyfile(f"{path}{end}", f"{left}{end}")
        with closing(sqlite3.connect(left)) as found:
            assert found.execute("SELECT text FROM said").fetchall() == [("kept",)]
