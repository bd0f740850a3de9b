"""A backup of a few bytes that names gigabytes is refused before any is written."""

import io
import tarfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from domain.errors import BrokenInputError
from server.backup.manifest import NAME, STORE, Held, Manifest
from server.data.archives import unpack

SIZE = 3_000_000_000


def manifest(size: int) -> bytes:
    made = Manifest(
        at=datetime(2026, 1, 1, tzinfo=UTC),
        rows="sqlite",
        tables="1",
        vault={},
        files={STORE: Held(bytes=size, digest="")},
    )
    return made.model_dump_json().encode()


def archive(folder: Path, size: int, *, padding: int = 0, pax: bool = True) -> Path:
    """A tar whose second member has one byte and a hole of ``size``; ``padding``: bytes after its end, so that it is as long as it says."""
    file = folder / "backup.tar"
    with tarfile.open(file, "w", format=tarfile.PAX_FORMAT) as tar:
        first = tarfile.TarInfo(NAME)
        first.size = len(manifest(size))
        tar.addfile(first, io.BytesIO(manifest(size)))
        sparse = tarfile.TarInfo(STORE)
        if pax:
            sparse.pax_headers = {
                "GNU.sparse.size": str(size),
                "GNU.sparse.numblocks": "1",
                "GNU.sparse.map": f"{size - 1},1",
            }
        sparse.size = 1
        tar.addfile(sparse, io.BytesIO(b"x"))
    with file.open("ab") as end:
        end.write(bytes(padding))
    return file


@pytest.mark.parametrize(
    ("size", "padding", "why"),
    [(SIZE, 0, "more bytes than it has"), (1_000_000, 1_000_000, "other files than its manifest")],
)
def test_a_sparse_member_is_refused_before_its_holes_are_written(
    tmp_path: Path, size: int, padding: int, why: str
) -> None:
    with pytest.raises(BrokenInputError, match=why):
        unpack(archive(tmp_path, size, padding=padding), tmp_path / "out")
    assert sum(one.stat().st_size for one in (tmp_path / "out").iterdir()) < 10_000


def test_a_plain_member_is_unpacked(tmp_path: Path) -> None:
    assert unpack(archive(tmp_path, 1, pax=False), tmp_path / "out").files[STORE].bytes == 1
