"""A restore that waits for the next start: carried out step by step, gone on with wherever it stopped, and called off where it is not whole."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from server.backup import pending
from server.backup.pending import Pending

AT = datetime(2026, 11, 28, tzinfo=UTC)


def prepared(folder: Path) -> tuple[Path, Path]:
    """A home and a store with something in them, and what is to take its place."""
    home, store = folder / "home", folder / "store"
    new_home, new_store = pending.restored_home(home, "1"), pending.restored_store(store, "1")
    for place, what in ((store, "old"), (new_store, "new")):
        place.mkdir(parents=True)
        for name in ("footpath.json", "graph.db"):
            (place / name).write_text(what)
    for place, what in ((home, "old"), (new_home, "new")):
        place.mkdir(parents=True)
        (place / "rows.db").write_text(what)
    (home / "vault.keys").write_text("keys")
    waits = Pending(id="1", backup="b", backup_at=AT, by="boss", at=AT, store=store, tools=1, ended=0)
    pending.put(home, waits)
    return home, store


@pytest.mark.parametrize("stops_after", range(8))
def test_stopped_anywhere_the_next_start_goes_on(
    stops_after: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home, store = prepared(tmp_path)
    rename, left = Path.rename, stops_after

    def renamed(self: Path, target: Path) -> Path:
        nonlocal left
        if left == 0:
            raise KeyboardInterrupt
        left -= 1
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", renamed)
        try:
            pending.take_place(home)
        except KeyboardInterrupt:
            assert stops_after < 6, "six files are renamed"
    done = pending.take_place(home)
    assert done is not None
    assert done.step == "told"
    assert [(store / name).read_text() for name in ("footpath.json", "graph.db")] == ["new", "new"]
    assert ((home / "rows.db").read_text(), (home / "vault.keys").read_text()) == ("new", "keys")
    assert [one.name for one in pending.set_aside(home, store)] == ["before-1", "before-1"]
    assert (store / "before-1" / "graph.db").read_text() == (home / "before-1" / "rows.db").read_text() == "old"


@pytest.mark.parametrize("gone", ["store/restored-1/graph.db", "home/restored-1/rows.db"])
def test_what_is_not_whole_takes_nobodys_place(gone: str, tmp_path: Path) -> None:
    home, store = prepared(tmp_path)
    (tmp_path / gone).unlink()
    assert pending.take_place(home) is None
    assert (pending.read(home), pending.set_aside(home, store)) == (None, [])
    assert (store / "graph.db").read_text() == (home / "rows.db").read_text() == "old"
