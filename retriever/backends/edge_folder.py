"""Folder of an embedded shard: which process owns it, and which encoder made its vectors."""

import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import orjson

from domain.errors import FootpathError, StoreBusyError, StoreVersionError, UnavailableError

RESERVED_BYTES = 160 << 20
"""Free bytes that must remain after a write; the engine grows its log and segments by chunks of 32 MiB."""


class EdgeFolder:
    """Folder with ``lock`` (held while open), ``identity.json`` and ``shard/``.

    ``former`` is the folder to which an earlier version of Footpath moved the old index at a switch.
    """

    def __init__(self, root: Path, reindexing: str = "python scripts/reindex.py") -> None:
        """Use ``root``; ``reindexing`` is the command that an error about another encoder names."""
        self.root = root
        self._reindexing = reindexing
        self.former = root.with_name(f"{root.name}.former")
        self.shard = root / "shard"
        self._identity_file = root / "identity.json"
        self._lock_file: IO[str] | None = None

    def acquire(self) -> None:
        """Own the folder until :meth:`release`; the lock ends with the process, however it ends."""
        try:
            if not self.root.exists() and self.former.exists():
                self.former.rename(self.root)  # a switch was interrupted between its two steps
            self.root.mkdir(parents=True, exist_ok=True)
            lock_file = (self.root / "lock").open("a+")
        except OSError as error:
            raise UnavailableError(f"cannot open the vector index in {self.root}: {error.strerror}") from error
        try:
            fcntl.flock(lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            lock_file.seek(0)
            owner = lock_file.read(20).strip() or "unknown"
            lock_file.close()
            raise StoreBusyError(
                f"the vector index in {self.root} is in use by another process (number {owner}). An embedded index has "
                "one owner: wait for it or stop it, or let several processes share a Qdrant server"
            ) from error
        lock_file.truncate(0)  # only after the lock is ours: before, it names the owner
        lock_file.write(str(os.getpid()))
        lock_file.flush()
        self._lock_file = lock_file

    def release(self) -> None:
        """Release the lock; idempotent."""
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None

    def check_space(self, required_bytes: int) -> None:
        """Raise ``UnavailableError`` unless ``required_bytes`` bytes and a reserve fit on the disk.

        The engine writes through memory maps: on a full disk the kernel kills the process without an error.
        """
        free = shutil.disk_usage(self.root).free
        if free < required_bytes + RESERVED_BYTES:
            raise UnavailableError(
                f"the disk of {self.root} is full: {free >> 20} MiB free, {(required_bytes + RESERVED_BYTES) >> 20} MiB needed. "
                "What was written is kept: free some space and run the same command again"
            )

    @contextmanager
    def translate_errors(self, action: str) -> Generator[None]:
        """Turn the engine's errors into ``UnavailableError``, whose message begins with ``cannot {action}``.

        The engine raises bare exceptions, and panics on damaged files; a panic is a ``BaseException``.
        """
        try:
            yield
        except (FootpathError, KeyboardInterrupt, SystemExit, MemoryError):
            raise
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
                raise
            raise UnavailableError(
                f"cannot {action} in {self.root}: {error}. If the disk is full, free some space and run again; "
                "if files are damaged, delete that folder and index the tools again (nothing else is lost)"
            ) from error

    def write_identity(self, identity: str, dimension: int) -> None:
        """Write the identity of the encoder that a new shard is for."""
        part = self._identity_file.with_suffix(".part")
        part.write_bytes(orjson.dumps({"identity": identity, "dimension": dimension}))
        part.replace(self._identity_file)

    def check_identity(self, identity: str, dimension: int) -> None:
        """Raise ``StoreVersionError`` if the shard was made by another encoder."""
        stored = self._read_identity()
        if stored != (identity, dimension):
            raise StoreVersionError(
                f"the vectors in {self.root} were made by {stored[0]} ({stored[1]} dimensions), the encoder in use is "
                f"{identity} ({dimension}). Index the tools with it beside the others: {self._reindexing}; or use the "
                "former encoder; or delete that folder and index the tools again"
            )

    def find_identity(self) -> tuple[str, int] | None:
        """Return identity and dimension of the encoder that made the shard; None without a shard."""
        return self._read_identity() if self.shard.exists() else None

    def remove_vectors_of_other_encoder(self, identity: str, dimension: int) -> None:
        """Delete the shard if another encoder made it.

        Raises:
            StoreBusyError: another process has it open.
        """
        if not self.shard.exists():
            return
        self.acquire()
        try:
            if self._read_identity() != (identity, dimension):
                shutil.rmtree(self.shard)
        except OSError as error:
            raise UnavailableError(
                f"cannot remove {self.shard} ({error.strerror}); remove it, and run it again"
            ) from error
        finally:
            self.release()

    def delete(self) -> bool:
        """Delete the folder, and return whether it existed.

        Raises:
            StoreBusyError: another process has it open.
        """
        if not self.root.exists():
            return False
        self.acquire()
        try:
            shutil.rmtree(self.root)
        except OSError as error:
            raise UnavailableError(
                f"cannot delete {self.root} ({error.strerror}); delete it, and do this again"
            ) from error
        finally:
            self.release()
        return True

    def _read_identity(self) -> tuple[str, int]:
        try:
            stored = orjson.loads(self._identity_file.read_bytes())
            return stored["identity"], stored["dimension"]
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnavailableError(
                f"{self._identity_file} cannot be read ({error}); delete {self.root} and index the tools again"
            ) from error

    def prepare_partial_shard(self) -> Path:
        """Remove what an interrupted creation has left, and return the path at which to create a shard."""
        part = self.root / "shard.part"
        shutil.rmtree(part, ignore_errors=True)
        return part
