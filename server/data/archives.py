"""A backup as one file, and back: a plain tar of its files, the manifest first. It is written while it is sent, and read without trust."""

import tarfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import ValidationError

from domain.errors import BrokenInputError, UnavailableError
from server.backup import manifest as described
from server.backup.manifest import Manifest

_BLOCK = 512
_PIECE = 1 << 18
_MANIFEST = 1 << 20
_END = bytes(2 * _BLOCK)


def size_of(folder: Path, names: Sequence[str]) -> int:
    """Bytes of the archive."""
    return sum(_BLOCK + _padded((folder / name).stat().st_size) for name in names) + len(_END)


def written(folder: Path, names: Sequence[str]) -> Iterator[bytes]:
    """In pieces."""
    for name in names:
        file = folder / name
        head = tarfile.TarInfo(name)
        head.size, head.mtime, head.mode = file.stat().st_size, int(file.stat().st_mtime), 0o600
        yield head.tobuf(tarfile.GNU_FORMAT)
        left = head.size
        with file.open("rb") as opened:
            while left and (piece := opened.read(min(_PIECE, left))):
                left -= len(piece)
                yield piece
        yield bytes(left + _padded(head.size) - head.size)
    yield _END


def unpack(archive: Path, folder: Path) -> Manifest:
    """Its files into a new folder: those of the manifest alone, each as long as that says; their digests are looked at by who reads the folder.

    Raises:
        BrokenInputError: it is no backup that was downloaded from a server. UnavailableError: it cannot be written.
    """
    try:
        folder.mkdir(mode=0o700, parents=True)
        with tarfile.open(archive, "r:") as tar:
            said = _manifest(tar)
            if sum(one.bytes for one in said.files.values()) > archive.stat().st_size:
                raise _broken("its manifest names more bytes than it has")
            (folder / described.NAME).write_text(said.model_dump_json(indent=2) + "\n", encoding="utf-8")
            wanted = dict(said.files)
            while wanted and (head := tar.next()) is not None:
                held = wanted.pop(head.name, None)
                if held is None or not _is_plain(head) or head.size != held.bytes or Path(head.name).name != head.name:
                    raise _broken("it holds other files than its manifest names")
                _copy(tar, head, folder / head.name)
    except tarfile.TarError as error:
        raise _broken("it is no tar file, or it was cut off") from error
    except OSError as error:
        raise UnavailableError(f"cannot write {folder}: {error.strerror}") from error
    if wanted:
        raise _broken(f"these files are missing: {', '.join(sorted(wanted))}")
    return said


def _manifest(tar: tarfile.TarFile) -> Manifest:
    head = tar.next()
    if head is None or head.name != described.NAME or not _is_plain(head) or head.size > _MANIFEST:
        raise _broken("it does not begin with a manifest")
    held = tar.extractfile(head)
    try:
        said = Manifest.model_validate_json(held.read() if held is not None else b"")
    except ValidationError as error:
        raise _broken("its manifest is none that this version of Footpath reads") from error
    if not said.files.keys() <= {*described.ROWS.values(), described.STORE, described.FIELDS}:
        raise _broken("it holds files that no backup has")
    return said


def _is_plain(head: tarfile.TarInfo) -> bool:
    """Whether a member is a file with all its bytes in the archive; a sparse one has holes of any size in a few bytes, and ``isreg`` takes it."""
    return head.isreg() and not head.issparse()


def _copy(tar: tarfile.TarFile, head: tarfile.TarInfo, to: Path) -> None:
    held = tar.extractfile(head)
    with to.open("xb") as file:
        while held is not None and (piece := held.read(_PIECE)):
            file.write(piece)


def _padded(size: int) -> int:
    return -(-size // _BLOCK) * _BLOCK


def _broken(why: str) -> BrokenInputError:
    return BrokenInputError(f"this is no backup that was downloaded from a server: {why}", file="the upload")
